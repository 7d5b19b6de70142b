#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string_view>

namespace polyad::io {

// The file formats of sparse tensors. Each is recognised by its content; see docs/formats.md.
enum class TensorFormat {
  tns,               // FROSTT: indices and a value per line
  hiparti,           // order, dims, then as tns
  frostt,            // MLIR's extended FROSTT: order and nonzeros, dims, then as tns
  sptensor,          // Tensor Toolbox, pyttb, GenTen
  dense_tensor,      // the same family's `tensor`: every value, first index fastest
  dense_matrix,      // the same family's `matrix`: every value, row after row
  matrix_market,     // coordinate matrices
  movielens_tabs,    // user, item, rating, time with tabs: u.data
  movielens_colons,  // the same with :: between, ratings.dat
  csv,               // a header line and columns
  libmf,             // row, column, value from 0
  splatt,            // SPLATT's binary
  genten,            // GenTen's binary
  ptb                // Polyad's own binary
};

struct FormatTraits {
  TensorFormat format;
  std::string_view name;       // for --input-format and --output-format
  std::string_view extension;  // that chooses it for output; empty: none does
  std::string_view meaning;
  bool writable;
};
std::span<const FormatTraits> all_formats();
const FormatTraits& traits(TensorFormat format);
bool is_binary(TensorFormat format);

// By name, as in --input-format; throws Error{bad_option} that lists the names.
TensorFormat format_by_name(std::string_view name);
// By the extension of an output file, a final .gz aside; nothing when none matches.
std::optional<TensorFormat> format_by_extension(const std::filesystem::path& path);
bool has_gzip_extension(const std::filesystem::path& path);

}  // namespace polyad::io
