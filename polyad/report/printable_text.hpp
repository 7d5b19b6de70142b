#pragma once

#include <string>
#include <string_view>

#include "polyad/base/printable.hpp"

namespace polyad::report {

// How many cells of a terminal printable text takes: none for combining marks, two for wide characters.
int num_cells(std::string_view text);
// Printable text in at most so many cells, with … for what was cut off its end, or off its beginning.
std::string clip(std::string_view text, int cells);
std::string clip_front(std::string_view text, int cells);

// Printable text for HTML, in elements and in attributes.
std::string escape_html(std::string_view text);

// Numbers that share a column: as many decimals for all as show three digits of the largest.
class NumberColumn {
 public:
  explicit NumberColumn(double largest_magnitude);
  std::string text(double value) const;

 private:
  int decimals_;  // -1: as an exponent
};

}  // namespace polyad::report
