#include <bit>

#include "polyad/base/parallel.hpp"
#include "polyad/tensor/generate/distinct.hpp"
#include "polyad/tensor/generate/streams.hpp"

namespace polyad {

SparseTensor<double> generate_skewed(const SkewedOptions& options) {
  auto x = distinct_draws(options);
  const Random counts = random_for(options.seed, GeneratorStream::count);
  parallel_for(x.num_nonzeros(), [&](Index z) {
    // The leading zeros of random bits: k of them with probability 2^-(k + 1).
    x.values()[z] = 1 + std::countl_zero(counts.bits(std::uint64_t(x.values()[z]))[0]);
  });
  return x;
}

}  // namespace polyad
