// The contraction of the note on as many processes as are started, from the statement to the result: the way
// is chosen, tensors are moved, multiplied and summed. Beside it, what each phase of it took at best.
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

DenseTensor<double> some_tensor(const ProcessGrid& grid, const std::vector<Index>& extents) {
  DenseTensor<double> x(grid, extents, canonical_distribution(4, grid.shape().order()));
  fill(x, [](std::span<const Index> at) {
    return double((at[0] * 7 + at[1] * 5 + at[2] * 3 + at[3]) % 11) - 5;
  });
  return x;
}

// The least time of several, all processes beginning together; of the slowest.
template <class Fn>
double best_of(int repetitions, const Comm& comm, Fn fn) {
  double best = std::numeric_limits<double>::infinity();
  for (int r = 0; r < repetitions; ++r) {
    comm.barrier();
    const Stopwatch watch;
    fn();
    best = std::min(best, comm.all_reduce(watch.seconds(), Reduce::max));
  }
  return best;
}

void measure(const Comm& comm, const Shape& s, int repetitions) {
  const auto expression = parse_contraction("C[abji] += A[acik] * B[bcjk]");
  const auto chosen =
      choose_contraction(expression, {s.a, s.c, s.i, s.k}, {s.b, s.c, s.j, s.k}, comm.size(), {});
  const ProcessGrid grid(comm, chosen.problem.grid);
  auto a = some_tensor(grid, {s.a, s.c, s.i, s.k}), b = some_tensor(grid, {s.b, s.c, s.j, s.k}),
       c = some_tensor(grid, {s.a, s.b, s.j, s.i});
  DenseTally tally;

  const double statement =
      best_of(repetitions, comm, [&] { indexed(c, "abji") += indexed(a, "acik") * indexed(b, "bcjk"); });
  const double planned = best_of(repetitions, comm, [&] { contract(c, a, b, chosen, tally); });
  const double moving_a = best_of(repetitions, comm, [&] { redistribute(a, chosen.plan.a.prep, tally); });
  const double moving_b = best_of(repetitions, comm, [&] { redistribute(b, chosen.plan.b.prep, tally); });
  if (comm.rank() != 0) return;
  fmt::print(
      "{:<11} {} processes, grid {}, stationary {}: {:.1f} GFLOP/s ({:.1f} without choosing the way); "
      "{:.2f} ms, of which {:.2f} moving A and {:.2f} moving B\n",
      s.name, comm.size(), to_string(grid.shape()), to_string(chosen.plan.stationary),
      1e-9 * s.flops() / statement, 1e-9 * s.flops() / planned, 1e3 * statement, 1e3 * moving_a,
      1e3 * moving_b);
}

}  // namespace
}  // namespace polyad

int main(int argc, char** argv) {
  const polyad::Runtime runtime(argc, argv);
  const int repetitions = argc > 1 ? std::max(1, std::atoi(argv[1])) : 15;
  for (const auto& shape : polyad::shapes) polyad::measure(polyad::Comm::world(), shape, repetitions);
}
