#pragma once

#include <string>
#include <string_view>

#include "polyad/base/printable.hpp"

namespace polyad::report {

// Width of printable text in cells of a terminal: 0 for combining marks, 2 for wide characters.
int num_cells(std::string_view text);
// Printable text of at most this number of cells; … replaces what is cut off at its end or beginning.
std::string clip(std::string_view text, int cells);
std::string clip_front(std::string_view text, int cells);

// Printable text for HTML, in elements and in attributes.
std::string escape_html(std::string_view text);

// Format of numbers in one column: as many decimals for all as show three digits of the largest.
class NumberColumn {
 public:
  explicit NumberColumn(double largest_magnitude);
  std::string text(double value) const;

 private:
  int decimals_;  // -1: with an exponent
};

}  // namespace polyad::report
