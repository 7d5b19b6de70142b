#include "polyad/kernels/cp/coordinate_mttkrp.hpp"

#include <algorithm>
#include <array>

#include "polyad/base/parallel.hpp"
#include "polyad/kernels/block.hpp"
#include "polyad/kernels/cp/row_update.hpp"

namespace polyad::kernels {
namespace {

// The factors of all modes but the output's, as kernels use them.
template <class Real, int Width>
class OtherRows {
 public:
  OtherRows(std::span<const Matrix<Real>> factors, int mode) : n_(factors[mode].num_cols()) {
    for (int k = 0; k < int(factors.size()); ++k)
      if (k != mode) {
        modes_[count_] = k;
        table_[count_++] = factors[k].flat().data();
      }
  }

  Index n() const { return Width > 0 ? Width : n_; }
  int count() const { return count_; }
  int mode(int k) const { return modes_[k]; }
  const Real* table(int k) const { return table_[k]; }

  // to += value * product over k of rows[k]
  [[gnu::always_inline]] void add(Real value, const Real* const* rows, Real* to) const {
    for_blocks<Real, Width>(
        n(), [&](Index c, auto width) __attribute__((always_inline)) {
          using B = Block<Real, width>;
          auto product = B::load(rows[0] + c);
          for (int k = 1; k < count_; ++k) product *= B::load(rows[k] + c);
          auto sum = B::load(to + c);
          sum.add_scaled(value, product);
          sum.store(to + c);
        });
  }

 private:
  Index n_;
  int count_ = 0;
  std::array<int, max_order> modes_{};
  std::array<const Real*, max_order> table_{};
};

template <class Real, int Width>
class CooPass {
 public:
  CooPass(const CooTensor<Real>& x, std::span<const Matrix<Real>> factors, int mode, Matrix<Real>& m)
      : lists_(x.rows[mode]), values_(x.tensor.values()), others_(factors, mode), m_(m) {
    for (int k = 0; k < others_.count(); ++k) ids_[k] = x.tensor.indices(others_.mode(k)).data();
  }

  // Parts begin anywhere in the lists. The row that begins before a part goes to a row of its own, and is
  // added to m in the order of the parts.
  void run() {
    const int parts = num_threads();
    Matrix<Real> heads(parts, others_.n());
    std::vector<Index> head_rows(static_cast<std::size_t>(parts), Index(-1));
    const Index count = lists_.first.back();
    parallel_for(m_.num_rows(), [&](Index row) { std::ranges::fill(m_.row(row), Real{}); });
    parallel_for(parts, [&](Index p) {
      const Index begin = part_begin(count, p, parts), end = part_begin(count, p + 1, parts);
      if (begin == end) return;
      const CooPass pass = *this;  // for registers: nothing that is written to rows can be a part of it
      Index row = std::ranges::upper_bound(lists_.first, begin) - lists_.first.begin() - 1;
      if (lists_.first[row] < begin) head_rows[p] = row;
      for (Index at = begin; at < end; ++row) {
        const Index stop = std::min(end, lists_.first[row + 1]);
        Real* to = row == head_rows[p] ? heads.row(p).data() : m_.row(row).data();
        for (; at < stop; ++at) pass.add(lists_.nonzeros.empty() ? at : Index(lists_.nonzeros[at]), to);
      }
    });
    for (Index p = 0; p < parts; ++p)
      if (head_rows[p] >= 0)
        for (Index c = 0; c < others_.n(); ++c) m_(head_rows[p], c) += heads(p, c);
  }

 private:
  [[gnu::always_inline]] void add(Index z, Real* to) const {
    std::array<const Real*, max_order> rows{};
    for (int k = 0; k < others_.count(); ++k) rows[k] = others_.table(k) + Index(ids_[k][z]) * others_.n();
    others_.add(values_[z], rows.data(), to);
  }

  const typename CooTensor<Real>::RowLists& lists_;
  std::span<const Real> values_;
  OtherRows<Real, Width> others_;
  std::array<const LocalIndex*, max_order> ids_{};
  Matrix<Real>& m_;
};

template <class Real, int Width>
class HicooPass {
 public:
  HicooPass(const HicooTensor<Real>& x, std::span<const Matrix<Real>> factors, int mode, Matrix<Real>& m)
      : x_(x), mode_(mode), others_(factors, mode), m_(m) {}

