#pragma once

// A pass over the slices of a tree by parts, as all sums up to the root share it: included by the files with
// such passes, each of which is compiled alone.

#include <algorithm>
#include <exception>
#include <span>
#include <vector>

#include "polyad/base/call_ref.hpp"
#include "polyad/base/parallel.hpp"
#include "polyad/kernels/cp/csf_sweep.hpp"
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

// The parts of a tree: the slices inside a part are whole, those at its ends may be pieces. What does not
// depend on the depth of the tree is here and in RowUpdates, and is compiled once for all depths.
template <class Real, int Width>
class TreeParts {
 public:
  TreeParts(const CutTree<Real>& x, Index num_components)
      : cuts_(x.cuts),
        slice_ids_(x.tree.ids(0).data()),
        node_ids_(x.tree.ids(1).data()),
        n_(num_components),
        states_(x.num_parts(), num_components) {}

  int size() const { return int(states_.size()); }
  Index n() const { return Width > 0 ? Width : n_; }
  Index begin(int p) const { return cuts_[p]; }
  Index end(int p) const { return cuts_[p + 1]; }
  PartState<Real>& operator[](int p) { return states_[p]; }

  // The row of the factor that belongs to a node of the first level, and those of the second level.
  Index slice_row(Index root) const { return slice_ids_[root]; }
  const LocalIndex* node_ids() const { return node_ids_; }

  // to = the sum of a slice's pieces, in the order of the parts, of which the first is its tail's.
  void sum_pieces(int first_part, Real* to) const {
    std::copy_n(states_[first_part].tail.m.data(), n(), to);
    const Index root = states_[first_part].tail.root;
    for (int p = first_part + 1; p < size(); ++p) {
      const auto& head = states_[p].head;
      if (head.root == root)
        for (Index c = 0; c < n(); ++c) to[c] += head.m[c];
      else if (begin(p) < end(p))
        break;
    }
  }
  // The part in which a slice begins whose head another part has.
  int part_of_tail(int p) const {
    const Index root = states_[p].head.root;
    while (states_[p].tail.root != root) --p;
    return p;
  }

 private:
  std::span<const Index> cuts_;
  const LocalIndex* slice_ids_;
  const LocalIndex* node_ids_;
  Index n_;
  PartStates<Real> states_;
};

// A pass over a tree by parts.
template <class Real, int Width, int Depth>
class RootPass {
 public:
  RootPass(const CutTree<Real>& x, std::span<const Matrix<Real>> factors)
      : tree_(x.tree), walk_(x.tree, factors), parts_(x, walk_.n()) {}

  Index n() const { return walk_.n(); }
  TreeParts<Real, Width>& parts() { return parts_; }
  const TreeWalk<Real, Width, Depth>& walk() const { return walk_; }

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
    Index node = parts_.begin(p);
    const Index part_end = parts_.end(p);
    if (node == part_end) return;
    for (Index root = tree_.parent(1, node); node < part_end; ++root) {
      walk_.look_ahead(0, root, 0);
      const Index slice_begin = walk_.first_child(0, root), slice_end = walk_.first_child(0, root + 1);
      const Index end = std::min(slice_end, part_end);
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

  const CsfTree<Real>& tree_;
  TreeWalk<Real, Width, Depth> walk_;
  TreeParts<Real, Width> parts_;
};

// Sums all slices: sum_slice(part, root, begin, end, to) puts the sum over the nodes [begin, end) of the
// second level, which are below a node of the root, to `to`. m begins with row `first`.
template <class Pass, class Real, class SumSlice>
void sum_all_slices(Pass& pass, Matrix<Real>& m, Index first, SumSlice sum_slice) {
  auto& parts = pass.parts();
  const auto row = [&](Index root) { return m.row(parts.slice_row(root) - first).data(); };
  in_two_phases(
      parts.size(),
      [&](int p) {
        auto& part = parts[p];
        pass.each_slice(
            p, [&](Index root, Index begin, Index end) { sum_slice(p, root, begin, end, row(root)); });
        for (auto* piece : {&part.head, &part.tail})
          if (piece->root >= 0) sum_slice(p, piece->root, piece->begin, piece->end, piece->m.data());
      },
      [&](int p) {
        const Index root = parts[p].tail.root;
        if (root >= 0) parts.sum_pieces(p, row(root));
      });
}

}  // namespace
}  // namespace polyad::kernels
