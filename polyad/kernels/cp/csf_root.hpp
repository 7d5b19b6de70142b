#pragma once

// The source of root_mttkrp and update_root, included by one file for each precision, since both together
// take long to compile.

#include <algorithm>
#include <cassert>
#include <utility>
#include <vector>

#include "polyad/kernels/cp/csf_root_pass.hpp"
#include "polyad/kernels/cp/csf_sweep.hpp"
#include "polyad/kernels/cp/row_updater.hpp"

namespace polyad::kernels {
namespace {

// What follows on the sums of slices: the rows of the factor, and with them the sums for the next mode.
template <class Real, int Width>
class RowUpdates {
  using Updater = RowUpdater<Real, Width>;

 public:
  RowUpdates(TreeParts<Real, Width>& parts, Matrix<Real>& factor, const RowSystem& system,
             PartialRows<Real>* next)
      : parts_(parts), next_(next), factor_(factor), updaters_(system, factor, std::size_t(parts.size())) {}

  // Where the sum of the next slice of a batch belongs, and the sums below `num_nodes` nodes of it.
  Real* m(int p) { return updaters_[p].m(batch_[p].count); }
  Real* below(int p, Index num_nodes) {
    if (next_ == nullptr) return nullptr;
    const Index used = batch_[p].used;
    make_room(parts_[p].below, (used + num_nodes) * parts_.n());
    return parts_[p].below.data() + used * parts_.n();
  }

  // Adds a slice, whose sums are there, to the batch; updates the rows of the batch when it is full.
  [[gnu::always_inline]] void add_slice(int p, Index root, Index begin, Index end) {
    auto& batch = batch_[p];
    batch.slice[batch.count] = {root, begin, end};
    batch.used += end - begin;
    if (++batch.count == Updater::batch || batch.used > max_below) finish_batch(p);
  }

  [[gnu::noinline]] void finish_batch(int p) {
    auto& batch = batch_[p];
    const int count = std::exchange(batch.count, 0);
    batch.used = 0;
    Index rows[Updater::batch] = {};
    for (int b = 0; b < count; ++b) {
      rows[b] = parts_.slice_row(batch.slice[b].root);
      updaters_[p].start_from(b, factor_.row(rows[b]).data());
    }
    updaters_[p].solve(count, rows);
    if (next_ == nullptr) return;
    const Real* below = parts_[p].below.data();
    for (int b = 0; b < count; ++b)
      below = scatter(p, batch.slice[b].begin, batch.slice[b].end, updaters_[p].a(b), below);
  }

  // Where the sums below the nodes of both pieces belong. Keeps their rows for the second phase, in which
  // somebody overwrites them.
  [[gnu::noinline]] Real* start_pieces(int p) {
    auto& part = parts_[p];
    Index num_nodes = 0;
    for (auto* piece : {&part.head, &part.tail})
      if (piece->root >= 0) {
        const auto row = factor_.row(parts_.slice_row(piece->root));
        piece->start.assign(row.begin(), row.end());
        num_nodes += piece->end - piece->begin;
      }
    if (next_ == nullptr) return nullptr;
    make_room(part.below_pieces, num_nodes * parts_.n());
    return part.below_pieces.data();
  }

  // Every part that holds a piece of a slice solves its row; the one where it begins counts it.
  [[gnu::noinline]] void update_pieces(int p) {
    const auto& part = parts_[p];
    auto& updater = updaters_[p];
    const Real* below = part.below_pieces.data();
    if (part.head.root >= 0) {
      parts_.sum_pieces(parts_.part_of_tail(p), updater.m(0));
      updater.start_from(0, part.head.start.data());
      if (next_ != nullptr) below = scatter(p, part.head.begin, part.head.end, updater.solve_only(), below);
    }
    if (part.tail.root >= 0) {
      const Index row = parts_.slice_row(part.tail.root);
      parts_.sum_pieces(p, updater.m(0));
      updater.start_from(0, part.tail.start.data());
      updater.solve(1, &row);
      if (next_ != nullptr) scatter(p, part.tail.begin, part.tail.end, updater.a(0), below);
    }
    updater.settle();
  }

  void settle(int p) const { updaters_[p].settle(); }

  [[gnu::noinline]] RowSums sums() {
    RowSums sums{Matrix<double>(parts_.n(), parts_.n()), 0};
    updaters_.add_to(sums);
    return sums;
  }

