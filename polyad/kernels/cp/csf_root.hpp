#pragma once

// The source of root_mttkrp and update_root, included by one file for each precision, since both together
// take long to compile.

#include <algorithm>
#include <cassert>
#include <exception>
#include <utility>
#include <vector>

#include "polyad/base/call_ref.hpp"
#include "polyad/base/parallel.hpp"
#include "polyad/kernels/cp/csf_sweep.hpp"
#include "polyad/kernels/cp/row_updater.hpp"
#include "polyad/kernels/cp/tree_walk.hpp"

namespace polyad::kernels {
namespace {

// Runs first(part) for all parts, then second(part): with the sums of the first at hand. By as many
// threads as there are; what a part does depends on its number only.
void in_two_phases(int num_parts, CallRef<void(int)> first, CallRef<void(int)> second) {
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(num_parts));
  const auto attempt = [&](const CallRef<void(int)>& phase,
                           int part) {  // memory may run out, but not leave the region
    try {
      phase(part);
    } catch (...) {
      errors[part] = std::current_exception();
    }
  };
  const auto failed = [](const std::exception_ptr& error) { return error != nullptr; };
#pragma omp parallel num_threads(num_parts)
  {
    const int threads = omp_get_num_threads();
    for (int part = omp_get_thread_num(); part < num_parts; part += threads) attempt(first, part);
#pragma omp barrier
    const bool ok = std::ranges::none_of(errors, failed);
#pragma omp barrier
    if (ok)
      for (int part = omp_get_thread_num(); part < num_parts; part += threads) attempt(second, part);
  }
  const auto error = std::ranges::find_if(errors, failed);
  if (error != errors.end()) std::rethrow_exception(*error);
}

// A slice that a cut runs through: this part's share of it.
template <class Real>
struct Piece {
  Index root = -1;           // node of the first level; -1: none
  Index begin = 0, end = 0;  // its nodes of the second level
  Array<Real> m;             // their sum
  Array<Real> start;         // the row that the factor had
};

// What one part of a pass over a tree keeps.
template <class Real>
struct alignas(64) PartState {
  Piece<Real> head, tail;    // the slice that begins before this part; the one that continues after it
  Array<Real> below;         // the sums below the nodes of a batch of slices
  Array<Real> below_pieces;  // and of the pieces
};

// The states of all parts. Its functions are not inlined: one copy of them for every width and depth.
template <class Real>
class PartStates {
 public:
  [[gnu::noinline]] PartStates(int num_parts, Index n) : states_(static_cast<std::size_t>(num_parts)) {
    for (auto& state : states_) {
      state.head.m.assign(std::size_t(n), Real{});
      state.tail.m.assign(std::size_t(n), Real{});
    }
  }
  [[gnu::noinline]] ~PartStates() = default;
  PartStates(const PartStates&) = delete;
  PartStates& operator=(const PartStates&) = delete;

  std::size_t size() const { return states_.size(); }
  PartState<Real>& operator[](std::size_t part) { return states_[part]; }
  const PartState<Real>& operator[](std::size_t part) const { return states_[part]; }

 private:
  std::vector<PartState<Real>> states_;
};

// A pass over a tree by parts; the slices inside a part are whole, those at its ends may be pieces.
template <class Real, int Width, int Depth>
class RootPass {
 public:
  RootPass(const CutTree<Real>& x, std::span<const Matrix<Real>> factors)
      : tree_(x.tree), walk_(x.tree, factors), cuts_(x.cuts), parts_(x.num_parts(), walk_.n()) {}

  int num_parts() const { return int(parts_.size()); }
  Index n() const { return walk_.n(); }

  // to = sum over the nodes [begin, end) of the second level; keeps the sums below them in `below`, if
  // that is wanted.
  [[gnu::always_inline]] void sum_slice(Index begin, Index end, Real* to, Real* below) const {
    if constexpr (Depth == 0)
      if (walk_.last_level() == 1) return sum_fiber(begin, end, to);
    // Blocks of columns are summed one after the other: over so few nodes that these stay in the cache.
    constexpr Index chunk = 256;
    for (Index first = begin; first < end; first += chunk) {
      const Index stop = std::min(end, first + chunk);
      Real* const below_first = below == nullptr ? nullptr : below + (first - begin) * n();
      if constexpr (Depth == 1)
        if (walk_.has_single_nonzeros(first, stop)) {  // as in most slices of very sparse tensors: no loop
          const Index shift = walk_.first_child(1, first) - first;
          sum_nodes(
              first, stop, first > begin, to,
              below_first, [&](Index node, Index c, auto width) __attribute__((always_inline)) {
                return walk_.template sum_nonzeros<width>(node + shift, node + shift + 1, c);
              });
          continue;
        }
      sum_nodes(
          first, stop, first > begin, to,
          below_first, [&](Index node, Index c, auto width) __attribute__((always_inline)) {
            return walk_.template sum_below<width>(1, node, c);
          });
    }
  }

