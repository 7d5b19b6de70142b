#include "polyad/tensor/csf.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "polyad/base/parallel.hpp"
#include "polyad/tensor/sort.hpp"

namespace polyad {
namespace {

// [nonzero]: the first level in which its path leaves that of the nonzero before it.
template <class Real>
Array<std::uint8_t> branching_levels(const SparseTensor<Real, LocalIndex>& x, const std::vector<int>& modes) {
  Array<std::uint8_t> branch(x.values().size());
  parallel_for(x.num_nonzeros(), [&](Index z) {
    int level = 0;
    while (z > 0 && level + 1 < x.order() && x.indices(modes[level])[z] == x.indices(modes[level])[z - 1])
      ++level;
    branch[z] = std::uint8_t(level);
  });
  return branch;
}

using LevelCounts = std::array<Index, max_order>;  // nodes per level

// How many nodes of each level the threads' parts hold before each part, and in all.
std::vector<LevelCounts> nodes_before_parts(const Array<std::uint8_t>& branch, int order) {
  std::vector<LevelCounts> before(num_threads() + 1, LevelCounts{});
  parallel_parts(std::ssize(branch), [&](Index begin, Index end, int thread) {
    LevelCounts count{};
    for (Index z = begin; z < end; ++z) ++count[branch[z]];
    for (int level = 1; level < order; ++level) count[level] += count[level - 1];
    before[thread + 1] = count;
  });
  for (std::size_t part = 1; part < before.size(); ++part)
    for (int level = 0; level < order; ++level) before[part][level] += before[part - 1][level];
  return before;
}

// Allocates memory for this number of ids and for zeros after them.
void pad(Array<LocalIndex>& ids, Index count) {
  ids.resize(std::size_t(count) + csf_look_ahead);
  std::fill(ids.begin() + count, ids.end(), 0);
}

}  // namespace

template <class Real>
CsfTree<Real>::CsfTree(SparseTensor<Real, LocalIndex>& x, std::vector<int> mode_order)
    : modes_(std::move(mode_order)) {
  sort_nonzeros(x, modes_);
  link_levels(x);
  const auto leaves = x.indices(modes_.back());
  ids_.back().reserve(leaves.size() + csf_look_ahead);
  ids_.back().assign(leaves.begin(), leaves.end());
  pad(ids_.back(), x.num_nonzeros());
  values_.assign(x.values().begin(), x.values().end());
}

template <class Real>
CsfTree<Real>::CsfTree(SparseTensor<Real, LocalIndex>&& x, std::vector<int> mode_order)
    : modes_(std::move(mode_order)) {
  sort_nonzeros(x, modes_);
  link_levels(x);
  auto arrays = std::move(x).take();
  values_ = std::move(arrays.values);
  ids_.back() = std::move(arrays.indices[modes_.back()]);
  pad(ids_.back(), Index(values_.size()));
}

template <class Real>
void CsfTree<Real>::link_levels(const SparseTensor<Real, LocalIndex>& x) {
  const int order = x.order();
  const auto branch = branching_levels(x, modes_);
  const auto before = nodes_before_parts(branch, order);
  ids_.resize(std::size_t(order));
  first_child_.resize(std::size_t(order) - 1);
  for (int level = 0; level + 1 < order; ++level) {
    pad(ids_[level], before.back()[level]);
    first_child_[level].resize(std::size_t(before.back()[level]) + 1);
    first_child_[level].back() = before.back()[level + 1];
  }
  parallel_parts(x.num_nonzeros(), [&](Index begin, Index end, int thread) {
    LevelCounts next = before[thread];
    for (Index z = begin; z < end; ++z)
      for (int level = branch[z]; level < order; ++level) {
        if (level + 1 < order) {
          ids_[level][next[level]] = x.indices(modes_[level])[z];
          first_child_[level][next[level]] = next[level + 1];
        }
        ++next[level];
      }
  });
}

template <class Real>
int CsfTree<Real>::level_of(int mode) const {
  return int(std::ranges::find(modes_, mode) - modes_.begin());
}

template <class Real>
Index CsfTree<Real>::num_nodes(int level) const {
  return level == last_level() ? num_nonzeros() : Index(first_child_[level].size()) - 1;
}

template <class Real>
Index CsfTree<Real>::first_nonzero(int level, Index node) const {
  for (; level < last_level(); ++level) node = first_child_[level][node];
  return node;
}

template <class Real>
Index CsfTree<Real>::parent(int level, Index node) const {
  const auto& first = first_child_[level - 1];
  return std::upper_bound(first.begin(), first.end(), node) - first.begin() - 1;
}

template <class Real>
Index CsfTree<Real>::bytes() const {
  std::vector<Index> nodes;
  for (int level = 0; level < order(); ++level) nodes.push_back(num_nodes(level));
  return csf_bytes(nodes, sizeof(Real));
}

template <class Real>
Index CsfTensor<Real>::bytes() const {
  Index sum = 0;
  for (const auto& tree : trees) sum += tree.bytes();
  return sum;
}

template <class Real>
CsfTensor<Real> build_csf(SparseTensor<Real, LocalIndex> x,
                          const std::vector<std::vector<int>>& mode_orders) {
  CsfTensor<Real> csf{x.extents(), {}};
  for (std::size_t t = 0; t + 1 < mode_orders.size(); ++t) csf.trees.emplace_back(x, mode_orders[t]);
  csf.trees.emplace_back(std::move(x), mode_orders.back());
  return csf;
}

Index csf_bytes(std::span<const Index> num_nodes, Index value_bytes) {
  Index bytes = num_nodes.back() * value_bytes;
  for (const Index nodes : num_nodes) bytes += nodes * Index(sizeof(LocalIndex));
  for (const Index nodes : num_nodes.first(num_nodes.size() - 1)) bytes += (nodes + 1) * Index(sizeof(Index));
  return bytes;
}

template class CsfTree<float>;
template class CsfTree<double>;
template struct CsfTensor<float>;
template struct CsfTensor<double>;
template CsfTensor<float> build_csf(SparseTensor<float, LocalIndex>, const std::vector<std::vector<int>>&);
template CsfTensor<double> build_csf(SparseTensor<double, LocalIndex>, const std::vector<std::vector<int>>&);

}  // namespace polyad
