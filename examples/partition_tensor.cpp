// Partitions the nonzeros of a tensor for 16 processes and compares what they would send with a partition
// into consecutive blocks.

#include <cstdio>

#include "polyad/polyad.hpp"

int main(int argc, char** argv) {
  const polyad::Runtime runtime(argc, argv);
  const auto context = polyad::Context::serial();
  const auto x = polyad::load(context, argv[1]);
  const auto found = polyad::partition(context, x, {.parts = 16, .no_cache = true});
  const auto blocks = polyad::partition(context, x, {.parts = 16, .method = polyad::PartitionMethod::block});

  std::printf("%s\n\n", found.summary().c_str());
  std::printf("rows sent: %lld; in blocks of consecutive slices: %lld\n",
              static_cast<long long>(found.metrics().connectivity),
              static_cast<long long>(blocks.metrics().connectivity));
  std::printf("heaviest part: %.1f %% above the mean\n", 100 * found.metrics().imbalance[0]);
  const bool is_better = found.metrics().connectivity < blocks.metrics().connectivity;
  return is_better && std::ssize(found.parts()) == x.tensor.num_nonzeros() ? 0 : 1;
}
