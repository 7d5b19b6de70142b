#include "polyad/distributed/ratings/random_rows.hpp"

#include <span>
#include <utility>
#include <vector>

#include "polyad/hypergraph/partition_tensor.hpp"

namespace polyad {

RowOwners random_by_ratings(const Comm& comm, const SparseTensor<double>& share, int mode, int num_parts,
                            std::uint64_t seed) {
  std::vector<Index> counts(std::size_t(share.extent(mode)), 0);
  for (const Index row : share.indices(mode)) ++counts[std::size_t(row)];
  comm.all_reduce(std::span(counts));
  Array<Index> weights;  // of rows that have ratings
  for (const Index count : counts)
    if (count > 0) weights.push_back(count);
  const auto num_rows = std::ssize(weights);
  const hypergraph::Hypergraph rows(num_rows, {}, {}, {std::move(weights)});
  hypergraph::PartitionOptions options;
  options.num_parts = num_parts;
  options.seed = seed;
  const auto of_rows = partition_by(rows, hypergraph::PartitionMethod::random, options).parts;
  std::vector<int> parts(counts.size(), 0);  // rows without ratings cost nothing anywhere
  auto next = of_rows.begin();
  for (std::size_t row = 0; row < parts.size(); ++row)
    if (counts[row] > 0) parts[row] = *next++;
  return ListedRows{{}, std::move(parts)};
}

}  // namespace polyad
