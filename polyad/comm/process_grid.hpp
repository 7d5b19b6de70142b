#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "polyad/comm/comm.hpp"

namespace polyad {

// Shape P_1 x ... x P_N of a process grid, and the conversion between ranks and coordinates: row-major, the
// last mode varies fastest. It has no communicator, so that grids of any size can be planned on one process.
class GridShape {
 public:
  // Throws Error{bad_option} for an empty list, for a dimension below 1 and for more than 2^31 - 1 ranks.
  explicit GridShape(std::vector<int> dims);

  int order() const { return int(dims_.size()); }
  int dim(int mode) const { return dims_[std::size_t(mode)]; }
  const std::vector<int>& dims() const { return dims_; }
  int size() const { return size_; }

  int coord(int rank, int mode) const { return rank / stride(mode) % dim(mode); }
  std::vector<int> coords(int rank) const;
  int rank_at(std::span<const int> coords) const;

  // The ranks with coordinate `coord` in `mode`, in ascending order.
  std::vector<int> layer(int mode, int coord) const;
  // The number of a rank among those that differ from it only in `modes`,
  // where the first of the modes varies fastest; and the inverse.
  int number_in_plane(std::span<const int> modes, int rank) const;
  int rank_in_plane(std::span<const int> modes, int rank, int number) const;

  friend bool operator==(const GridShape&, const GridShape&) = default;

 private:
  int stride(int mode) const { return strides_[std::size_t(mode)]; }

  std::vector<int> dims_, strides_;
  int size_ = 1;
};

// All grids of `order` modes with `num_ranks` ranks: all ordered factorisations.
std::vector<GridShape> all_grids(int order, int num_ranks);

// Text such as "2x3x4".
std::string to_string(const GridShape& shape);

// A communicator arranged as a grid, with sub-communicators for its planes. Copies share them.
class ProcessGrid {
 public:
  // Throws Error{bad_option} if the shape has another number of ranks than `comm`. Does not communicate.
  ProcessGrid(Comm comm, GridShape shape);

  const Comm& comm() const { return comm_; }
  const GridShape& shape() const { return shape_; }
  int coord(int mode) const { return shape_.coord(comm_.rank(), mode); }

  // Communicator of the ranks that differ from this one only in `modes`, numbered by their
  // coordinates there, the first mode fastest. Created on first use, which is collective.
  const Comm& plane(const std::vector<int>& modes) const;

 private:
  Comm comm_;
  GridShape shape_;
  std::shared_ptr<std::map<std::vector<int>, Comm>> planes_;  // shared by copies
};

}  // namespace polyad
