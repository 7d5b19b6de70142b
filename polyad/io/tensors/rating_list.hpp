#pragma once

#include <filesystem>
#include <vector>

#include "polyad/io/tensors/index_space.hpp"

namespace polyad::io {

// The ratings of one user, by ascending item.
struct RatingList {
  std::vector<Index> items;
  std::vector<double> ratings;
};

// Reads a text with a line per rating: an item of mode 2 of the space, by its label or
// from 1, followed by the rating. The separator is found from the first line: a tab,
// "::", a comma (fields may be quoted), or the last blank. A first line whose rating is
// not a number is a header. Reads gzip too. Throws Error{bad_input} with file and line,
// also for an item that is unknown or rated twice, and for a file without ratings.
RatingList read_rating_list(const std::filesystem::path& path, const IndexSpace& space);

}  // namespace polyad::io
