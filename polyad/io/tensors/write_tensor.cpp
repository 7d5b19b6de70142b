#include "polyad/io/tensors/write_tensor.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>
#include <vector>

#include "polyad/base/error.hpp"
#include "polyad/base/parallel.hpp"
#include "polyad/io/bytes/output_file.hpp"
#include "polyad/io/bytes/stored_numbers.hpp"
#include "polyad/io/tensors/binary/binary_tensor.hpp"
#include "polyad/io/text/line_writer.hpp"
#include "polyad/io/text/number_text.hpp"
#include "polyad/tensor/slice_counts.hpp"

namespace polyad::io {
namespace {

using Tensor = SparseTensor<double>;

void write_lines(OutputFile& out, Index count, const AppendLine& append_line) {
  io::write_lines([&](std::string_view text) { out.write(text); }, count, append_line);
}

void append_coordinates(std::string& out, const Tensor& x, Index z, Index base, std::string_view separator) {
  for (int m = 0; m < x.order(); ++m) {
    append_number(out, x.indices(m)[z] + base);
    out += separator;
  }
  append_number(out, x.values()[z]);
}

std::string dims_text(const Tensor& x) {
  return fmt::format("{}", fmt::join(x.extents(), " "));
}

std::string head_text(TensorFormat format, const Tensor& x) {
  switch (format) {
    case TensorFormat::tns:
      return fmt::format("# dims: {}\n# nnz: {}\n", dims_text(x), x.num_nonzeros());
    case TensorFormat::hiparti:
      return fmt::format("{}\n{}\n", x.order(), dims_text(x));
    case TensorFormat::frostt:
      return fmt::format("{} {}\n{}\n", x.order(), x.num_nonzeros(), dims_text(x));
    case TensorFormat::sptensor:
      return fmt::format("sptensor\n{}\n{}\n{}\n", x.order(), dims_text(x), x.num_nonzeros());
    case TensorFormat::matrix_market:
      return fmt::format("%%MatrixMarket matrix coordinate real general\n{} {}\n", dims_text(x),
                         x.num_nonzeros());
    default:
      return "";
  }
}

void append_name(std::string& out, std::span<const ModeLabels> labels, int mode, Index index) {
  const auto m = std::size_t(mode);
  if (m < labels.size() && std::size_t(index) < labels[m].labels.size())
    append_field(out, labels[m].labels[index], ',');
  else
    append_number(out, index + 1);
}

// Of the text formats.
AppendLine lines_of(TensorFormat format, const Tensor& x, std::span<const ModeLabels> labels) {
  if (format == TensorFormat::csv)
    return [&x, labels](std::string& text, Index z) {
      for (int m = 0; m < x.order(); ++m) {
        append_name(text, labels, m, x.indices(m)[z]);
        text += ',';
      }
      append_number(text, x.values()[z]);
      text += '\n';
    };
  return [&x, base = Index(format == TensorFormat::libmf ? 0 : 1)](std::string& text, Index z) {
    append_coordinates(text, x, z, base, " ");
    text += '\n';
  };
}

std::string csv_header(const Tensor& x, std::span<const ModeLabels> labels) {
  std::string header;
  for (int m = 0; m < x.order(); ++m) {
    const auto k = std::size_t(m);
    append_field(header,
                 k < labels.size() && !labels[k].name.empty() ? labels[k].name : fmt::format("mode{}", m + 1),
                 ',');
    header += ',';
  }
  return header + "value\n";
}

void write_text(OutputFile& out, TensorFormat format, const Tensor& x, std::span<const ModeLabels> labels) {
  out.write(format == TensorFormat::csv ? csv_header(x, labels) : head_text(format, x));
  write_lines(out, x.num_nonzeros(), lines_of(format, x, labels));
}

// Of the lines of some nonzeros from all over the tensor.
std::string sample_text(TensorFormat format, const Tensor& x, std::span<const ModeLabels> labels,
                        Index num_lines) {
  const auto append_line = lines_of(format, x, labels);
  std::string text;
  for (Index i = 0; i < num_lines; ++i)
    append_line(text, Index(double(i) / double(num_lines) * double(x.num_nonzeros())));
  return text;
}

double binary_bytes(TensorFormat format, std::span<const Index> dims, Index num_nonzeros) {
  const double value = format == TensorFormat::ptb ? 4 : 8;
  double indices = 0;
  for (const Index dim : dims) indices += format == TensorFormat::splatt ? 4 : double(index_width(dim));
  return (indices + value) * double(num_nonzeros);
}

// What deflate makes of it, of the size that it had.
double deflated_share(const std::string& text) {
  auto size = compressBound(uLong(text.size()));
  std::string out(size, '\0');
  compress2(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(text.data()),
            uLong(text.size()), 6);
  return double(size) / double(std::max<std::size_t>(text.size(), 1));
}

bool is_for_matrices(TensorFormat format) {
  return format == TensorFormat::matrix_market || format == TensorFormat::libmf;
}

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& why) {
  throw Error(Errc::bad_option, why, {path.string(), 0});
}

// In csv a label represents its index, so labels must be distinct.
void check_labels(const std::filesystem::path& path, const Tensor& x, std::span<const ModeLabels> labels) {
  for (std::size_t m = 0; m < labels.size(); ++m) {
    if (labels[m].empty()) continue;
    const std::set<std::string_view> distinct(labels[m].labels.begin(), labels[m].labels.end());
    if (distinct.size() != labels[m].labels.size() || distinct.contains("") ||
        Index(labels[m].labels.size()) < x.extent(int(m)))
      refuse(path,
             fmt::format("csv cannot hold mode {}: its labels are not one distinct name for each index; "
                         "ptb can",
                         m + 1));
  }
}

// The dims that a reader finds where the format does not state them: those of the largest indices, and of the
// names that occur.
std::vector<Index> dims_found(TensorFormat format, const Tensor& x, std::span<const ModeLabels> labels) {
  std::vector<Index> dims;
  for (int m = 0; m < x.order(); ++m) {
    const auto indices = x.indices(m);
    const bool has_names =
        format == TensorFormat::csv && std::size_t(m) < labels.size() && !labels[std::size_t(m)].empty();
    if (has_names)
      dims.push_back(std::ssize(count_slices(indices, x.extent(m)).slices));
    else
      dims.push_back(indices.empty() ? 0 : std::ranges::max(indices) + 1);
  }
  return dims;
}

void check_dims(const std::filesystem::path& path, TensorFormat format, const Tensor& x,
                std::span<const ModeLabels> labels) {
  if (format != TensorFormat::csv && format != TensorFormat::libmf) return;
  const auto found = dims_found(format, x, labels);
  if (found == x.extents()) return;
  refuse(path, fmt::format("{} states no dims: these would be read as {}, not {}; tns, ptb{} state them",
                           traits(format).name, fmt::join(found, "x"), fmt::join(x.extents(), "x"),
                           x.order() == 2 ? " and mtx" : " and sptensor"));
}

void check(const std::filesystem::path& path, TensorFormat format, const Tensor& x,
           std::span<const ModeLabels> labels) {
  if (is_for_matrices(format) && x.order() != 2)
    refuse(path,
           fmt::format("{} holds tensors of order 2, this one has order {}", traits(format).name, x.order()));
  if (format == TensorFormat::csv) check_labels(path, x, labels);
}

}  // namespace

