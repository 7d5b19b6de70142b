#pragma once

#include <concepts>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "polyad/io/text/table_form.hpp"
#include "polyad/tasks/context.hpp"
#include "polyad/tasks/tensor.hpp"
#include "polyad/tensor/value_rules.hpp"

namespace polyad {

// Where the labels of a tensor or a model come from. By default from its own label files: for x.tns the files
// x.mode-1-NAME.map, x.mode-2-NAME.map, ... beside it.
struct LabelSources {
  struct File {
    int mode = 0;  // from 0
    std::filesystem::path path;
  };
  std::vector<File> files = {};       // line i of a file names index i of its mode
  std::filesystem::path folder = {};  // that holds mode-1-NAME.map, ...
  bool none = false;                  // no label files are read
};

// The files of one tensor. Several are read as if they were one, in this order: they have the same format,
// and tables the same columns; empty ones add nothing. A folder stands for all files in it, in the order of
// their names, except hidden files and label files. "-" is standard input, which process 0 reads for all.
struct TensorFiles {
  std::vector<std::filesystem::path> paths;

  TensorFiles(std::vector<std::filesystem::path> several)
      : paths(std::move(several)) {}  // NOLINT(*-explicit-*)
  template <std::convertible_to<std::filesystem::path> Path>
  TensorFiles(const Path& one) : paths{one} {}  // NOLINT(*-explicit-*): a file is the usual case
};

struct LoadOptions {
  std::optional<io::TensorFormat> format = {};  // nothing: recognised by content
  std::optional<int> index_base = {};           // the first index, 0 or 1; nothing: found out
  std::vector<Index> dims = {};                 // empty: those of the header, else the largest indices
  // Tables: the columns of the modes, then that of the value, by name as in "user,item,rating" or by number
  // as in "1,2,4"; "time:day" bins times by hour, day, week or month, "age:width=10" and
  // "age:quantiles=4" bin numbers, "id:index" takes numbers as indices.
  std::string columns = {};
  // Tables: the column of the value, or "1" to count lines; then all of `columns` are modes.
  std::string value = {};
  // Tables: the header, the separator and how values are written (default: recognised).
  io::TableForm table = {};
  // What the value of a cell is if several nonzeros have its coordinates. Nothing: what the task does, which
  // is to add them up, with a warning, where `complete` keeps the last. With `transform` or `min_count`, for
  // which a cell must have one value, `load` adds up and `load_ratings` keeps the last.
  std::optional<Duplicates> duplicates = {};
  // What is done to every value after that (default: nothing).
  Transform transform = Transform::none;
  // Removes slices with fewer nonzeros than this, until all that are left have as many (k-core): one number
  // for all modes, or one for each; empty: none are removed. Indices stay, except in modes with a label for
  // every index, of which only those are kept that still occur.
  std::vector<Index> min_count = {};
  LabelSources labels = {};
  // Dense arrays and texts: zeros are cells that are known, for DecomposeOptions::missing; NaN are missing
  // either way (default: zeros are left out).
  bool dense_zeros = false;
};

// Reads a tensor of any format that docs/formats.md lists, compressed or not. Each process reads a share of
// the files. Warnings are messages of the context and stay in Tensor::notes. Throws Error{bad_input} with
// file and line for a file that cannot be understood. Collective.
Tensor load(const Context& context, const TensorFiles& files, const LoadOptions& options = {});

}  // namespace polyad
