// Alternating least squares on generated ratings: the rate of multiply-adds in the systems of the rows,
// beside the rate of this machine, which a loop in registers measures in the same process.
//
//   polyad_row_systems_rate [--ratings N] [--users N] [--items N] [--rank R] [--sweeps N]
//                           [--threads N] [--explicit] [--double] [--cg STEPS]
//
// Only multiply-adds that the problem needs are counted: per rating and side R (R + 1) / 2 for the matrix and
// R for the right-hand side; per row R^3 / 6 for the factorisation and R^2 for the two triangular systems.
// Rows with few cells are solved by smaller systems, and take less than is counted.
// With biases (--explicit) there is one unknown more. With --cg the same are counted, so that the rate says
// how many times faster than the systems that it replaces conjugate gradients are.

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "polyad/base/array.hpp"
#include "polyad/base/parallel.hpp"
#include "polyad/base/random.hpp"
#include "polyad/base/timings.hpp"
#include "polyad/kernels/block.hpp"
#include "polyad/kernels/cp/factor.hpp"
#include "polyad/kernels/cp/normal_equations.hpp"
#include "polyad/kernels/cp/row_systems.hpp"
#include "polyad/kernels/cp/row_update.hpp"
#include "polyad/tensor/generate/generate.hpp"

namespace polyad {
namespace {

struct Arguments {
  Index num_ratings = 1000000, num_users = 0, num_items = 0, rank = 64;
  int sweeps = 3, threads = num_threads(), cg_steps = 0;
  bool is_explicit = false, is_double = false;

  bool read(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
      const std::string_view name = argv[i];
      if (name == "--explicit" || name == "--double") {
        (name == "--double" ? is_double : is_explicit) = true;
        continue;
      }
      if (i + 1 == argc) return false;
      const Index value = std::atoll(argv[++i]);
      if (value <= 0) return false;
      if (name == "--ratings")
        num_ratings = value;
      else if (name == "--users")
        num_users = value;
      else if (name == "--items")
        num_items = value;
      else if (name == "--rank")
        rank = value;
      else if (name == "--sweeps")
        sweeps = int(value);
      else if (name == "--threads")
        threads = int(value);
      else if (name == "--cg")
        cg_steps = int(value);
      else
        return false;
    }
    // As of the data set MovieLens 10M.
    if (num_users == 0) num_users = std::max<Index>(num_ratings / 143, 10);
    if (num_items == 0) num_items = std::max<Index>(num_ratings / 936, 10);
    return true;
  }
};

// Multiply-adds of independent sums in registers: per second, of all threads together, and per CPU second.
struct Rates {
  double wall = 0, cpu = 0;  // another load on the machine does not count in the latter
};
template <class Real>
Rates rate_of_registers() {
  // At least latency times number of units; more than 12 do not fit into 16 registers.
#if defined(__AVX512F__) || defined(__aarch64__)
  constexpr int num_sums = 24;
#else
  constexpr int num_sums = 12;
#endif
  constexpr int width = num_sums * kernels::vector_lanes<Real>;
  constexpr Index num_rounds = 20000000;  // long enough for the system to give each thread a core
  Rates best;
  const Random random(1, 0);
  Array<Real> start(std::size_t(width), Real{});
  for (std::size_t i = 0; i < start.size(); ++i) start[i] = Real(random.uniform(i));
  std::vector<Real> results(std::size_t(num_threads()), Real{});
  volatile Real zero = 0;
  for (int repetition = 0; repetition < 9; ++repetition) {
    const auto cpu = std::clock();
    const Stopwatch watch;
    parallel_parts(num_threads(), [&](Index, Index, int thread) {
      auto sums = kernels::Block<Real, width>::load(start.data());
      const Real x = zero;
      for (Index round = 0; round < num_rounds; ++round) sums.add_scaled(x, sums);
      results[std::size_t(thread)] = sums.sum();
    });
    const double count = double(num_threads()) * double(num_rounds) * width;
    best.wall = std::max(best.wall, count / watch.seconds());
    best.cpu = std::max(best.cpu, count * CLOCKS_PER_SEC / double(std::clock() - cpu));
  }
  if (results[0] == Real(-1)) fmt::print("\n");  // they are used
  return best;
}

template <class Real>
class Problem {
 public:
  explicit Problem(const Arguments& arguments) : arguments_(arguments) {
    RatingsOptions options;
    options.num_users = arguments.num_users;
    options.num_items = arguments.num_items;
    options.num_ratings = arguments.num_ratings;
    const auto ratings = generate_ratings(options).train;
    num_ratings_ = ratings.num_nonzeros();
    SparseTensor<Real, LocalIndex> cells(ratings.extents());
    cells.resize(num_ratings_);
    for (int m = 0; m < 2; ++m) std::ranges::copy(ratings.indices(m), cells.indices(m).begin());
    for (Index z = 0; z < num_ratings_; ++z)
      cells.values()[z] = Real(ratings.values()[z] - (arguments.is_explicit ? options.mean : 0));
    const Index columns = arguments.rank + (arguments.is_explicit ? 2 : 0);
    for (int m = 0; m < 2; ++m) {
      trees_.emplace_back(cells, m == 0 ? std::vector<int>{0, 1} : std::vector<int>{1, 0});
      auto& factor = factors_.emplace_back(ratings.extents()[m], columns);
      std::vector<Index> rows(std::size_t(factor.num_rows()), 0);
      std::iota(rows.begin(), rows.end(), 0);
      kernels::fill_with_start(factor, arguments.rank, {1, false}, m, rows);
      for (Index i = 0; i < factor.num_rows(); ++i)
        for (Index c = arguments.rank; c < columns; ++c) factor(i, c) = c - arguments.rank == m ? 0 : 1;
      for (Real& entry : factor.flat()) entry *= Real(0.3);
      ridges_.emplace_back(rows.size(), Real(0));
      bias_ridges_.emplace_back(rows.size(), Real(2));
      const auto counts = kernels::count_cells<Real>({.tree = &trees_[m]}, factor.num_rows());
      for (std::size_t i = 0; i < counts.size(); ++i) ridges_[m][i] = Real(0.05 * double(counts[i]) + 2);
    }
  }

