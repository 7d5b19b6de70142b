#pragma once

#include <cassert>
#include <span>
#include <utility>
#include <vector>

#include "polyad/base/array.hpp"
#include "polyad/base/types.hpp"

namespace polyad {

// A sparse tensor in coordinate format. Indices start at 0 and are stored mode by mode: as
// 64-bit integers if they are global, as LocalIndex if they number the rows of one process.
// Invariant: every index lies in [0, extent(mode)). Nonzeros may have equal coordinates and
// come in any order. The class knows nothing of files, processes and threads.
template <class Real, class Id = Index>
class SparseTensor {
 public:
  SparseTensor() = default;
  explicit SparseTensor(std::vector<Index> extents)
      : extents_(std::move(extents)), indices_(extents_.size()) {}
  SparseTensor(std::vector<Index> extents, std::vector<Array<Id>> indices, Array<Real> values)
      : extents_(std::move(extents)), indices_(std::move(indices)), values_(std::move(values)) {
    assert(indices_.size() == extents_.size());
    for ([[maybe_unused]] const auto& column : indices_) assert(column.size() == values_.size());
  }

  int order() const { return int(extents_.size()); }
  Index extent(int mode) const { return extents_[mode]; }
  const std::vector<Index>& extents() const { return extents_; }
  Index num_nonzeros() const { return Index(values_.size()); }

  std::span<const Id> indices(int mode) const { return indices_[mode]; }
  std::span<Id> indices(int mode) { return indices_[mode]; }
  std::span<const Real> values() const { return values_; }
  std::span<Real> values() { return values_; }

  void append(std::span<const Index> coordinates, Real value) {
    assert(int(coordinates.size()) == order());
    for (std::size_t m = 0; m < coordinates.size(); ++m) indices_[m].push_back(Id(coordinates[m]));
    values_.push_back(value);
  }
  // Keeps the first `count` nonzeros, or extends the tensor to `count` nonzeros, whose contents are unset.
  void resize(Index count) {
    for (auto& column : indices_) column.resize(std::size_t(count));
    values_.resize(std::size_t(count));
  }
  // Replaces the indices of one mode, for example when all nonzeros are permuted.
  void replace_indices(int mode, Array<Id> column) {
    assert(column.size() == values_.size());
    indices_[mode] = std::move(column);
  }
  void replace_values(Array<Real> values) {
    assert(values.size() == values_.size());
    values_ = std::move(values);
  }

  // Moves the arrays out, so that another format can be built without a second copy.
  struct Arrays {
    std::vector<Array<Id>> indices;
    Array<Real> values;
  };
  Arrays take() && { return {std::move(indices_), std::move(values_)}; }

  friend bool operator==(const SparseTensor&, const SparseTensor&) = default;

 private:
  std::vector<Index> extents_;
  std::vector<Array<Id>> indices_;  // [mode][nonzero]
  Array<Real> values_;
};

// Memory of a tensor in coordinate format, in bytes.
constexpr Index coordinate_bytes(int order, Index num_nonzeros, Index value_bytes,
                                 Index index_bytes = sizeof(Index)) {
  return num_nonzeros * (order * index_bytes + value_bytes);
}

}  // namespace polyad
