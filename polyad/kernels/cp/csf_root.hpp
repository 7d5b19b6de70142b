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

template <class Real, int Width, int Depth>
class RootUpdate {
  using Updater = RowUpdater<Real, Width>;
  using Pass = RootPass<Real, Width, Depth>;

 public:
  RootUpdate(const CutTree<Real>& x, std::span<Matrix<Real>> factors, const RowSystem& system,
             PartialRows<Real>* next)
      : pass_(x, factors),
        next_(next),
        factor_(factors[x.tree.modes()[0]]),
        updaters_(system, factors[x.tree.modes()[0]], pass_.parts_.size()) {}

  RowSums run() {
    in_two_phases(
        pass_.num_parts(), [&](int p) { update_whole_slices(p); }, [&](int p) { update_pieces(p); });
    const Index n = pass_.n();
    RowSums sums{Matrix<double>(n, n), 0};
    updaters_.add_to(sums);
    return sums;
  }

 private:
  void update_whole_slices(int p) {
    auto& part = pass_.parts_[p];
    int count = 0;
    Index used = 0;
    pass_.each_slice(p, [&](Index root, Index begin, Index end) {
      if (next_ != nullptr) make_room(part.below, (used + end - begin) * pass_.n());
      Real* below = next_ == nullptr ? nullptr : part.below.data() + used * pass_.n();
      pass_.sum_slice(begin, end, updaters_[p].m(count), below);
      batch_[p].slice[count] = {root, begin, end};
      used += end - begin;
      if (++count == Updater::batch || used > max_below) finish_batch(p, std::exchange(count, 0)), used = 0;
    });
    finish_batch(p, count);
    sum_pieces(p);
    updaters_[p].settle();
  }

  void sum_pieces(int p) {
    auto& part = pass_.parts_[p];
    for (auto* piece : {&part.head, &part.tail})
      if (piece->root >= 0) {  // for the second phase, in which somebody overwrites it
        const auto row = factor_.row(pass_.walk_.id(0, piece->root));
        piece->start.assign(row.begin(), row.end());
      }
    const Index head_nodes = part.head.root < 0 ? 0 : part.head.end - part.head.begin;
    const Index tail_nodes = part.tail.root < 0 ? 0 : part.tail.end - part.tail.begin;
    if (next_ != nullptr) make_room(part.below_pieces, (head_nodes + tail_nodes) * pass_.n());
    Real* below = next_ == nullptr ? nullptr : part.below_pieces.data();
    if (head_nodes > 0) pass_.call_sum_slice(part.head.begin, part.head.end, part.head.m.data(), below);
    if (below != nullptr) below += head_nodes * pass_.n();
    if (tail_nodes > 0) pass_.call_sum_slice(part.tail.begin, part.tail.end, part.tail.m.data(), below);
  }

  void finish_batch(int p, int count) {
    Index rows[Updater::batch] = {};
    for (int b = 0; b < count; ++b) {
      rows[b] = pass_.walk_.id(0, batch_[p].slice[b].root);
      updaters_[p].start_from(b, factor_.row(rows[b]).data());
    }
    updaters_[p].solve(count, rows);
    if (next_ == nullptr) return;
    const Real* below = pass_.parts_[p].below.data();
    for (int b = 0; b < count; ++b)
      below = scatter(p, batch_[p].slice[b].begin, batch_[p].slice[b].end, updaters_[p].a(b), below);
  }

  // Every part that holds a piece of a slice solves its row; the one where it begins counts it.
  void update_pieces(int p) {
    const auto& part = pass_.parts_[p];
    const Real* below = part.below_pieces.data();
    if (part.head.root >= 0) {
      pass_.sum_pieces(pass_.part_of_tail(p), updaters_[p].m(0));
      updaters_[p].start_from(0, part.head.start.data());
      if (next_ != nullptr)
        below = scatter(p, part.head.begin, part.head.end, updaters_[p].solve_only(), below);
    }
    if (part.tail.root >= 0) {
      const Index row = pass_.walk_.id(0, part.tail.root);
      pass_.sum_pieces(p, updaters_[p].m(0));
      updaters_[p].start_from(0, part.tail.start.data());
      updaters_[p].solve(1, &row);
      if (next_ != nullptr) scatter(p, part.tail.begin, part.tail.end, updaters_[p].a(0), below);
    }
    updaters_[p].settle();
  }

  // next[id] += a * below, for the nodes [begin, end) of the second level; returns what follows in below.
  const Real* scatter(int p, Index begin, Index end, const Real* a, const Real* below) {
    const auto& walk = pass_.walk_;
    Real* target = next_->part(p);
    const Index n = walk.n();
    for_blocks<Real, Width>(
        n, [&](Index c, auto width) __attribute__((always_inline)) {
          using B = Block<Real, width>;
          const auto row = B::load(a + c);
          for (Index node = begin; node < end; ++node) {
            Real* to = target + Index(walk.id(1, node)) * n + c;
            const Real* soon = target + Index(walk.id(1, node + 8)) * n + c;
            B::load(below + (node - begin) * n + c).add_product_to(to, row, soon);
          }
        });
    return below + (end - begin) * n;
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
  };

  Pass pass_;
  PartialRows<Real>* next_;
  const Matrix<Real>& factor_;
  PartUpdaters<Real, Width> updaters_;
  std::vector<Batch> batch_ = std::vector<Batch>(pass_.parts_.size());
};

template <class Real, int Width, int Depth>
void root_mttkrp_of_shape(const CutTree<Real>& x, std::span<const Matrix<Real>> factors, Matrix<Real>& m,
                          Index first) {
  RootPass<Real, Width, Depth> pass(x, factors);
  sum_all_slices(pass, m, first, [&](int, Index, Index begin, Index end, Real* to) {
    pass.call_sum_slice(begin, end, to, nullptr);
  });
}

}  // namespace

template <class Real>
void root_mttkrp(const CutTree<Real>& x, std::span<const Matrix<Real>> factors, Matrix<Real>& m,
                 Index first) {
  if (x.num_slices() < m.num_rows()) std::ranges::fill(m.flat(), Real{});
  with_shape(m.num_cols(), x.tree.order(),
             [&](auto width, auto depth) { root_mttkrp_of_shape<Real, width, depth>(x, factors, m, first); });
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