  Index num_ratings() const { return num_ratings_; }
  // Seconds of a sweep, which solves for items, then for users.
  struct Times {
    double wall = 0, cpu = 0;  // of all threads together; another load on the machine does not count there
  };
  Times sweep(kernels::RowSeconds* seconds) {
    Times sum;
    for (const int mode : {1, 0}) {
      const auto gram = kernels::gram(factors_[1 - mode], factors_[1 - mode].num_rows());
      const kernels::RowSystems<Real> systems{
          .tree = &trees_[mode],
          .loss = arguments_.is_explicit ? kernels::CellLoss{}
                                         : kernels::CellLoss{kernels::CellLoss::Kind::confidence, 1, 1},
          .num_factors = arguments_.rank,
          .ridge = ridges_[mode],
          .bias_ridge = bias_ridges_[mode],
          .gram = &gram,
          .cg_steps = arguments_.cg_steps,
          .seconds = seconds};
      const auto cpu = std::clock();
      const Stopwatch watch;
      kernels::solve_rows<Real>(systems, factors_);
      sum.wall += watch.seconds();
      sum.cpu += double(std::clock() - cpu) / CLOCKS_PER_SEC;
    }
    return sum;
  }
  double multiply_adds_of_sweep() const {
    const auto r = double(arguments_.rank + (arguments_.is_explicit ? 1 : 0));
    double sum = 0;
    for (const auto& tree : trees_)
      sum +=
          double(num_ratings_) * (r * (r + 1) / 2 + r) + double(tree.num_nodes(0)) * (r * r * r / 6 + r * r);
    return sum;
  }

 private:
  const Arguments& arguments_;
  Index num_ratings_ = 0;
  std::vector<CsfTree<Real>> trees_;
  std::vector<Matrix<Real>> factors_;
  std::vector<Array<Real>> ridges_, bias_ridges_;
};

template <class Real>
void measure(const Arguments& arguments) {
  omp_set_num_threads(1);
  const Rates of_one = rate_of_registers<Real>();
  omp_set_num_threads(arguments.threads);
  const Rates of_all = arguments.threads == 1 ? of_one : rate_of_registers<Real>();
  fmt::print("in registers: {:.1f} G multiply-adds/s of one thread, {:.1f} of {}; {:.1f} per CPU second\n",
             of_one.wall * 1e-9, of_all.wall * 1e-9, arguments.threads, of_one.cpu * 1e-9);
  Problem<Real> problem(arguments);
  fmt::print("{} ratings, {} users, {} items, {} factors, {}, {}\n", problem.num_ratings(),
             arguments.num_users, arguments.num_items, arguments.rank,
             arguments.is_explicit ? "explicit with biases" : "implicit",
             sizeof(Real) == sizeof(double) ? "double" : "single");
  problem.sweep(nullptr);  // the random start is gone then
  double wall = std::numeric_limits<double>::infinity(), cpu = wall;
  for (int i = 0; i < arguments.sweeps; ++i) {
    const auto times = problem.sweep(nullptr);
    wall = std::min(wall, times.wall);
    cpu = std::min(cpu, times.cpu);
  }
  const double count = problem.multiply_adds_of_sweep();
  fmt::print("a sweep: {:.3f} s, {:.1f} G multiply-adds/s, {:.1f} % of the rate in registers\n", wall,
             count / wall * 1e-9, 100 * count / wall / of_all.wall);
  fmt::print("  in {:.3f} CPU seconds: {:.1f} G multiply-adds each, {:.1f} % of the rate in registers\n", cpu,
             count / cpu * 1e-9, 100 * count / cpu / of_one.cpu);
  kernels::RowSeconds parts;
  problem.sweep(&parts);
  fmt::print(
      "  seconds of threads: {:.3f} gathering, {:.3f} outer products, {:.3f} factorising, {:.3f} other\n",
      parts.gather, parts.products, parts.factorise, parts.other);
}

}  // namespace
}  // namespace polyad

int main(int argc, char** argv) {
  polyad::Arguments arguments;
  if (!arguments.read(argc, argv)) {
    fmt::print(stderr, "see the head of bench/row_systems_rate.cpp for its arguments\n");
    return 2;
  }
  if (arguments.is_double)
    polyad::measure<double>(arguments);
  else
    polyad::measure<float>(arguments);
}
