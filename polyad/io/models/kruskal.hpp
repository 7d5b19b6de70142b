#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <span>

#include "polyad/io/bytes/staged_file.hpp"
#include "polyad/io/models/label_files.hpp"
#include "polyad/tensor/kruskal_rows.hpp"
#include "polyad/tensor/row_sink.hpp"

namespace polyad::io {

// File formats of Kruskal tensors, the results of CP decompositions.
enum class KruskalFormat {
  splatt,   // a directory with lambda.mat and mode1.mat ... modeN.mat, as in SPLATT
  ktensor,  // text of Tensor Toolbox, pyttb and GenTen
  npz       // archive of NumPy arrays: weights, factor_0, factor_1, ...
};

// The file of SPLATT's format that is required for reading.
inline constexpr const char* splatt_key = "lambda.mat";

// Reads a Kruskal tensor of any of these formats, recognised by content; texts may
// be gzip. All numbers are finite. Throws Error{bad_input} with file and line.
Kruskal<double> read_kruskal(const std::filesystem::path& path);

// Writes a Kruskal tensor; reading it gives the same bits. Text is compressed if the name
// ends in .gz. Throws Error{bad_input} for NaN, infinity and factors of inconsistent
// shape, so that everything written can be read. An existing model is replaced in one
// step when the new one is complete and durable; in SPLATT's format together with the
// labels and summary.json of the directory, whose other files are kept. `add_files` adds
// such files to the directory that it is passed, before that step.
using AddFiles = std::function<void(const std::filesystem::path& directory)>;
void write_kruskal(const std::filesystem::path& path, const Kruskal<double>& k, KruskalFormat format,
                   const AddFiles& add_files = {}, Existing existing = Existing::replaced);
// The same bytes, with a row for every index, from rows that are read
// in blocks (for npz twice, because a checksum precedes the data). `prepared` is kept as in Kruskal.
// `write_together`: where it is possible, all processes write, each a part of every factor.
template <class Real>
void write_kruskal(const std::filesystem::path& path, const KruskalRows<Real>& k, KruskalFormat format,
                   const AddFiles& add_files = {}, Existing existing = Existing::replaced,
                   const ValuePreparation& prepared = {}, const WriteTogether& write_together = {});
// What each process needs for write_together, which writes the rows of files that are not compressed.
RowSink kruskal_sink(const std::filesystem::path& path);

// Throws the error that writing a model of this format would end in, as far as
// it can be known beforehand: Error{io}, or Error{bad_option} if something other
// than a model of this format, or a model that may not be replaced, exists.
void check_kruskal_place(const std::filesystem::path& path, KruskalFormat format,
                         Existing existing = Existing::replaced);

// Approximate size in bytes of a model with these extents, of a tensor with
// num_nonzeros nonzeros: most indices without nonzeros have a row of zeros.
double predicted_bytes(const std::filesystem::path& path, KruskalFormat format,
                       std::span<const Index> extents, Index num_nonzeros, Index num_components);

// The format that the name of an output selects: .ktensor and .ktensor.gz, .npz, or, for SPLATT,
// a directory: an existing one, a trailing slash, or no extension. Nothing for other extensions.
std::optional<KruskalFormat> kruskal_format_by_extension(const std::filesystem::path& path);

// Whether this is the name of a file in SPLATT's format: lambda.mat, mode1.mat, ...
bool is_part_of_splatt_model(const std::filesystem::path& name);

// Where the labels of a Kruskal tensor are; for SPLATT's format inside the directory.
LabelPlace labels_place(const std::filesystem::path& path, KruskalFormat format);

// Whether the contents are meant as a Kruskal tensor, from the first lines only: true means that
// read_kruskal knows the format, not that it finds no error. Throws Error{io} if nothing can be read.
bool looks_like_kruskal(const std::filesystem::path& path);

}  // namespace polyad::io
