#include "polyad/io/models/kruskal.hpp"
#include "polyad/io/bytes/paths.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>

#include "polyad/base/error.hpp"
#include "polyad/io/arrays/npz.hpp"
#include "polyad/io/bytes/shared_output.hpp"
#include "polyad/io/bytes/staged_directory.hpp"
#include "polyad/io/bytes/zip_archive.hpp"
#include "polyad/io/bytes/zip_writer.hpp"
#include "polyad/io/models/kruskal_formats.hpp"
#include "polyad/io/models/kruskal_text.hpp"
#include "polyad/io/tensors/binary/array_tensor.hpp"
#include "polyad/io/tensors/tensor_format.hpp"
#include "polyad/io/text/number_text.hpp"

namespace polyad::io {
namespace {

namespace fs = std::filesystem;

std::optional<KruskalFormat> file_format(const InputFile& file) {
  std::array<char, 512> bytes{};
  const std::string_view begin(bytes.data(), std::size_t(file.read_some(0, bytes)));
  if (begin.starts_with("PK\x03\x04") || begin.starts_with("PK\x05\x06"))
    return holds_sparse_array(file) ? std::nullopt : std::optional(KruskalFormat::npz);
  // A binary file may have no line within gigabytes.
  if (!file.is_gzip() && begin.find('\0') != std::string_view::npos) return std::nullopt;
  NumberText text(file);
  if (text.next() && text.first_word() == "ktensor") return KruskalFormat::ktensor;
  return std::nullopt;
}

std::optional<KruskalFormat> recognised(const fs::path& path) {
  if (!is_folder(path)) return file_format(InputFile(path));
  return holds_splatt_factors(path) ? std::optional(KruskalFormat::splatt) : std::nullopt;
}

// Whether a file holds a Kruskal tensor of this format, and not any other archive or text.
bool is_model_file(const fs::path& path, KruskalFormat format) {
  try {
    const InputFile file(path);
    if (file_format(file) != format) return false;
    if (format != KruskalFormat::npz) return true;
    return std::ranges::any_of(read_zip_directory(file),
                               [](const ZipMember& member) { return member.name == "weights.npy"; });
  } catch (const Error&) {
    return false;
  }
}

[[noreturn]] void refuse(const fs::path& path, const std::string& why) {
  throw Error(Errc::bad_input, "cannot be written: " + why, {path.string(), 0});
}

// Of rows that begin with the first-named.
void check_finite(const fs::path& path, const std::string& name, Index first, const Matrix<double>& factor) {
  const auto bad = std::ranges::find_if_not(factor.flat(), [](double value) { return std::isfinite(value); });
  if (bad == factor.flat().end()) return;
  const Index place = bad - factor.flat().begin();
  refuse(path, fmt::format("value '{}' in row {} and column {} of {} is not finite", *bad,
                           first + place / factor.num_cols() + 1, place % factor.num_cols() + 1, name));
}

std::string rows_bytes(const Matrix<double>& rows) {
  return {reinterpret_cast<const char*>(rows.flat().data()), rows.flat().size() * sizeof(double)};
}

std::string factor_name(int mode) {
  return fmt::format("factor {}", mode + 1);
}

void check_shape(const fs::path& path, std::span<const double> weights, std::span<const Index> extents) {
  const auto order = std::ssize(extents);
  if (order < min_order || order > max_order)
    refuse(path,
           fmt::format("a tensor of order {}: Polyad takes orders {} to {}", order, min_order, max_order));
  if (weights.empty()) refuse(path, "the tensor has no components");
  for (std::size_t r = 0; r < weights.size(); ++r)
    if (!std::isfinite(weights[r]))
      refuse(path, fmt::format("weight {} is '{}', not finite", r + 1, weights[r]));
  for (int m = 0; m < int(order); ++m)
    if (extents[m] == 0) refuse(path, factor_name(m) + " has no rows");
}

void check_factors(const fs::path& path, const Kruskal<double>& k) {
  for (int m = 0; m < k.order(); ++m) {
    const auto& factor = k.factors[m];
    if (factor.num_cols() != k.num_components())
      refuse(path, fmt::format("{} has {}, but there are {}", factor_name(m),
                               counted(factor.num_cols(), "column"), counted(k.num_components(), "weight")));
    check_finite(path, factor_name(m), 0, factor);
  }
}

void write_as(const fs::path& path, const WritableKruskal& k, KruskalFormat format, const AddFiles& add_files,
              Existing existing) {
  switch (format) {
    case KruskalFormat::splatt:
      return write_splatt_factors(path, k, add_files, existing);
    case KruskalFormat::ktensor:
      return write_ktensor(path, k, existing);
    case KruskalFormat::npz:
      return write_npz(path, k, existing);
  }
}

Kruskal<double> read_recognised(const fs::path& path) {
  const auto format = recognised(path);
  if (!format)
    throw Error(
        Errc::bad_input,
        "is no Kruskal tensor that Polyad knows: a text that begins with 'ktensor', an .npz archive, or a "
        "directory with lambda.mat and mode1.mat",
        {path.string(), 0});
  switch (*format) {
    case KruskalFormat::splatt:
      return read_splatt_factors(path);
    case KruskalFormat::ktensor:
      return read_ktensor(InputFile(path));
    case KruskalFormat::npz:
      return read_npz(InputFile(path));
  }
  throw Error(Errc::internal, "unknown format of Kruskal tensors");
}

}  // namespace

Kruskal<double> read_kruskal(const fs::path& path) {
  Kruskal<double> k;
  read_unchanged(path, {splatt_key}, [&](const fs::path& current) { k = read_recognised(current); });
  return k;
}

void write_kruskal(const fs::path& path, const Kruskal<double>& k, KruskalFormat format,
                   const AddFiles& add_files, Existing existing) {
  std::vector<Index> extents;
  for (const auto& factor : k.factors) extents.push_back(factor.num_rows());
  check_shape(path, k.weights, extents);
  check_factors(path, k);
  write_as(path, {k.weights, extents, [&](int mode, const auto& take) { take(k.factors[mode]); }, k.prepared},
           format, add_files, existing);
}

template <class Real>
void write_kruskal(const fs::path& path, const KruskalRows<Real>& k, KruskalFormat format,
                   const AddFiles& add_files, Existing existing, const ValuePreparation& prepared,
                   const WriteTogether& write_together) {
  check_shape(path, k.weights, k.extents);
  const auto blocks = [&](int mode, const auto& take) {
    for_each_full_block<Real>(k, mode, [&](Index first, const Matrix<double>& block) {
      check_finite(path, factor_name(mode), first, block);
      take(block);
    });
  };
  write_as(path, {k.weights, k.extents, blocks, prepared, write_together}, format, add_files, existing);
}
template void write_kruskal(const fs::path&, const KruskalRows<float>&, KruskalFormat, const AddFiles&,
                            Existing, const ValuePreparation&, const WriteTogether&);
template void write_kruskal(const fs::path&, const KruskalRows<double>&, KruskalFormat, const AddFiles&,
                            Existing, const ValuePreparation&, const WriteTogether&);

void write_mode(OutputFile& out, const WritableKruskal& k, int mode) {
  std::optional<std::vector<StoredPiece>> pieces;
  if (k.write_together && out.can_be_shared())
    out.share(0, [&](const fs::path& file, Index offset) {
      pieces = k.write_together({mode, RowForm::text, file.string(), offset});
    });
  if (!pieces) return k.for_each_block(mode, [&](const Matrix<double>& block) { write_rows(out, block); });
  for (const auto& piece : *pieces) out.skip(piece.bytes);
}

RowSink kruskal_sink(const fs::path& path) {
  const auto out = std::make_shared<SharedOutput>();
  const auto store = [path](int mode, RowForm form, Index first, const Matrix<double>& rows) {
    check_finite(path, factor_name(mode), first, rows);
    return form == RowForm::text ? rows_text(rows) : rows_bytes(rows);
  };
  return {[=](const std::string& file) { return out->open(file, path); }, store,
          [](std::string_view bytes) { return crc_of(bytes); },
          [=](Index offset, std::string_view bytes) { out->write(offset, bytes); }, [=] { out->close(); }};
}

void check_kruskal_place(const fs::path& path, KruskalFormat format, Existing existing) {
  if (format == KruskalFormat::splatt) return check_splatt_place(path, existing);
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored) || fs::file_size(path, ignored) == 0) return;
  if (existing == Existing::refused) refuse_existing(path);
  if (!is_model_file(path, format))
    throw Error(Errc::bad_option,
                "exists and holds something else than a model of this kind; remove it or give another name",
                {path.string(), 0});
}

