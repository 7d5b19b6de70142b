#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <span>

#include "polyad/io/bytes/staged_file.hpp"
#include "polyad/io/models/label_files.hpp"
#include "polyad/tensor/kruskal_rows.hpp"

namespace polyad::io {

// The file formats of Kruskal tensors, the results of CP decompositions.
enum class KruskalFormat {
  splatt,   // a directory with lambda.mat and mode1.mat ... modeN.mat, as SPLATT names them
  ktensor,  // the text of Tensor Toolbox, pyttb and GenTen
  npz       // NumPy's archive of arrays: weights, factor_0, factor_1, ...
};

// The file of SPLATT's form without which nothing is read.
inline constexpr const char* splatt_key = "lambda.mat";

// Reads a Kruskal tensor of any of these formats, recognised by content; texts may be gzip. Every number
// is finite. Throws Error{bad_input} with file and line.
Kruskal<double> read_kruskal(const std::filesystem::path& path);

// Writes a Kruskal tensor such that reading it gives the same bits; text is compressed when the name ends
// in .gz. Throws Error{bad_input} when it holds nan or infinity or its factors do not fit together, so
// that nothing is written that cannot be read.
// The model that may be there is replaced in one step, when the new one is complete and durable; in SPLATT's
// form with the labels and the summary.json of the directory, whose other files are kept. `add_files` adds
// the new ones, in the directory that it is given, before that step.
using AddFiles = std::function<void(const std::filesystem::path& directory)>;
void write_kruskal(const std::filesystem::path& path, const Kruskal<double>& k, KruskalFormat format,
                   const AddFiles& add_files = {}, Existing existing = Existing::replaced);
// The same bytes, with a row for every index, from rows that are read some at a time (into npz twice, for a
// sum of all bytes stands before them).
template <class Real>
void write_kruskal(const std::filesystem::path& path, const KruskalRows<Real>& k, KruskalFormat format,
                   const AddFiles& add_files = {}, Existing existing = Existing::replaced);

// Throws the error that writing a model of this format there would end in, as far as it can be known before:
// Error{io}, or Error{bad_option} where something else than a model of this format would be replaced, or a
// model that may not be.
void check_kruskal_place(const std::filesystem::path& path, KruskalFormat format,
                         Existing existing = Existing::replaced);

// About how many bytes a model with these extents will take, of a tensor with so many nonzeros: most indices
// without any have a row of zeros.
double predicted_bytes(const std::filesystem::path& path, KruskalFormat format,
                       std::span<const Index> extents, Index num_nonzeros, Index num_components);

// What the name of an output asks for: .ktensor and .ktensor.gz, .npz, or, for SPLATT, a directory: one
// that exists, a trailing slash, or no extension. Nothing for any other extension.
std::optional<KruskalFormat> kruskal_format_by_extension(const std::filesystem::path& path);

// Whether SPLATT's form has a file of this name in its directory: lambda.mat, mode1.mat, ...
bool is_part_of_splatt_model(const std::filesystem::path& name);

// Where the labels of a Kruskal tensor lie: for SPLATT's form that is inside the directory.
LabelPlace labels_place(const std::filesystem::path& path, KruskalFormat format);

// Whether the content is meant as a Kruskal tensor, from its first lines only: true promises that
// read_kruskal knows the format, not that it finds no fault. Throws Error{io} when nothing can be read.
bool looks_like_kruskal(const std::filesystem::path& path);

}  // namespace polyad::io
