#pragma once

#include <algorithm>
#include <vector>

#include "polyad/base/matrix.hpp"
#include "polyad/base/parallel.hpp"
#include "polyad/base/row_place.hpp"

namespace polyad {

// Rows in matrices of this process. These must not move.
template <class Real>
class MatrixRows final : public RowPlace<Real> {
 public:
  // partial: its first row is the local row first_partial. num_components: columns that are no padding.
  MatrixRows(Matrix<Real>& partial, Index first_partial, Matrix<Real>& factor, Index num_components)
      : partial_(partial), first_partial_(first_partial), factor_(factor), num_components_(num_components) {}

  SentRows sends() const override { return sent_rows(num_components_, factor_.num_cols()); }
  std::span<Real> sums_in_place(Index begin, Index end) override {
    return rows_of(partial_, begin - first_partial_, end - first_partial_);
  }
  std::span<Real> rows_in_place(Index begin, Index end) override { return rows_of(factor_, begin, end); }

  int keep_list(std::span<const LocalIndex> rows) override {
    lists_.push_back(rows);
    return int(lists_.size()) - 1;
  }

  bool acts_at_once() const override { return true; }
  void finish() override {}
  void take_sums(Index begin, Index end, Real* to) override {
    parallel_for(end - begin, [&](Index i) {
      std::copy_n(partial_.row(begin + i - first_partial_).data(), num_components_, to + i * num_components_);
    });
  }
  void put_sums(const Real* from, Index begin, Index end) override {
    put({from, num_components_}, partial_, begin - first_partial_, end - first_partial_);
  }
  void put_rows(const FoundRows<Real>& from, Index begin, Index end) override {
    put(from, factor_, begin, end);
  }
  void take_rows(int list, Index begin, Index end, Real* to) override {
    const auto rows = lists_[list];
    parallel_for(end - begin, [&](Index i) {
      std::copy_n(factor_.row(Index(rows[begin + i])).data(), num_components_, to + i * num_components_);
    });
  }
  void add_sums(const FoundRows<Real>& from, int list, Index begin, Index end) override {
    const auto rows = lists_[list];
    parallel_for(end - begin, [&](Index i) {
      Real* const row = partial_.row(Index(rows[begin + i]) - first_partial_).data();
      const Real* const added = from.row(i);
      for (Index c = 0; c < num_components_; ++c) row[c] += added[c];
    });
  }

 private:
  static std::span<Real> rows_of(Matrix<Real>& matrix, Index begin, Index end) {
    return matrix.flat().subspan(std::size_t(begin * matrix.num_cols()),
                                 std::size_t((end - begin) * matrix.num_cols()));
  }
  void put(const FoundRows<Real>& from, Matrix<Real>& matrix, Index begin, Index end) {
    parallel_for(end - begin,
                 [&](Index i) { std::copy_n(from.row(i), num_components_, matrix.row(begin + i).data()); });
  }

  Matrix<Real>& partial_;
  Index first_partial_;
  Matrix<Real>& factor_;
  Index num_components_;
  std::vector<std::span<const LocalIndex>> lists_;
};

}  // namespace polyad