double predicted_bytes(const fs::path& path, KruskalFormat format, std::span<const Index> extents,
                       Index num_nonzeros, Index num_components) {
  // Of a number as text, and through gzip: of one with all its digits, and of a zero.
  constexpr double text = 22, zero_text = 2, deflated = 7, zero_deflated = 2.0 / 1032;
  const bool is_gzip = has_gzip_extension(path);
  double bytes = 0;
  for (const Index extent : extents) {
    const auto used = double(std::min(extent, num_nonzeros)), empty = double(extent) - used;
    if (format == KruskalFormat::npz)
      bytes += double(extent) * sizeof(double);
    else
      bytes += used * (is_gzip ? deflated : text) + empty * (is_gzip ? zero_deflated : zero_text);
  }
  return bytes * double(num_components);
}

std::optional<KruskalFormat> kruskal_format_by_extension(const fs::path& path) {
  if (path.filename().empty() || is_folder(path)) return KruskalFormat::splatt;
  const auto extension = (has_gzip_extension(path) ? path.stem() : path).extension();
  if (extension == ".ktensor") return KruskalFormat::ktensor;
  if (path.extension() == ".npz") return KruskalFormat::npz;
  if (path.extension().empty()) return KruskalFormat::splatt;
  return std::nullopt;
}

LabelPlace labels_place(const fs::path& path, KruskalFormat format) {
  return format == KruskalFormat::splatt ? labels_of_model_folder(path) : labels_of_model_file(path);
}

bool looks_like_kruskal(const fs::path& path) {
  return recognised(current_directory(path)).has_value();
}

}  // namespace polyad::io
