#include "polyad/comm/process_grid.hpp"

#include <cassert>
#include <limits>
#include <utility>

#include "polyad/base/error.hpp"

namespace polyad {
namespace {

std::string text_of(std::span<const int> dims) {
  std::string text;
  for (const int dim : dims) text += (text.empty() ? "" : "x") + std::to_string(dim);
  return text;
}

// Every way to write `rest` as a product of as many numbers as the order leaves, behind those in `dims`.
void factorise(int rest, std::vector<int>& dims, std::size_t order, std::vector<GridShape>& grids) {
  if (dims.size() + 1 == order) {
    dims.push_back(rest);
    grids.emplace_back(dims);
    dims.pop_back();
    return;
  }
  for (int dim = rest; dim >= 1; --dim)
    if (rest % dim == 0) {
      dims.push_back(dim);
      factorise(rest / dim, dims, order, grids);
      dims.pop_back();
    }
}

}  // namespace

GridShape::GridShape(std::vector<int> dims) : dims_(std::move(dims)), strides_(dims_.size()) {
  if (dims_.empty())
    throw Error(Errc::bad_option, option_name("#grid") + "a grid needs at least one dimension");
  Index size = 1;
  for (int mode = order() - 1; mode >= 0; --mode) {
    if (dim(mode) < 1)
      throw Error(Errc::bad_option,
                  option_name("#grid") + "grid " + text_of(dims_) + ": every dimension must be at least 1");
    strides_[std::size_t(mode)] = int(size);
    size *= dim(mode);
    if (size > std::numeric_limits<int>::max())
      throw Error(Errc::bad_option,
                  option_name("#grid") + "grid " + text_of(dims_) + " has more than 2^31 - 1 processes");
  }
  size_ = int(size);
}

std::vector<int> GridShape::coords(int rank) const {
  std::vector<int> result(dims_.size());
  for (int mode = 0; mode < order(); ++mode) result[std::size_t(mode)] = coord(rank, mode);
  return result;
}

int GridShape::rank_at(std::span<const int> coords) const {
  assert(std::ssize(coords) == order());
  int rank = 0;
  for (int mode = 0; mode < order(); ++mode) {
    assert(coords[std::size_t(mode)] >= 0 && coords[std::size_t(mode)] < dim(mode));
    rank += coords[std::size_t(mode)] * stride(mode);
  }
  return rank;
}

std::vector<int> GridShape::layer(int mode, int coord) const {
  std::vector<int> ranks;
  ranks.reserve(std::size_t(size_ / dim(mode)));
  const Index block = Index(stride(mode)) * dim(mode);  // the ranks with the same coordinates before `mode`
  for (Index begin = Index(coord) * stride(mode); begin < size_; begin += block)
    for (int i = 0; i < stride(mode); ++i) ranks.push_back(int(begin) + i);
  return ranks;
}

int GridShape::number_in_plane(std::span<const int> modes, int rank) const {
  int number = 0, stride = 1;
  for (const int mode : modes) {
    number += coord(rank, mode) * stride;
    stride *= dim(mode);
  }
  return number;
}

int GridShape::rank_in_plane(std::span<const int> modes, int rank, int number) const {
  for (const int mode : modes) {
    rank += (number % dim(mode) - coord(rank, mode)) * stride(mode);
    number /= dim(mode);
  }
  return rank;
}

std::vector<GridShape> all_grids(int order, int num_ranks) {
  std::vector<int> dims;
  std::vector<GridShape> grids;
  factorise(num_ranks, dims, std::size_t(order), grids);
  return grids;
}

std::string to_string(const GridShape& shape) {
  return text_of(shape.dims());
}

ProcessGrid::ProcessGrid(Comm comm, GridShape shape)
    : comm_(std::move(comm)),
      shape_(std::move(shape)),
      planes_(std::make_shared<std::map<std::vector<int>, Comm>>()) {
  if (shape_.size() != comm_.size())
    throw Error(Errc::bad_option, option_name("#grid") + "grid " + to_string(shape_) + " has " +
                                      std::to_string(shape_.size()) +
                                      (shape_.size() == 1 ? " process, but " : " processes, but ") +
                                      std::to_string(comm_.size()) + (comm_.size() == 1 ? " runs" : " run"));
}

const Comm& ProcessGrid::plane(const std::vector<int>& modes) const {
  const auto found = planes_->find(modes);
  if (found != planes_->end()) return found->second;
  const int rank = comm_.rank();
  const int first = shape_.rank_in_plane(modes, rank, 0);
  return planes_->emplace(modes, comm_.split(first, shape_.number_in_plane(modes, rank))).first->second;
}

}  // namespace polyad
