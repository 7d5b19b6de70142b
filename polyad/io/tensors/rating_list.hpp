#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "polyad/io/tensors/index_space.hpp"

namespace polyad::io {

// The ratings of one user, by ascending item; of one item: those who rated it, by ascending user.
struct RatingList {
  std::vector<Index> items;  // or users
  std::vector<double> ratings;
};

// Reads a text with a line per rating: an item of mode 2 of the space, by its label or
// from 1, followed by the rating. The separator is found from the first line: a tab,
// "::", a comma (fields may be quoted), or the last blank. A first line whose rating is
// not a number is a header. Reads gzip too. Throws Error{bad_input} with file and line,
// also for an item that is unknown or rated twice, and for a file without ratings.
RatingList read_rating_list(const std::filesystem::path& path, const IndexSpace& space);

// The ratings of a user, or an item, that is not in the model.
struct NamedRatingList {
  std::string name;
  Index line = 0;  // the first that has the name, from 1
  RatingList list;
};

enum class ListsOf { users, items };

// Reads a text like the one above for many users, or for many items: a user, an item and a rating per line,
// in this order; a fourth field, such as the time in MovieLens' files, is not used. Fields may be separated
// by blanks, too. Users, or items, come in the order of their first lines, with any names, also such as the
// space has; those of the other side must be in the space.
std::vector<NamedRatingList> read_rating_lists(const std::filesystem::path& path, const IndexSpace& space,
                                               ListsOf of = ListsOf::users);

struct ItemList {
  std::vector<Index> items;  // ascending, each once
  Index num_unknown = 0;     // different lines that name no item
};

// Reads a text with a line per item of mode 2 of the space, by its label or from 1. A first line that is the
// name of the mode is a header. Reads gzip too. Throws Error{bad_input} with file and line for a label of
// several items and, where items have no labels, for what is no whole number.
ItemList read_item_list(const std::filesystem::path& path, const IndexSpace& space);

}  // namespace polyad::io
