#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

#include "polyad/base/parallel.hpp"
#include "polyad/kernels/cp/csf_sweep.hpp"
#include "polyad/kernels/cp/work_cost.hpp"

namespace polyad::kernels {
namespace {

constexpr Index num_segments = 64, chunks_per_segment = 64;
constexpr Index nearby_bytes = 1 << 20;  // of the cache that a thread has to itself

// The rows that were used last: a model of a cache.
class RecentRows {
 public:
  explicit RecentRows(Index row_bytes)
      : rows_(std::bit_floor(std::uint64_t(std::max<Index>(nearby_bytes / row_bytes, 16))), ~LocalIndex(0)) {}
  bool use(LocalIndex row) {
    auto& place = rows_[row & (rows_.size() - 1)];
    return std::exchange(place, row) == row;
  }

 private:
  std::vector<LocalIndex> rows_;
};

// What chunks of the second level's nodes cost. Nonzeros whose rows were used a moment ago are cheap, and
// in real tensors they come in clusters: equal numbers of nonzeros are not equal work.
template <class Real>
class ChunkCosts {
 public:
  ChunkCosts(const CsfTree<Real>& tree, const NodeRange& nodes, Index num_components)
      : tree_(tree), nodes_(nodes), row_bytes_(num_components * Index(sizeof(Real))) {
    const double lines = lines_of_row(num_components, sizeof(Real));
    LocalIndex last_row = 0;
    for (const LocalIndex id : tree.ids(tree.last_level())) last_row = std::max(last_row, id);
    near_ = lines * line_nanoseconds(0) + 1;
    far_ = lines * line_nanoseconds(double(last_row + 1) * double(row_bytes_)) + 1;
    node_ = per_node + lines * line_nanoseconds(0);
    slice_ = solve_nanoseconds(num_components, sizeof(Real));
    costs_.resize(num_segments * chunks_per_segment);
    parallel_for(num_segments, [&](Index segment) { measure(segment); });
  }

  Index chunk_begin(Index chunk) const {
    return nodes_.begin + part_begin(nodes_.end - nodes_.begin, chunk, std::ssize(costs_));
  }
  const std::vector<double>& costs() const { return costs_; }

 private:
  void measure(Index segment) {
    RecentRows recent(row_bytes_);
    const auto ids = tree_.ids(tree_.last_level());
    for (Index chunk = segment * chunks_per_segment; chunk < (segment + 1) * chunks_per_segment; ++chunk) {
      const Index begin = chunk_begin(chunk), end = chunk_begin(chunk + 1);
      if (begin == end) continue;
      const Index slices = tree_.parent(1, end - 1) - tree_.parent(1, begin) + 1;
      double cost = double(slices) * slice_ + double(end - begin) * node_;
      for (Index z = tree_.first_nonzero(1, begin); z < tree_.first_nonzero(1, end); ++z)
        cost += recent.use(ids[z]) ? near_ : far_;
      costs_[chunk] = cost;
    }
  }

  const CsfTree<Real>& tree_;
  NodeRange nodes_;
  Index row_bytes_;
  double near_, far_, node_, slice_;
  std::vector<double> costs_;
};

}  // namespace

template <class Real>
NodeRange nodes_of_rows(const CsfTree<Real>& tree, Index first, Index end) {
  const auto roots = tree.ids(0).first(std::size_t(tree.num_nodes(0)));
  const auto first_node = [&](Index row) {
    const auto root = std::ranges::lower_bound(roots, row, {}, [](LocalIndex id) { return Index(id); });
    return tree.first_child(0)[root - roots.begin()];
  };
  return {first_node(first), first_node(end)};
}

template <class Real>
std::vector<Index> cut_evenly(const CsfTree<Real>& tree, int num_parts, Index num_components) {
  return cut_evenly(tree, {0, tree.num_nodes(1)}, num_parts, num_components);
}

template <class Real>
std::vector<Index> cut_evenly(const CsfTree<Real>& tree, const NodeRange& nodes, int num_parts,
                              Index num_components) {
  const ChunkCosts<Real> chunks(tree, nodes, num_components);
  double total = 0;
  for (const double cost : chunks.costs()) total += cost;
  std::vector<Index> cuts{nodes.begin};
  double before = 0;
  for (Index chunk = 0; chunk < std::ssize(chunks.costs()); ++chunk) {
    const double cost = chunks.costs()[chunk];
    const Index begin = chunks.chunk_begin(chunk), in_chunk = chunks.chunk_begin(chunk + 1) - begin;
    // Within a chunk, as if all its nodes took the same time.
    while (std::ssize(cuts) < num_parts && before + cost >= total * double(cuts.size()) / num_parts) {
      const double share = cost > 0 ? (total * double(cuts.size()) / num_parts - before) / cost : 0;
      cuts.push_back(std::max(cuts.back(), begin + Index(share * double(in_chunk))));
    }
    before += cost;
  }
  cuts.resize(std::size_t(num_parts) + 1, nodes.end);
  return cuts;
}

template NodeRange nodes_of_rows(const CsfTree<float>&, Index, Index);
template std::vector<Index> cut_evenly(const CsfTree<float>&, int, Index);
template std::vector<Index> cut_evenly(const CsfTree<float>&, const NodeRange&, int, Index);

template NodeRange nodes_of_rows(const CsfTree<double>&, Index, Index);
template std::vector<Index> cut_evenly(const CsfTree<double>&, int, Index);
template std::vector<Index> cut_evenly(const CsfTree<double>&, const NodeRange&, int, Index);

}  // namespace polyad::kernels
