#include "polyad/distributed/prepared_values.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "polyad/base/parallel.hpp"
#include "polyad/distributed/move_nonzeros.hpp"
#include "polyad/distributed/repeated_nonzeros.hpp"
#include "polyad/tensor/sort.hpp"

namespace polyad {
namespace {

// Moves the nonzeros so that equal coordinates are on one process.
void move_to_meeting_places(const Comm& comm, SparseTensor<double>& share) {
  if (comm.size() == 1) return;
  std::vector<int> places(std::size_t(share.num_nonzeros()));
  parallel_for(share.num_nonzeros(),
               [&](Index z) { places[z] = meeting_place(coordinate_hash(share, z), comm.size()); });
  share = move_nonzeros(comm, share, places);
}

bool is_same_cell(const SparseTensor<double>& x, Index a, Index b) {
  for (int m = 0; m < x.order(); ++m)
    if (x.indices(m)[a] != x.indices(m)[b]) return false;
  return true;
}

void keep(SparseTensor<double>& x, Index from, Index to, double value) {
  for (int m = 0; m < x.order(); ++m) x.indices(m)[to] = x.indices(m)[from];
  x.values()[to] = value;
}

using CountsOfModes = std::vector<std::vector<Index>>;

CountsOfModes count_all(const Comm& comm, const SparseTensor<double>& x) {
  CountsOfModes counts;
  for (int m = 0; m < x.order(); ++m) {
    counts.emplace_back(std::size_t(x.extent(m)), 0);
    for (const Index i : x.indices(m)) ++counts.back()[i];
    comm.all_reduce(std::span(counts.back()));
  }
  return counts;
}

bool is_frequent(const SparseTensor<double>& x, Index z, const CountsOfModes& counts,
                 const std::vector<Index>& minimum) {
  for (int m = 0; m < x.order(); ++m)
    if (counts[m][x.indices(m)[z]] < minimum[m]) return false;
  return true;
}

}  // namespace

Index combine_duplicates(const Comm& comm, SparseTensor<double>& share, Duplicates rule) {
  move_to_meeting_places(comm, share);
  return comm.all_reduce(combine_local_duplicates(share, rule));
}

Index combine_local_duplicates(SparseTensor<double>& share, Duplicates rule) {
  sort_nonzeros(share, natural_mode_order(share.order()));
  const Index duplicates = count_duplicates(share);
  const Index count = share.num_nonzeros();
  Index kept = 0;
  if (rule != Duplicates::refuse && (duplicates > 0 || rule == Duplicates::count)) {
    for (Index first = 0; first < count;) {
      CellValue value;
      Index end = first;
      for (; end < count && is_same_cell(share, first, end); ++end) value.add(share.values()[end]);
      keep(share, first, kept++, value.combined(rule));
      first = end;
    }
    share.resize(kept);
  }
  return duplicates;
}

Index transform_values(std::span<double> values, Transform transform) {
  for (std::size_t z = 0; z < values.size(); ++z) {
    const double value = transformed(values[z], transform);
    if (!std::isfinite(value)) return Index(z);
    values[z] = value;
  }
  return -1;
}

CountsOfModes keep_frequent_slices(const Comm& comm, SparseTensor<double>& share,
                                   const std::vector<Index>& minimum) {
  while (true) {
    auto counts = count_all(comm, share);
    Index kept = 0;
    for (Index z = 0; z < share.num_nonzeros(); ++z)
      if (is_frequent(share, z, counts, minimum)) keep(share, z, kept++, share.values()[z]);
    const Index removed = share.num_nonzeros() - kept;
    share.resize(kept);
    if (comm.all_reduce(removed) == 0) return counts;
  }
}

}  // namespace polyad
