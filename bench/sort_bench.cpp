// Sorting nonzeros and counting slices.

#include <benchmark/benchmark.h>

#include "polyad/tensor/generate/generate.hpp"
#include "polyad/tensor/slice_counts.hpp"
#include "polyad/tensor/sort.hpp"

namespace polyad {
namespace {

const SparseTensor<double>& example() {
  static const auto x = generate_skewed(options_like("nell", 0.4));
  return x;
}

void sort_by_last_mode_first(benchmark::State& state) {
  for (auto _ : state) {
    state.PauseTiming();
    auto x = example();
    state.ResumeTiming();
    sort_nonzeros(x, std::vector<int>{2, 1, 0});
    benchmark::DoNotOptimize(x.values().data());
  }
  state.SetItemsProcessed(state.iterations() * example().num_nonzeros());
}
BENCHMARK(sort_by_last_mode_first)->UseRealTime()->Unit(benchmark::kMillisecond);

void count_all_slices(benchmark::State& state) {
  for (auto _ : state)
    for (int m = 0; m < 3; ++m)
      benchmark::DoNotOptimize(count_slices(example().indices(m), example().extent(m)).counts.data());
  state.SetItemsProcessed(state.iterations() * example().num_nonzeros());
}
BENCHMARK(count_all_slices)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace polyad
