#include "polyad/io/tensors/tensor_format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "polyad/base/error.hpp"

namespace polyad::io {
namespace {

constexpr std::array formats{
    FormatTraits{TensorFormat::tns, "tns", ".tns", "FROSTT text: indices from 1 and a value per line", true},
    FormatTraits{TensorFormat::hiparti, "hiparti", "", "HiParTI text: order, dims, then as tns", true},
    FormatTraits{TensorFormat::frostt, "frostt", "",
                 "extended FROSTT text (MLIR): order and count, dims, then as tns", true},
    FormatTraits{TensorFormat::sptensor, "sptensor", ".sptensor", "Tensor Toolbox, pyttb and GenTen text",
                 true},
    FormatTraits{TensorFormat::dense_tensor, "tensor", "", "Tensor Toolbox dense text, first index fastest",
                 false},
    FormatTraits{TensorFormat::dense_matrix, "matrix", "", "Tensor Toolbox dense matrix text", false},
    FormatTraits{TensorFormat::matrix_market, "mtx", ".mtx", "MatrixMarket coordinate text (order 2)", true},
    FormatTraits{TensorFormat::movielens_tabs, "movielens-tabs", "",
                 "MovieLens u.data: user item rating time", false},
    FormatTraits{TensorFormat::movielens_colons, "movielens-colons", "",
                 "MovieLens ratings.dat: user::item::rating::time", false},
    FormatTraits{TensorFormat::csv, "csv", ".csv", "tables: lines of columns, with or without a header",
                 true},
    FormatTraits{TensorFormat::adjacency, "adjacency", "", "lists: a row and then its columns, as names",
                 false},
    FormatTraits{TensorFormat::wide, "wide", "", "a table with a row per line and values in its columns",
                 false},
    FormatTraits{TensorFormat::openke, "openke", "", "OpenKE triples: their number, then indices from 0",
                 false},
    FormatTraits{TensorFormat::libmf, "libmf", "", "LIBMF text: row, column, value from 0 (order 2)", true},
    FormatTraits{TensorFormat::splatt, "splatt", ".bin", "SPLATT binary", true},
    FormatTraits{TensorFormat::genten, "genten", ".sptn", "GenTen binary", true},
    FormatTraits{TensorFormat::ptb, "ptb", ".ptb", "Polyad binary: checksummed, read in parallel", true},
    FormatTraits{TensorFormat::npy, "npy", "", "NumPy dense array: zeros and NaN are left out", false},
    FormatTraits{TensorFormat::npz, "npz", "", "sparse matrix of SciPy or array of pydata/sparse", false},
    FormatTraits{TensorFormat::mat, "mat", "", "MATLAB file with one array or sparse matrix", false},
};

std::string all_names() {
  std::string names;
  for (const auto& format : formats) names += (names.empty() ? "" : ", ") + std::string(format.name);
  return names;
}

}  // namespace

std::span<const FormatTraits> all_formats() {
  return formats;
}

const FormatTraits& traits(TensorFormat format) {
  return *std::ranges::find(formats, format, &FormatTraits::format);
}

bool is_binary(TensorFormat format) {
  using enum TensorFormat;
  constexpr std::array binaries{splatt, genten, ptb, npy, npz, mat};
  return std::ranges::find(binaries, format) != binaries.end();
}

TensorFormat format_by_name(std::string_view name) {
  const auto found = std::ranges::find(formats, name, &FormatTraits::name);
  if (found == formats.end())
    throw Error(Errc::bad_option,
                fmt::format("there is no format '{}'; the formats are {}", name, all_names()));
  return found->format;
}

bool has_gzip_extension(const std::filesystem::path& path) {
  return path.extension() == ".gz";
}

std::optional<TensorFormat> format_by_extension(const std::filesystem::path& path) {
  const auto extension = (has_gzip_extension(path) ? path.stem() : path).extension().string();
  if (extension.empty()) return std::nullopt;
  const auto found = std::ranges::find(formats, extension, &FormatTraits::extension);
  if (found == formats.end()) return std::nullopt;
  return found->format;
}

}  // namespace polyad::io
