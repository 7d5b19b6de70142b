// The contraction C[abji] += A[acik] * B[bcjk] on all processes, from the expression to the result: the
// algorithm is chosen, then tensors are redistributed, multiplied and reduced. Prints the mean and the best
// rate, and the time of each phase in the best run.
//   tools/mpirun 4 build/bin/polyad_contract_on_processes [REPETITIONS]

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "polyad/base/timings.hpp"
#include "polyad/comm/runtime.hpp"
#include "polyad/dense/contract_tensors.hpp"

namespace polyad {
namespace {

struct Shape {
  const char* name;
  Index a, b, c, i, j, k;

  double flops() const { return 2.0 * double(a * b * c) * double(i * j * k); }
};
constexpr Shape shapes[] = {{"all 32", 32, 32, 32, 32, 32, 32}, {"64, 32, 16", 64, 64, 32, 16, 16, 32}};

dense::DenseTensor<double> some_tensor(const ProcessGrid& grid, const std::vector<Index>& extents) {
  dense::DenseTensor<double> x(grid, extents, dense::canonical_distribution(4, grid.shape().order()));
  fill(x, [](std::span<const Index> at) {
    return double((at[0] * 7 + at[1] * 5 + at[2] * 3 + at[3]) % 11) - 5;
  });
  return x;
}

struct Times {
  double mean = 0, best = std::numeric_limits<double>::infinity();
};

// Of the slowest process, all beginning together.
template <class Fn>
Times times_of(int repetitions, const Comm& comm, Fn fn) {
  Times times;
  for (int r = 0; r < repetitions; ++r) {
    comm.barrier();
    const Stopwatch watch;
    fn();
    const double seconds = comm.all_reduce(watch.seconds(), Reduce::max);
    times.mean += seconds / repetitions;
    times.best = std::min(times.best, seconds);
  }
  return times;
}

void measure(const Comm& comm, const Shape& s, int repetitions) {
  const auto expression = dense::parse_contraction("C[abji] += A[acik] * B[bcjk]");
  const auto chosen =
      choose_contraction(expression, {s.a, s.c, s.i, s.k}, {s.b, s.c, s.j, s.k}, comm.size(), {});
  const ProcessGrid grid(comm, chosen.problem.grid);
  auto a = some_tensor(grid, {s.a, s.c, s.i, s.k}), b = some_tensor(grid, {s.b, s.c, s.j, s.k}),
       c = some_tensor(grid, {s.a, s.b, s.j, s.i});
  dense::DenseTally tally;

  const auto statement =
      times_of(repetitions, comm, [&] { indexed(c, "abji") += indexed(a, "acik") * indexed(b, "bcjk"); });
  const auto planned = times_of(repetitions, comm, [&] { contract(c, a, b, chosen, tally); });
  const auto moving_a = times_of(repetitions, comm, [&] { redistribute(a, chosen.plan.a.prep, tally); });
  const auto moving_b = times_of(repetitions, comm, [&] { redistribute(b, chosen.plan.b.prep, tally); });
  if (comm.rank() != 0) return;
  const double gigaflops = 1e-9 * s.flops();
  fmt::print(
      "{:<11} {} processes, grid {}, stationary {}: mean {:.2f}, best {:.2f} GFLOP/s ({:.2f} without "
      "choosing "
      "the way); {:.2f} ms, of which {:.2f} moving A and {:.2f} moving B\n",
      s.name, comm.size(), to_string(grid.shape()), to_string(chosen.plan.stationary),
      gigaflops / statement.mean, gigaflops / statement.best, gigaflops / planned.best, 1e3 * statement.best,
      1e3 * moving_a.best, 1e3 * moving_b.best);
}

}  // namespace
}  // namespace polyad

int main(int argc, char** argv) {
  const polyad::Runtime runtime(argc, argv);
  const int repetitions = argc > 1 ? std::max(1, std::atoi(argv[1])) : 15;
  for (const auto& shape : polyad::shapes) polyad::measure(polyad::Comm::world(), shape, repetitions);
}