 private:
  // Adds a slice to the next mode; returns what follows in below.
  const Real* scatter(int p, Index begin, Index end, const Real* a, const Real* below) {
    add_times_sums<Real, Width>(a, below, parts_.node_ids() + begin, end - begin, next_->part(p), parts_.n());
    return below + (end - begin) * parts_.n();
  }

  static void make_room(Array<Real>& rows, Index size) {
    if (Index(rows.size()) < size) rows.resize(std::size_t(2 * size));
  }

  // Nodes of a batch whose sums should still be in the nearest cache when they are scattered.
  static constexpr Index max_below = 64;

  struct Slice {
    Index root, begin, end;
  };
  struct alignas(64) Batch {
    Slice slice[Updater::batch];
    int count = 0;
    Index used = 0;  // nodes of the second level
  };

  TreeParts<Real, Width>& parts_;
  PartialRows<Real>* next_;
  const Matrix<Real>& factor_;
  PartUpdaters<Real, Width> updaters_;
  std::vector<Batch> batch_ = std::vector<Batch>(std::size_t(parts_.size()));
};

template <class Real, int Width, int Depth>
class RootUpdate {
 public:
  RootUpdate(const CutTree<Real>& x, std::span<Matrix<Real>> factors, const RowSystem& system,
             PartialRows<Real>* next)
      : pass_(x, factors), updates_(pass_.parts(), factors[x.tree.modes()[0]], system, next) {}

  RowSums run() {
    in_two_phases(
        pass_.parts().size(), [&](int p) { update_whole_slices(p); },
        [&](int p) { updates_.update_pieces(p); });
    return updates_.sums();
  }

 private:
  void update_whole_slices(int p) {
    pass_.each_slice(p, [&](Index root, Index begin, Index end) {
      Real* below = updates_.below(p, end - begin);
      pass_.sum_slice(begin, end, updates_.m(p), below);
      updates_.add_slice(p, root, begin, end);
    });
    updates_.finish_batch(p);
    Real* below = updates_.start_pieces(p);
    auto& part = pass_.parts()[p];
    for (auto* piece : {&part.head, &part.tail})
      if (piece->root >= 0) {
        pass_.call_sum_slice(piece->begin, piece->end, piece->m.data(), below);
        if (below != nullptr) below += (piece->end - piece->begin) * pass_.n();
      }
    updates_.settle(p);
  }

  RootPass<Real, Width, Depth> pass_;
  RowUpdates<Real, Width> updates_;
};

template <class Real, int Width, int Depth>
void root_mttkrp_of_shape(const CutTree<Real>& x, std::span<const Matrix<Real>> factors, Matrix<Real>& m,
                          Index first, Real* below) {
  RootPass<Real, Width, Depth> pass(x, factors);
  const Index first_node = x.cuts.front();
  sum_all_slices(pass, m, first, [&](int, Index, Index begin, Index end, Real* to) {
    pass.call_sum_slice(begin, end, to,
                        below == nullptr ? nullptr : below + (begin - first_node) * m.num_cols());
  });
}

}  // namespace

template <class Real>
void root_mttkrp(const CutTree<Real>& x, std::span<const Matrix<Real>> factors, Matrix<Real>& m, Index first,
                 Array<Real>* below) {
  assert(below == nullptr || x.tree.order() > 2);
  if (x.num_slices() < m.num_rows()) std::ranges::fill(m.flat(), Real{});
  if (below != nullptr) below->resize(std::size_t((x.cuts.back() - x.cuts.front()) * m.num_cols()));
  Real* const to = below == nullptr ? nullptr : below->data();
  with_shape(m.num_cols(), x.tree.order(), [&](auto width, auto depth) {
    root_mttkrp_of_shape<Real, width, depth>(x, factors, m, first, to);
  });
}

template <class Real>
RowSums update_root(const CutTree<Real>& x, std::span<Matrix<Real>> factors, const RowSystem& system,
                    PartialRows<Real>* next) {
  assert(x.tree.num_nodes(0) <= factors[x.tree.modes()[0]].num_rows());
  assert(next == nullptr || (x.tree.order() > 2 && next->num_parts() == x.num_parts()));
  RowSums sums;
  with_shape(system.num_components(), x.tree.order(), [&](auto width, auto depth) {
    sums = RootUpdate<Real, width, depth>(x, factors, system, next).run();
  });
  return sums;
}

}  // namespace polyad::kernels