  void run() {
    const auto& rows = x_.rows[mode_];
    const int parts = num_threads();
    // Few places cannot be shared out fairly: then threads share the blocks, and add up.
    if (std::ssize(rows.first) - 1 < 16 * parts) return run_privately(parts);
    parallel_for(m_.num_rows(), [&](Index row) { std::ranges::fill(m_.row(row), Real{}); });
    const auto cuts = cut_places(parts);
    parallel_for(parts, [&](Index p) {
      const HicooPass pass = *this;  // for registers, as in CooPass
      for (Index at = rows.first[cuts[p]]; at < rows.first[cuts[p + 1]]; ++at)
        pass.add_block(rows.blocks[at], m_.flat().data());
    });
  }

 private:
  void run_privately(int num_parts) {
    PartialRows<Real> parts(num_parts, m_.num_rows(), others_.n());
    parallel_for(num_parts, [&](Index p) {
      const auto begin_of = [&](Index part) {
        return std::ranges::lower_bound(x_.first, part_begin(x_.num_nonzeros(), part, num_parts)) -
               x_.first.begin();
      };
      const HicooPass pass = *this;
      for (Index block = begin_of(p); block < std::min(begin_of(p + 1), x_.num_blocks()); ++block)
        pass.add_block(block, parts.part(int(p)));
    });
    add_up(parts, m_);
  }

  // Consecutive places with about equal numbers of nonzeros.
  std::vector<Index> cut_places(int parts) const {
    const auto& rows = x_.rows[mode_];
    std::vector<Index> cuts{0};
    Index nonzeros = 0;
    for (Index place = 0; place + 1 < std::ssize(rows.first); ++place) {
      while (std::ssize(cuts) < parts && nonzeros >= part_begin(x_.num_nonzeros(), std::ssize(cuts), parts))
        cuts.push_back(place);
      for (Index at = rows.first[place]; at < rows.first[place + 1]; ++at)
        nonzeros += x_.first[rows.blocks[at] + 1] - x_.first[rows.blocks[at]];
    }
    cuts.resize(std::size_t(parts) + 1, std::ssize(rows.first) - 1);
    return cuts;
  }

  void add_block(Index block, Real* m) const {
    const Index n = others_.n();
    std::array<const Real*, max_order> base{}, rows{};
    for (int k = 0; k < others_.count(); ++k)
      base[k] = others_.table(k) + (Index(x_.places[others_.mode(k)][block]) << x_.block_bits) * n;
    Real* to = m + (Index(x_.places[mode_][block]) << x_.block_bits) * n;
    for (Index z = x_.first[block]; z < x_.first[block + 1]; ++z) {
      for (int k = 0; k < others_.count(); ++k) rows[k] = base[k] + Index(x_.offsets[others_.mode(k)][z]) * n;
      others_.add(x_.values[z], rows.data(), to + Index(x_.offsets[mode_][z]) * n);
    }
  }

  const HicooTensor<Real>& x_;
  int mode_;
  OtherRows<Real, Width> others_;
  Matrix<Real>& m_;
};

}  // namespace

template <class Real>
void coo_mttkrp(const CooTensor<Real>& x, std::span<const Matrix<Real>> factors, int mode, Matrix<Real>& m) {
  with_width(m.num_cols(), [&](auto width) { CooPass<Real, width>(x, factors, mode, m).run(); });
}

template <class Real>
void hicoo_mttkrp(const HicooTensor<Real>& x, std::span<const Matrix<Real>> factors, int mode,
                  Matrix<Real>& m) {
  with_width(m.num_cols(), [&](auto width) { HicooPass<Real, width>(x, factors, mode, m).run(); });
}

template void coo_mttkrp(const CooTensor<float>&, std::span<const Matrix<float>>, int, Matrix<float>&);
template void hicoo_mttkrp(const HicooTensor<float>&, std::span<const Matrix<float>>, int, Matrix<float>&);

template void coo_mttkrp(const CooTensor<double>&, std::span<const Matrix<double>>, int, Matrix<double>&);
template void hicoo_mttkrp(const HicooTensor<double>&, std::span<const Matrix<double>>, int, Matrix<double>&);

}  // namespace polyad::kernels
