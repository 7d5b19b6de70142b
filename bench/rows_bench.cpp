// Solving rows of a factor that lie in the nearest caches, and adding up their Gram matrix. The rate of
// contract/dgemm_1024, on as many threads, shows what is left to gain.

#include <benchmark/benchmark.h>

#include "polyad/base/random.hpp"
#include "polyad/kernels/cp/row_update.hpp"

namespace polyad {
namespace {

constexpr Index num_rows = 1000;

template <class Real>
Matrix<Real> random_matrix(Index rows, Index cols, std::uint64_t seed) {
  Matrix<Real> result(rows, cols);
  const Random random(seed, 0);
  for (std::size_t k = 0; k < result.flat().size(); ++k) result.flat()[k] = Real(random.normal(k));
  return result;
}

// A row times the inverse, and the upper half of its Gram matrix.
Index multiply_adds_of_row(Index n) {
  return n * n + n * (n + 1) / 2;
}

template <class Real>
void update(benchmark::State& state) {
  const Index n = state.range(0);
  const auto m = random_matrix<Real>(num_rows, n, 1);
  kernels::RowSystem system;
  system.inverse = random_matrix<double>(n, n, 2);
  Matrix<Real> factor(num_rows, n);
  for (auto _ : state)
    benchmark::DoNotOptimize(update_rows(m, system, factor, kernels::RowRange{0, num_rows, 0}).inner);
  state.counters["FLOP"] = benchmark::Counter(double(2 * num_rows * multiply_adds_of_row(n)),
                                              benchmark::Counter::kIsIterationInvariantRate);
  state.SetItemsProcessed(state.iterations() * num_rows);
}
BENCHMARK(update<double>)->Name("rows/update")->Arg(8)->Arg(16)->Arg(32)->Arg(64)->UseRealTime();
BENCHMARK(update<float>)->Name("rows/update_single")->Arg(8)->Arg(16)->Arg(32)->Arg(64)->UseRealTime();

}  // namespace
}  // namespace polyad
