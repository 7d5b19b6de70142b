#pragma once

#include "polyad/io/tensors/read_tensor.hpp"
#include "polyad/tensor/repeated_cells.hpp"

namespace polyad::io {

// Some coordinates of a model, in the order of their lines.
struct CoordinateBatch {
  std::vector<Array<Index>> indices;  // [mode][line], from 0
  Array<double> values;               // one per line; empty if the file has none

  Index size() const { return indices.empty() ? 0 : Index(indices[0].size()); }
};

// Files of coordinates at which a model is evaluated, with or without values to compare with; several are
// read as if they were one. Of a text of any length, only one batch is in memory at a time.
class CoordinateFile {
 public:
  // Reads everything once, so that all errors are found before the file is used, and the index
  // base is known. options.space is that of the model. If there is a rule for duplicates and the file has
  // values, the lines of a cell become one, at the place of the first, with the value that the rule says; the
  // file is then read once more if it has several batches and a cell occurs twice. Duplicates::refuse only
  // counts. Throws Error{bad_input} with file and line.
  CoordinateFile(std::vector<std::filesystem::path> files, const ReadOptions& options,
                 std::optional<Duplicates> rule = {});
  CoordinateFile(std::filesystem::path file, const ReadOptions& options, std::optional<Duplicates> rule = {})
      : CoordinateFile(std::vector{std::move(file)}, options, rule) {}

  TensorFormat format() const { return format_; }
  bool has_values() const { return has_values_; }
  Index num_coordinates() const { return num_coordinates_; }  // without duplicates that were combined
  Index num_duplicates() const { return repeated_.num_repeated(); }
  Index num_unknown() const { return num_unknown_; }  // skipped, as options.space says
  const std::vector<std::string>& notes() const { return notes_; }

  // Passes all batches to a function; there is at least one, possibly empty.
  void for_each_batch(const std::function<void(const CoordinateBatch&)>& fn) const;

 private:
  enum class IndexBase { settled, is_zero_after_all };

  IndexBase scan();
  void combine_duplicates();
  void merge_lines(CoordinateBatch& batch, Index first_line) const;
  // Passes on the slabs of all files, each with the number of its file.
  void for_each_file_slab(const std::function<void(std::size_t, Slab&&)>& fn) const;
  void check_whole(const std::filesystem::path& file, const Slab& slab) const;
  CoordinateBatch batch_of(Slab&& slab) const;

  std::vector<std::filesystem::path> files_;
  std::vector<std::string> date_notes_;
  ReadOptions options_;
  std::optional<Duplicates> rule_;
  RepeatedCells repeated_;
  TensorFormat format_ = TensorFormat::tns;
  bool has_values_ = true;
  Index num_coordinates_ = 0, num_unknown_ = 0;
  std::vector<std::string> notes_;
  std::optional<CoordinateBatch> only_batch_;  // of a file with a single batch
};

}  // namespace polyad::io
