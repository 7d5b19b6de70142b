#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "polyad/comm/comm.hpp"

namespace polyad {

// The shape P_1 x ... x P_N of a grid of ranks and the arithmetic of its coordinates: row-major, the last
// mode fastest. A value without a communicator, so grids of any size can be planned on one process.
class GridShape {
 public:
  // Throws Error{bad_option} without dimensions, for one below 1 and for more than 2^31 - 1 ranks.
  explicit GridShape(std::vector<int> dims);

  int order() const { return int(dims_.size()); }
  int dim(int mode) const { return dims_[std::size_t(mode)]; }
  const std::vector<int>& dims() const { return dims_; }
  int size() const { return size_; }

  int coord(int rank, int mode) const { return rank / stride(mode) % dim(mode); }
  std::vector<int> coords(int rank) const;
  int rank_at(std::span<const int> coords) const;

  // The ranks with coordinate `coord` in `mode`, ascending.
  std::vector<int> layer(int mode, int coord) const;
  // The rank's number among those that differ from it in these modes only, the first-named mode fastest; and
  // the rank that has a number there.
  int number_in_plane(std::span<const int> modes, int rank) const;
  int rank_in_plane(std::span<const int> modes, int rank, int number) const;

  friend bool operator==(const GridShape&, const GridShape&) = default;

 private:
  int stride(int mode) const { return strides_[std::size_t(mode)]; }

  std::vector<int> dims_, strides_;
  int size_ = 1;
};

// Every grid of so many ranks: all ordered factorisations.
std::vector<GridShape> all_grids(int order, int num_ranks);

// "2x3x4"
std::string to_string(const GridShape& shape);

// A communicator laid out as a grid, with communicators for its planes. Copying shares them.
class ProcessGrid {
 public:
  // Throws Error{bad_option} when the shape is not for as many ranks as there are. Communicates nothing.
  ProcessGrid(Comm comm, GridShape shape);

  const Comm& comm() const { return comm_; }
  const GridShape& shape() const { return shape_; }
  int coord(int mode) const { return shape_.coord(comm_.rank(), mode); }

  // The ranks that differ from this one in these modes only, numbered by their coordinates there, the
  // first-named mode fastest. Made when it is first asked for: collective.
  const Comm& plane(const std::vector<int>& modes) const;

 private:
  Comm comm_;
  GridShape shape_;
  std::shared_ptr<std::map<std::vector<int>, Comm>> planes_;  // shared by copies
};

}  // namespace polyad
