#pragma once

#include <span>
#include <vector>

#include "polyad/tensor/sparse_tensor.hpp"

namespace polyad {

// Number of ids after the end of a level that may be read, so that kernels can prefetch without a check.
inline constexpr std::size_t csf_look_ahead = 64;

// A compressed sparse fiber tree (Smith and Karypis 2015): the sorted nonzeros, with common
// prefixes stored once. A node of level l is a distinct prefix of l + 1 indices, in the order
// of modes(); the nodes of the last level are the nonzeros. Nodes of a level are numbered from
// left to right, so that the children of a node, and the nonzeros below it, are consecutive.
template <class Real>
class CsfTree {
 public:
  // Sorts x by the mode order if necessary; its coordinates must be distinct.
  CsfTree(SparseTensor<Real, LocalIndex>& x, std::vector<int> mode_order);
  // The same, consuming x: its arrays become the last level of the tree.
  CsfTree(SparseTensor<Real, LocalIndex>&& x, std::vector<int> mode_order);

  int order() const { return int(modes_.size()); }
  int last_level() const { return order() - 1; }
  const std::vector<int>& modes() const { return modes_; }  // [level]
  int level_of(int mode) const;
  Index num_nonzeros() const { return Index(values_.size()); }
  Index num_nodes(int level) const;

  // The index of each node in the mode of its level, followed by csf_look_ahead zeros.
  std::span<const LocalIndex> ids(int level) const { return ids_[level]; }
  // [node]: its first child in the next level; one more than nodes. Not for the last level.
  std::span<const Index> first_child(int level) const { return first_child_[level]; }
  std::span<const Real> values() const { return values_; }
  std::span<Real> values() { return values_; }

  // The first nonzero below a node (of a node past the end: the number of nonzeros).
  Index first_nonzero(int level, Index node) const;
  // The parent of a node, by binary search.
  Index parent(int level, Index node) const;
  Index bytes() const;

 private:
  void link_levels(const SparseTensor<Real, LocalIndex>& x);

  std::vector<int> modes_;
  std::vector<Array<LocalIndex>> ids_;
  std::vector<Array<Index>> first_child_;
  Array<Real> values_;
};

// A tensor as one or several trees, each with all nonzeros.
template <class Real>
struct CsfTensor {
  std::vector<Index> extents;
  std::vector<CsfTree<Real>> trees;

  int order() const { return int(extents.size()); }
  Index bytes() const;
};

// Builds one tree per mode order. Consumes x.
template <class Real>
CsfTensor<Real> build_csf(SparseTensor<Real, LocalIndex> x, const std::vector<std::vector<int>>& mode_orders);

// Memory of a tree in bytes, from its number of nodes per level.
Index csf_bytes(std::span<const Index> num_nodes, Index value_bytes);

}  // namespace polyad