TensorFormat output_format(const std::filesystem::path& path, const WriteOptions& options) {
  const auto format = options.format ? options.format : format_by_extension(path);
  if (!format) {
    std::string known;
    for (const auto& candidate : all_formats())
      if (!candidate.extension.empty())
        known += (known.empty() ? "" : ", ") + std::string(candidate.extension);
    refuse(path, fmt::format("its extension names no format; known are {}", known));
  }
  if (!traits(*format).writable)
    refuse(path, fmt::format("{} is only read, not written", traits(*format).name));
  if (is_binary(*format) && has_gzip_extension(path))
    refuse(path, fmt::format("{} is not written through gzip{}", traits(*format).name,
                             *format == TensorFormat::ptb
                                 ? "; " + option_name("compress") + " compresses it by itself"
                                 : ""));
  if (options.compress && *format != TensorFormat::ptb)
    refuse(path, option_name("compress") + " is for ptb; end a text's name in .gz to compress it");
  return *format;
}

bool holds_labels(TensorFormat format) {
  return format == TensorFormat::ptb || format == TensorFormat::csv;
}

void write_tensor(const std::filesystem::path& path, const Tensor& x, std::span<const ModeLabels> labels,
                  const WriteOptions& options) {
  const TensorFormat format = output_format(path, options);
  check(path, format, x, labels);
  check_dims(path, format, x, labels);
  OutputFile out(path,
                 has_gzip_extension(path) ? OutputFile::Compression::gzip : OutputFile::Compression::none,
                 options.existing);
  switch (format) {
    case TensorFormat::splatt:
      write_splatt(out, x);
      break;
    case TensorFormat::genten:
      write_genten(out, x);
      break;
    case TensorFormat::ptb:
      write_ptb(out, x, labels, options.compress ? BlockCompression::deflate : BlockCompression::none);
      break;
    default:
      write_text(out, format, x, labels);
      break;
  }
  out.commit();
}

double predicted_bytes(const std::filesystem::path& path, const Tensor& x, std::span<const ModeLabels> labels,
                       const WriteOptions& options) {
  constexpr Index max_lines = 10'000;
  constexpr double at_best = 0.1;  // of what is predicted: blocks that deflate may hold anything
  const TensorFormat format = output_format(path, options);
  if (is_binary(format))
    return binary_bytes(format, x.extents(), x.num_nonzeros()) * (options.compress ? at_best : 1);
  const Index num_lines = std::min(max_lines, x.num_nonzeros());
  if (num_lines == 0) return 0;
  const auto text = sample_text(format, x, labels, num_lines);
  const double bytes = double(text.size()) / double(num_lines) * double(x.num_nonzeros());
  return has_gzip_extension(path) ? bytes * deflated_share(text) : bytes;
}

// Nearly all indices below 10^k have k digits, and the shortest value has one; deflate cannot do better than
// one to a thousand.
double min_bytes(const std::filesystem::path& path, std::span<const Index> dims, Index num_nonzeros) {
  constexpr double max_deflated = 1032;
  const TensorFormat format = output_format(path, {});
  if (is_binary(format)) return binary_bytes(format, dims, num_nonzeros);
  double line = 2;
  for (const Index dim : dims) line += std::max(1.0, std::floor(std::log10(double(dim)))) + 1;
  return line * double(num_nonzeros) / (has_gzip_extension(path) ? max_deflated : 1);
}

}  // namespace polyad::io
