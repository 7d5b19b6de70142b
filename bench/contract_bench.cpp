// The contraction C[abji] += A[acik] * B[bcjk] on one process, compared with DGEMM of the same shape: m = a
// i, n = b j, k = c k, all 1024. The rate counts floating-point operations.

#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "polyad/base/array.hpp"
#include "polyad/base/parallel.hpp"
#include "polyad/base/random.hpp"
#include "polyad/kernels/dense/local_contraction.hpp"
#include "polyad/kernels/dense/matrix_product.hpp"

namespace polyad {
namespace {

using Extents = std::vector<Index>;  // by letter, from a on

kernels::LabelledShape shape(const std::string& letters, const Extents& extents) {
  kernels::LabelledShape result;
  for (const char letter : letters) {
    result.labels.push_back(letter);
    result.extents.push_back(extents[std::size_t(letter - 'a')]);
  }
  return result;
}

Array<double> random_elements(const kernels::LabelledShape& of, std::uint64_t stream) {
  Index size = 1;
  for (const Index extent : of.extents) size *= extent;
  Array<double> elements(static_cast<std::size_t>(size));
  parallel_for(size,
               [&](Index i) { elements[std::size_t(i)] = Random(1, stream).uniform(std::uint64_t(i)); });
  return elements;
}

void count_flops(benchmark::State& state, double flops) {
  state.counters["FLOP"] =
      benchmark::Counter(flops * double(state.iterations()), benchmark::Counter::kIsRate);
}

void contraction(benchmark::State& state, const std::string& a, const std::string& b, const std::string& c,
                 const Extents& extents) {
  const auto shape_a = shape(a, extents), shape_b = shape(b, extents), shape_c = shape(c, extents);
  const auto left = random_elements(shape_a, 1), right = random_elements(shape_b, 2);
  auto result = random_elements(shape_c, 3);
  for (auto _ : state)
    kernels::contract<double>({result.data(), shape_c}, {left.data(), shape_a}, {right.data(), shape_b});
  double flops = 2;
  for (const Index extent : extents) flops *= double(extent);
  count_flops(state, flops);
}

void dgemm(benchmark::State& state) {
  constexpr Index n = 1024;
  const auto left = random_elements({{n, n}, {0, 1}}, 1), right = random_elements({{n, n}, {0, 1}}, 2);
  auto result = random_elements({{n, n}, {0, 1}}, 3);
  const kernels::BlasThreads all(num_threads());
  for (auto _ : state)
    kernels::multiply_add<double>({left.data(), n, n, n, false}, {right.data(), n, n, n, false},
                                  {result.data(), n, n, n, false});
  count_flops(state, 2.0 * n * n * n);
}

// a, b, c, and i, j, k as d, e, f.
const Extents all_32{32, 32, 32, 32, 32, 32}, chemistry{64, 64, 32, 16, 16, 32};

BENCHMARK(dgemm)->Name("contract/dgemm_1024")->UseRealTime();
BENCHMARK_CAPTURE(contraction, all_32, "acdf", "bcef", "abed", all_32)
    ->Name("contract/note_32")
    ->UseRealTime();
BENCHMARK_CAPTURE(contraction, chemistry, "acdf", "bcef", "abed", chemistry)
    ->Name("contract/note_64_32_16")
    ->UseRealTime();
BENCHMARK_CAPTURE(contraction, matrices, "adcf", "cfbe", "adbe", all_32)
    ->Name("contract/no_permutation_32")
    ->UseRealTime();

}  // namespace
}  // namespace polyad
