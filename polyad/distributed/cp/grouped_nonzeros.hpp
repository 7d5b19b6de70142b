#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "polyad/base/array.hpp"
#include "polyad/base/parallel.hpp"
#include "polyad/comm/comm.hpp"
#include "polyad/distributed/cp/distribution.hpp"
#include "polyad/tensor/sparse_tensor.hpp"

namespace polyad {

// Nonzeros grouped by the rows of a mode: those of rows[i] are nonzeros[begin[i]], ..., nonzeros[begin[i + 1]
// - 1].
struct NonzerosByRow {
  Array<Index> rows;  // ascending
  std::vector<Index> begin;
  Array<Index> nonzeros;
  // [as nonzeros], if those of a row are sorted by a tree: its first level at which a nonzero has another
  // index than the one before; 0 for the first of a row.
  Array<std::uint8_t> level;
};

// Nonzeros of a tensor whose parts in many distributions are asked for. They are known by the rows of every
// mode that they are in, because parts are rather asked of a row than of each of its nonzeros.
class GroupedNonzeros {
 public:
  // All nonzeros of the share, which must outlive this object.
  explicit GroupedNonzeros(const SparseTensor<double>& share);
  // Those at some places of the share, ascending.
  GroupedNonzeros(const SparseTensor<double>& share, Array<Index> places);
  // Those at such places of the shares of all processes, each on the process that deals with the range of
  // rows that it is in: what is computed for a row of this mode then needs no communication. weights: of the
  // places, where they have any. Collective.
  GroupedNonzeros(const Comm& comm, const SparseTensor<double>& share, std::span<const Index> places,
                  int mode, std::span<const double> weights = {});

  Index count() const { return std::ssize(by_row_.front().nonzeros); }
  const NonzerosByRow& by_row(int mode) const { return by_row_[mode]; }
  // [nonzero]: its weight; empty: 1.
  std::span<const double> weights() const { return weights_; }

  // Sorts the nonzeros of each row of a mode by the modes of a tree that has it at the root.
  void sort_rows(std::span<const int> tree);

  // [nonzero]: its part. Collective if they were moved to other processes.
  Array<int> parts(const NonzeroOwners& owners) const;

 private:
  struct Moved {
    Comm comm;
    std::vector<Index> given, taken;  // [process]: number of nonzeros
  };
  Array<int> parts(const OwnedByList& owners) const;

  std::vector<NonzerosByRow> by_row_;  // [mode]
  Array<double> weights_;
  bool are_all_ = false;  // nonzeros of the share
  Array<Index> places_;   // if not: in the share; before they were moved, by receiver
  std::optional<Moved> moved_;
};

// fn(begin, end, thread) of rows with about equally many nonzeros for each thread.
template <class Fn>
void parallel_rows(const NonzerosByRow& groups, Fn fn) {
  const auto row_at = [&](Index nonzero) {
    return std::min<Index>(std::ranges::lower_bound(groups.begin, nonzero) - groups.begin.begin(),
                           std::ssize(groups.rows));
  };
  const Index count = groups.begin.back();
  parallel_parts(count, [&](Index begin, Index end, int thread) {
    fn(begin == 0 ? 0 : row_at(begin), end == count ? std::ssize(groups.rows) : row_at(end), thread);
  });
}

}  // namespace polyad