  // The same, not inlined: one copy of the code for all callers but the hottest, RootUpdate. A copy for each
  // takes twice as long to compile, and was not measurably faster.
  [[gnu::noinline]] void call_sum_slice(Index begin, Index end, Real* to, Real* below) const {
    sum_slice(begin, end, to, below);
  }

  // Calls whole(root, begin, end) for the whole slices of a part, and notes the pieces at its ends.
  template <class Whole>
  void each_slice(int p, Whole whole) {
    auto& part = parts_[p];
    part.head.root = part.tail.root = -1;
    Index node = cuts_[p];
    if (node == cuts_[p + 1]) return;
    for (Index root = tree_.parent(1, node); node < cuts_[p + 1]; ++root) {
      walk_.look_ahead(0, root, 0);
      const Index slice_begin = walk_.first_child(0, root), slice_end = walk_.first_child(0, root + 1);
      const Index end = std::min(slice_end, cuts_[p + 1]);
      if (slice_begin < node)
        note(part.head, root, node, end);
      else if (end < slice_end)
        note(part.tail, root, node, end);
      else
        whole(root, node, end);
      walk_.look_ahead_more(0, root, 0);
      node = end;
    }
  }

  // to = the sum of a slice's pieces, in the order of the parts, of which the first is its tail's.
  void sum_pieces(int first_part, Real* to) const {
    std::copy_n(parts_[first_part].tail.m.data(), n(), to);
    const Index root = parts_[first_part].tail.root;
    for (int p = first_part + 1; p < num_parts(); ++p) {
      const auto& head = parts_[p].head;
      if (head.root == root)
        for (Index c = 0; c < n(); ++c) to[c] += head.m[c];
      else if (cuts_[p] < cuts_[p + 1])
        break;
    }
  }
  // The part in which a slice begins whose head another part has.
  int part_of_tail(int p) const {
    const Index root = parts_[p].head.root;
    while (parts_[p].tail.root != root) --p;
    return p;
  }

  const CsfTree<Real>& tree_;
  TreeWalk<Real, Width, Depth> walk_;
  std::span<const Index> cuts_;
  PartStates<Real> parts_;

 private:
  // The same for some of them; `goes_on`: added to what is there. sum_below(node, c, width) is their sum.
  template <class SumBelow>
  [[gnu::always_inline]] void sum_nodes(Index begin, Index end, bool goes_on, Real* to, Real* below,
                                        SumBelow sum_below) const {
    for_blocks<Real, Width>(
        n(), [&](Index c, auto width) __attribute__((always_inline)) {
          using B = Block<Real, width>;
          B sum = goes_on ? B::load(to + c) : B();
          for (Index node = begin; node < end; ++node) {
            walk_.look_ahead(1, node, c);
            const B part = sum_below(node, c, width);
            if (below != nullptr) part.store(below + (node - begin) * n() + c);
            sum.add_product(part, walk_.row(1, node) + c, walk_.row_ahead(1, node) + c);
            walk_.look_ahead_more(1, node, c);
          }
          sum.store(to + c);
        });
  }
  // Of a matrix: the nodes of the second level are the nonzeros.
  void sum_fiber(Index begin, Index end, Real* to) const {
    for_blocks<Real, Width>(
        n(), [&](Index c, auto width) { walk_.template sum_nonzeros<width>(begin, end, c).store(to + c); });
  }

  static void note(Piece<Real>& piece, Index root, Index begin, Index end) {
    piece.root = root;
    piece.begin = begin;
    piece.end = end;
  }
};

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
  const auto row = [&](Index root) { return m.row(Index(pass.walk_.id(0, root)) - first).data(); };
  in_two_phases(
      pass.num_parts(),
      [&](int p) {
        auto& part = pass.parts_[p];
        pass.each_slice(p, [&](Index root, Index begin, Index end) {
          pass.call_sum_slice(begin, end, row(root), nullptr);
        });
        for (auto* piece : {&part.head, &part.tail})
          if (piece->root >= 0) pass.call_sum_slice(piece->begin, piece->end, piece->m.data(), nullptr);
      },
      [&](int p) {
        const Index root = pass.parts_[p].tail.root;
        if (root >= 0) pass.sum_pieces(p, row(root));
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
