// Predicted cost of medium-grain distributions of a tensor, for any number of processes:
//
//   polyad_grid_plans TENSOR COMPONENTS PROCESSES...
//
// For each number of processes: SPLATT's grid with the policy nnz, which is the baseline; the candidate grids
// of Miao et al. 2023 (docs/algorithms.md) and, up to 16 processes, all grids; every policy on the best grid.
// Prints the three imbalance ratios, the words sent by all processes, and the predicted time by the built-in
// constants.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "polyad/base/error.hpp"
#include "polyad/base/timings.hpp"
#include "polyad/distributed/cp/grid_choice.hpp"
#include "polyad/io/tensors/read_tensor.hpp"
#include "polyad/plan/choose_distribution.hpp"

namespace {

using namespace polyad;

struct Row {
  Distribution distribution;
  Imbalance imbalance;
  Index words = 0;
  double seconds = 0;
};

class Planner {
 public:
  Planner(const SparseTensor<double>& x, Index num_components, int num_parts, const LoadPlanner& loads)
      : num_components_(num_components), loads_(loads), distributor_(Comm::self(), x, num_parts, 1) {}

  Row plan(const GridShape& grid, const LayerPolicy& policy) const {
    Row row{distributor_.medium(grid, policy), {}};
    const auto loads = loads_.loads(row.distribution);
    row.imbalance = imbalance_of(loads);
    for (const auto& mode : loads)
      for (const auto& part : mode) row.words += part.sent * num_components_;
    row.seconds = predict_time(loads, num_components_, {}).seconds();
    return row;
  }
  const Distributor& distributor() const { return distributor_; }

 private:
  Index num_components_;
  const LoadPlanner& loads_;
  Distributor distributor_;
};

void print(const Row& row, const Row& baseline) {
  fmt::print("{:<28} {:>6.3f} {:>6.3f} {:>6.3f} {:>14} {:>10.2f} {:>6.2f}\n", describe(row.distribution),
             row.imbalance.nnz, row.imbalance.volume, row.imbalance.rows, row.words, 1e3 * row.seconds,
             baseline.seconds / row.seconds);
}

void compare(const SparseTensor<double>& x, Index num_components, int num_parts, const LoadPlanner& loads) {
  constexpr int parts_for_all_grids = 16;
  const Planner planner(x, num_components, num_parts, loads);
  const auto rows = planner.distributor().rows();
  const auto baseline = planner.plan(splatt_grid(rows, num_parts), {LayerPolicy::Kind::nnz});
  fmt::print("\n{} processes\n{:<28} {:>6} {:>6} {:>6} {:>14} {:>10} {:>6}\n", num_parts, "", "r_nnz",
             "r_vol", "r_Ip", "words", "ms", "gain");
  print(baseline, baseline);
  const auto predicted = predicted_grid(planner.distributor().profiles(), num_parts);
  fmt::print("the rule of Miao et al. chooses {}\n", to_string(predicted));

  std::vector<Row> by_grid;
  for (const auto& grid :
       num_parts <= parts_for_all_grids ? all_grids(x.order(), num_parts) : candidate_grids(rows, num_parts))
    by_grid.push_back(planner.plan(grid, {LayerPolicy::Kind::nnz}));
  std::ranges::stable_sort(by_grid, {}, &Row::seconds);
  for (const auto& row : by_grid) print(row, baseline);
  for (const auto& grid : {*by_grid.front().distribution.grid, predicted})
    for (const auto& policy : all_policies())
      if (policy.kind != LayerPolicy::Kind::nnz) print(planner.plan(grid, policy), baseline);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    fmt::print(stderr, "usage: {} TENSOR COMPONENTS PROCESSES...\n", argv[0]);
    return 2;
  }
  try {
    const auto x = io::read_tensor(argv[1]).tensor;
    const LoadPlanner loads(Comm::self(), x);
    for (int a = 3; a < argc; ++a) {
      const Stopwatch watch;
      compare(x, std::atoi(argv[2]), std::atoi(argv[a]), loads);
      fmt::print("planned in {:.1f} s\n", watch.seconds());
    }
  } catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
