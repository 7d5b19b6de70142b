#pragma once

#include <filesystem>

#include "polyad/io/bytes/input_file.hpp"
#include "polyad/io/bytes/output_file.hpp"
#include "polyad/io/models/kruskal.hpp"
#include "polyad/tensor/kruskal_rows.hpp"
#include "polyad/tensor/row_sink.hpp"

// Readers and writers of Kruskal tensors, for kruskal.cpp alone. The writers are given
// tensors that have been checked.
namespace polyad::io {

// What writers use of a tensor.
struct WritableKruskal {
  std::vector<double> weights;
  std::vector<Index> extents;
  // All rows of a mode, in order and in blocks, without gaps.
  std::function<void(int mode, const std::function<void(const Matrix<double>&)>& take)> for_each_block;
  ValuePreparation prepared = {};
  WriteTogether write_together = {};  // all processes write all rows of a mode

  int order() const { return int(extents.size()); }
  Index num_components() const { return Index(weights.size()); }
};

// Writes a line for each row of a mode: by all processes, where that is possible.
void write_mode(OutputFile& out, const WritableKruskal& k, int mode);

Kruskal<double> read_splatt_factors(const std::filesystem::path& directory);
void write_splatt_factors(const std::filesystem::path& directory, const WritableKruskal& k,
                          const AddFiles& add_files, Existing existing);
void check_splatt_place(const std::filesystem::path& directory, Existing existing);
// Whether the directory contains any file of SPLATT's format, and so is meant as a Kruskal tensor.
bool holds_splatt_factors(const std::filesystem::path& directory);

Kruskal<double> read_ktensor(const InputFile& file);
void write_ktensor(const std::filesystem::path& path, const WritableKruskal& k, Existing existing);

}  // namespace polyad::io
