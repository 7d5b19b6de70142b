#include "polyad/dense/rearrange.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "polyad/base/error.hpp"
#include "polyad/dense/block_exchange.hpp"
#include "polyad/dense/redistribute.hpp"
#include "polyad/kernels/dense/block_copy.hpp"

namespace polyad::dense {
namespace {

// What one process has under one layout that another has under the other, in the array of the first.
LocalBlock common_block_of(const DenseLayout& mine, int rank, const DenseLayout& other, int other_rank) {
  if (local_size(mine, rank) == 0 || local_size(other, other_rank) == 0) return {0, {0}, {0}};
  return common_block(share_of(mine, rank), share_of(other, other_rank));
}

void check_labels(const std::vector<Index>& extents, const std::vector<int>& labels) {
  for (std::size_t m = 0; m < labels.size(); ++m)
    if (const auto first = std::size_t(labels[m]); extents[m] != extents[first])
      throw Error(Errc::bad_option,
                  fmt::format("a tensor has no diagonal of modes {} and {}: they have extents {} and {}",
                              first + 1, m + 1, extents[first], extents[m]));
}

// A mode that no diagonal runs through, if there is one.
std::optional<int> separate_mode(const std::vector<int>& labels) {
  for (int m = 0; m < std::ssize(labels); ++m)
    if (std::ranges::count(labels, m) == 1) return m;
  return std::nullopt;
}

// Over a grid of one mode: one mode of a tensor is distributed, or process 0 has all.
TensorDistribution over_one_mode(std::size_t order, std::optional<int> mode) {
  TensorDistribution distribution{std::vector<ModeDistribution>(order), {}, {}};
  if (mode)
    distribution.modes[std::size_t(*mode)].grid_modes = {0};
  else
    distribution.held_on = {{0, 0}};
  return distribution;
}

}  // namespace

template <class Real>
DenseTensor<Real> move_to_grid(const DenseTensor<Real>& x, const ProcessGrid& grid,
                               const TensorDistribution& distribution) {
  const Comm& comm = grid.comm();
  const DenseLayout from{x.layout().grid, x.extents(), with_single_owners(x.layout())};
  DenseTensor<Real> moved(grid, x.extents(), distribution);
  std::vector<LocalBlock> outgoing, incoming;
  for (int q = 0; q < comm.size(); ++q) {
    outgoing.push_back(common_block_of(from, comm.rank(), moved.layout(), q));
    incoming.push_back(common_block_of(moved.layout(), comm.rank(), from, q));
  }
  exchange_blocks(comm, outgoing, x.local().data(), incoming, moved.local().data());
  return moved;
}
template DenseTensor<float> move_to_grid(const DenseTensor<float>&, const ProcessGrid&,
                                         const TensorDistribution&);
template DenseTensor<double> move_to_grid(const DenseTensor<double>&, const ProcessGrid&,
                                          const TensorDistribution&);

template <class Real>
DenseTensor<Real> diagonal(const DenseTensor<Real>& x, const std::vector<int>& labels) {
  check_labels(x.extents(), labels);
  std::vector<Index> extents;
  std::optional<int> distributed;  // of the result
  const auto separate = separate_mode(labels);
  for (int m = 0; m < std::ssize(labels); ++m) {
    if (labels[m] != m) continue;
    if (m == separate) distributed = int(extents.size());
    extents.push_back(x.extents()[m]);
  }
  const ProcessGrid line(x.grid().comm(), GridShape({x.grid().comm().size()}));
  const auto whole = move_to_grid(x, line, over_one_mode(labels.size(), separate));
  DenseTensor<Real> result(line, extents, over_one_mode(extents.size(), distributed));
  if (result.local().empty()) return result;
  const auto from = kernels::column_major_strides(extents_of(whole.share()));
  const auto to = kernels::column_major_strides(extents_of(result.share()));
  std::vector<kernels::CopyLoop> loops;
  for (int m = 0; m < std::ssize(labels); ++m) {
    if (labels[m] != m) continue;
    kernels::CopyLoop loop{result.share()[loops.size()].count, 0, to[loops.size()]};
    for (std::size_t other = 0; other < labels.size(); ++other)
      if (labels[other] == m) loop.from_stride += from[other];
    loops.push_back(loop);
  }
  kernels::copy_block(std::move(loops), whole.local().data(), result.local().data());
  return result;
}
template DenseTensor<float> diagonal(const DenseTensor<float>&, const std::vector<int>&);
template DenseTensor<double> diagonal(const DenseTensor<double>&, const std::vector<int>&);

template <class Real>
Array<Real> gather_elements(const DenseTensor<Real>& x) {
  const auto order = std::size_t(x.order());
  const auto whole = redistribute(x, {std::vector<ModeDistribution>(order), {}, {}});
  Array<Real> elements(std::size_t(num_elements(x.extents())));
  if (elements.empty()) return elements;
  const auto from = kernels::column_major_strides(x.extents());
  std::vector<kernels::CopyLoop> loops;
  Index stride = 1;
  for (std::size_t m = order; m-- > 0; stride *= x.extents()[m])
    loops.push_back({x.extents()[m], from[m], stride});
  kernels::copy_block(std::move(loops), whole.local().data(), elements.data());
  return elements;
}
template Array<float> gather_elements(const DenseTensor<float>&);
template Array<double> gather_elements(const DenseTensor<double>&);

}  // namespace polyad::dense
