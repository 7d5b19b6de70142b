#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string_view>

namespace polyad::io {

// File formats of sparse tensors. Each is recognised by its content; see docs/formats.md.
enum class TensorFormat {
  tns,               // FROSTT: indices and a value per line
  hiparti,           // order, dims, then as tns
  frostt,            // MLIR's extended FROSTT: order and nonzeros, dims, then as tns
  sptensor,          // Tensor Toolbox, pyttb, GenTen
  dense_tensor,      // the same family's `tensor`: every value, first index fastest
  dense_matrix,      // the same family's `matrix`: every value, row after row
  matrix_market,     // MatrixMarket, coordinate matrices
  movielens_tabs,    // user, item, rating, time with tabs: u.data
  movielens_colons,  // the same separated by "::": ratings.dat
  csv,               // a header line and columns
  adjacency,         // lists: a row, then its columns
  wide,              // tables with a row per line and a column per index of the last mode
  openke,            // triples of indices from 0 behind their number
  libmf,             // row, column and value, indices from 0
  splatt,            // binary of SPLATT
  genten,            // binary of GenTen
  ptb,               // binary of Polyad
  npy,               // dense array of NumPy
  npz,               // sparse matrix of SciPy or sparse array of pydata
  mat                // array or sparse matrix of MATLAB
};

struct FormatTraits {
  TensorFormat format;
  std::string_view name;       // name for options such as `input_format`
  std::string_view extension;  // extension that selects the format for output; empty: none does
  std::string_view meaning;    // description in a few words
  bool writable;               // whether Polyad writes the format
};
std::span<const FormatTraits> all_formats();
const FormatTraits& traits(TensorFormat format);
bool is_binary(TensorFormat format);

// The format with this name. Throws Error{bad_option} with a list of the names if there is none.
TensorFormat format_by_name(std::string_view name);
// The format for the extension of an output file, ignoring a final .gz; nothing if none matches.
std::optional<TensorFormat> format_by_extension(const std::filesystem::path& path);
bool has_gzip_extension(const std::filesystem::path& path);

}  // namespace polyad::io
