#pragma once

#include "polyad/io/tensors/read_tensor.hpp"

namespace polyad::io {

// Some coordinates of a model, in the order of their lines.
struct CoordinateBatch {
  std::vector<Array<Index>> indices;  // [mode][line], from 0
  Array<double> values;               // as many; empty when the file has none

  Index size() const { return indices.empty() ? 0 : Index(indices[0].size()); }
};

// A file of coordinates at which a model is to be evaluated, with values to compare with or without. Of a
// text, however long, only one batch is held at a time.
class CoordinateFile {
 public:
  // Reads everything once: so every fault is told before anything is made of the file, and the index base is
  // settled. options.space is the model's. Throws Error{bad_input} with file and line.
  CoordinateFile(std::filesystem::path path, const ReadOptions& options);

  TensorFormat format() const { return format_; }
  bool has_values() const { return has_values_; }
  Index num_coordinates() const { return num_coordinates_; }
  Index num_unknown() const { return num_unknown_; }  // left out, as options.space says
  const std::vector<std::string>& notes() const { return notes_; }

  // Hands over all batches, if empty ones.
  void for_each_batch(const std::function<void(const CoordinateBatch&)>& fn) const;

 private:
  enum class IndexBase { settled, is_zero_after_all };

  IndexBase scan();
  CoordinateBatch batch_of(Slab&& slab) const;

  std::filesystem::path path_;
  ReadOptions options_;
  TensorFormat format_ = TensorFormat::tns;
  bool has_values_ = true;
  Index num_coordinates_ = 0, num_unknown_ = 0;
  std::vector<std::string> notes_;
  std::optional<CoordinateBatch> only_batch_;  // of a file that makes one only
};

}  // namespace polyad::io
