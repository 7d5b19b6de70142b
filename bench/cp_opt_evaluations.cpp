// An evaluation of value and gradient of CP-OPT: the planned passes, which serve several modes each, against
// a pass per mode, in turn.
//
//   polyad_cp_opt_evaluations TENSOR [COMPONENTS [ROUNDS]]
//   tools/mpirun 4 build/bin/polyad_cp_opt_evaluations TENSOR [COMPONENTS [ROUNDS]]
//
// A pass per mode is measured with one tree, with two and with one for each mode, and the fastest counts.
// Prints the median over the rounds (default: 15) of the seconds of an evaluation, by the slowest process. On
// several processes the nonzeros are distributed in fine grain by blocks. Every process reads the file.

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "polyad/algo/cp/cp_objective.hpp"
#include "polyad/algo/cp/prepare_tensor.hpp"
#include "polyad/base/error.hpp"
#include "polyad/base/timings.hpp"
#include "polyad/comm/runtime.hpp"
#include "polyad/tasks/load.hpp"

namespace polyad {
namespace {

// One way to evaluate.
class Contender {
 public:
  Contender(const Comm& comm, const SparseTensor<double>& share, Index num_components,
            const std::string& format, bool is_planned)
      : format_(format), x_(prepared(comm, share, num_components, format)) {
    if (!is_planned) x_.chosen.plan = plain_plan(x_.chosen.plan.mode_order, x_.chosen.plan.trees);
    objective_ = std::make_unique<CpObjective<double>>(x_.tensor, x_.chosen.plan, num_components);
    objective_->start({.seed = 1});
    value_ = objective_->evaluate(objective_->gradient()).value;
  }

  void measure() {
    const Comm& comm = x_.tensor.comm();
    comm.barrier();
    const Stopwatch watch;
    value_ = objective_->evaluate(objective_->gradient()).value;
    seconds_.push_back(comm.all_reduce(watch.seconds(), Reduce::max));
  }
  double median() const {
    auto sorted = seconds_;
    std::ranges::sort(sorted);
    return sorted[sorted.size() / 2];
  }
  double value() const { return value_; }
  std::string name() const {
    return fmt::format("{} ({}): {}", format_, x_.chosen.name, describe(x_.chosen.plan));
  }
  // Of all evaluations, the first included.
  std::string phases() const {
    std::string text;
    for (const auto& [phase, seconds] : objective_->timings().phases())
      text += fmt::format(" {} {:.4f}", phase, seconds / double(seconds_.size() + 1));
    return text;
  }

 private:
  static PreparedTensor<double> prepared(const Comm& comm, const SparseTensor<double>& share,
                                         Index num_components, const std::string& format) {
    CpRunOptions options;
    options.method = Method::opt;
    options.als.num_components = num_components;
    options.format = format;
    Progress silent;
    if (comm.size() == 1) return prepare<double>(comm, share, options, silent);
    return prepare<double>(comm, share, options, silent,
                           Distributor(comm, share, comm.size(), 1).fine_block());
  }

  std::string format_;
  PreparedTensor<double> x_;
  std::unique_ptr<CpObjective<double>> objective_;
  std::vector<double> seconds_;
  double value_ = 0;
};

void compare(const Comm& comm, const char* path, Index num_components, int rounds) {
  const auto share = load(Context(comm), path).tensor;
  const Index num_nonzeros = comm.all_reduce(share.num_nonzeros(), Reduce::sum);
  std::vector<std::unique_ptr<Contender>> all;
  for (const std::string format : {"csf-one", "csf-two", "csf-all"})
    all.push_back(std::make_unique<Contender>(comm, share, num_components, format, false));
  all.push_back(std::make_unique<Contender>(comm, share, num_components, "auto", true));
  for (int round = 0; round < rounds; ++round)
    for (auto& contender : all) contender->measure();
  if (comm.rank() != 0) return;
  const double former = (*std::ranges::min_element(all, {}, [&](const auto& contender) {
                          return contender == all.back() ? 1e300 : contender->median();
                        }))->median();
  fmt::print("{}: order {}, {} nonzeros, {} components, {} processes\n", path, share.order(), num_nonzeros,
             num_components, comm.size());
  for (const auto& contender : all)
    fmt::print("  {:.4f} s  {}\n           {}\n", contender->median(), contender->name(),
               contender->phases());
  fmt::print("  a pass per mode {:.4f} s, planned {:.4f} s: {:.2f} times as fast; values differ by {:.1e}\n",
             former, all.back()->median(), former / all.back()->median(),
             std::abs(all.front()->value() - all.back()->value()));
}

}  // namespace
}  // namespace polyad

int main(int argc, char** argv) {
  const polyad::Runtime runtime(argc, argv);
  if (argc < 2 || argc > 4) {
    std::fputs("usage: polyad_cp_opt_evaluations TENSOR [COMPONENTS [ROUNDS]]\n", stderr);
    return 1;
  }
  try {
    polyad::compare(polyad::Comm::world(), argv[1], argc > 2 ? std::atoll(argv[2]) : 16,
                    argc > 3 ? std::atoi(argv[3]) : 15);
    return 0;
  } catch (const polyad::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
}
