#include "polyad/io/arrays/npz.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "polyad/base/error.hpp"
#include "polyad/io/arrays/npy_array.hpp"
#include "polyad/io/arrays/npy_head.hpp"
#include "polyad/io/bytes/zip_writer.hpp"
#include "polyad/io/models/value_record.hpp"
#include "polyad/io/text/number_text.hpp"

namespace polyad::io {
namespace {

using Members = std::vector<ZipMember>;

std::string factor_array_name(Index mode) {  // from 0, as NumPy counts
  return fmt::format("factor_{}", mode);
}

// The member that holds an array; null when there is none.
const ZipMember* find_array(const Members& members, const std::string& name) {
  const auto found = std::ranges::find(members, name + ".npy", &ZipMember::name);
  return found == members.end() ? nullptr : &*found;
}

[[noreturn]] void fail(const InputFile& file, const std::string& why) {
  throw Error(Errc::bad_input, why, {file.path().string(), 0});
}

// How many factors there are; they must be numbered without a gap.
int checked_order(const InputFile& file, const Members& members) {
  int order = 0;
  while (find_array(members, factor_array_name(order)) != nullptr) ++order;
  for (int m = order + 1; m < max_order; ++m)
    if (find_array(members, factor_array_name(m)) != nullptr)
      fail(file,
           fmt::format("{} is missing, but {} is there", factor_array_name(order), factor_array_name(m)));
  if (order == 0)
    fail(file, "factor_0 is missing: expected the arrays weights, factor_0, factor_1 and so on");
  if (order < min_order || order > max_order)
    fail(file,
         fmt::format("a tensor of order {}: Polyad takes orders {} to {}", order, min_order, max_order));
  return order;
}

template <class Numbers>
std::string_view bytes_of(const Numbers& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(double)};
}

}  // namespace

Kruskal<double> read_npz(const InputFile& file) {
  const Members members = read_zip_directory(file);
  const int order = checked_order(file, members);
  Kruskal<double> k;
  if (const auto* weights = find_array(members, "weights")) {
    const auto column = read_npy(file, *weights, "weights", 1);
    k.weights.assign(column.flat().begin(), column.flat().end());
  }
  for (int m = 0; m < order; ++m) {
    k.factors.push_back(read_npy(file, *find_array(members, factor_array_name(m)), factor_array_name(m), 2));
    const Index found = k.factors[m].num_cols();
    const bool by_weights = !k.weights.empty();
    const Index expected = by_weights ? k.num_components() : k.factors[0].num_cols();
    if (found != expected)
      fail(file, fmt::format("{} has {}, expected {} as in {}", factor_array_name(m),
                             counted(found, "column"), expected, by_weights ? "weights" : "factor_0"));
  }
  if (k.weights.empty()) k.weights.assign(std::size_t(k.factors[0].num_cols()), 1.0);
  take_archived_record(file, k.prepared);
  return k;
}

void write_npz(const std::filesystem::path& path, const WritableKruskal& k, Existing existing) {
  OutputFile out(path, OutputFile::Compression::none, existing);
  ZipWriter archive(out);
  archive.add("weights.npy", npy_header(std::array{k.num_components()}), bytes_of(k.weights));
  for (int m = 0; m < k.order(); ++m) {
    const Index num_rows = k.extents[m], num_cols = k.num_components();
    const Index num_bytes = num_rows * num_cols * Index(sizeof(double));
    const auto name = factor_array_name(m) + ".npy";
    const auto head = npy_header(std::array{num_rows, num_cols});
    const auto write_there = [&](const std::filesystem::path& file,
                                 Index offset) -> std::optional<std::uint32_t> {
      const auto pieces = k.write_together({m, RowForm::doubles, file.string(), offset});
      if (!pieces) return std::nullopt;
      std::uint32_t crc = 0;
      for (const auto& piece : *pieces) crc = crc_after(crc, piece.crc, piece.bytes);
      return crc;
    };
    if (k.write_together && out.can_be_shared() && archive.add_shared(name, head, num_bytes, write_there))
      continue;
    archive.add(name, head, {num_bytes, [&](const WriteText& write) {
                               k.for_each_block(
                                   m, [&](const Matrix<double>& block) { write(bytes_of(block.flat())); });
                             }});
  }
  if (const auto record = value_record(k.prepared); !record.empty())
    archive.add(value_record_name, record, "");
  archive.finish();
  out.commit();
}

}  // namespace polyad::io
