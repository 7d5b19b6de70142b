#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "polyad/base/array.hpp"
#include "polyad/tensor/value_rules.hpp"

namespace polyad {

// A hash of the coordinates of a cell, whose index in a mode is index_of(mode).
template <class IndexOf>
std::uint64_t cell_hash(int order, IndexOf index_of) {
  std::uint64_t hash = 0;
  for (int m = 0; m < order; ++m) {
    hash = (hash ^ std::uint64_t(index_of(m))) * 0x9E3779B97F4A7C15;
    hash ^= hash >> 32;
  }
  return hash;
}

// Finds the cells that occur several times in a stream of coordinates, and combines their values. The stream
// is passed three times, batch after batch: to `note`, to `collect` and to `merge`. Takes eight bytes per
// line until `find`, and then memory for the cells that occur several times only.
class RepeatedCells {
 public:
  using Cells = std::span<const Array<Index>>;  // [mode][line]

  // First all batches are noted.
  void note(Cells cells);
  // Then it is known which hashes occur several times. Returns whether there are any: if not, no two lines
  // have the same coordinates.
  bool find();
  // Then all batches again, in the order of the file, with their values.
  void collect(Cells cells, std::span<const double> values);
  // Number of lines that repeat an earlier one.
  Index num_repeated() const { return num_repeated_; }
  // Then all batches once more, whose first line is `first_line` counted over all batches: keeps the first
  // line of every cell, with the value of the cell.
  void merge(std::vector<Array<Index>>& cells, Array<double>& values, Index first_line,
             Duplicates rule) const;

 private:
  struct Cell {
    Index first_line;  // counted over all batches
    Index next;        // the next cell with the same hash, -1 if there is none
    CellValue value;
  };
  Index place_of(std::uint64_t hash) const;
  // For each line its place in hashes_, -1 if its hash occurs once.
  Array<Index> places_of(Cells cells) const;
  // The cell with these coordinates among those of a place, -1 if there is none.
  Index find_cell(Cells cells, Index line, Index place) const;

  std::vector<std::vector<std::uint64_t>> noted_;  // by their first bits
  std::vector<std::uint64_t> hashes_;              // that occur several times, ascending
  std::vector<Index> begins_;                      // where those begin that have these first bits
  int num_bits_ = 0;                               // of the places in begins_
  std::vector<Index> first_cells_;                 // by place in hashes_, -1 if there is none
  std::vector<Cell> cells_;
  std::vector<Index> coordinates_;  // of all cells, one after the other
  Index num_lines_ = 0, num_repeated_ = 0;
};

}  // namespace polyad
