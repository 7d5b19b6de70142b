#include "polyad/tasks/detail/look/seen_file.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "polyad/base/error.hpp"
#include "polyad/io/bytes/byte_stream.hpp"
#include "polyad/io/bytes/standard_input.hpp"
#include "polyad/io/tensors/read_tensor.hpp"
#include "polyad/io/tensors/recognition/foreign_file.hpp"
#include "polyad/io/tensors/recognition/recognise.hpp"
#include "polyad/io/text/number_text.hpp"

namespace polyad::tasks {
namespace {

using Row = std::vector<std::string>;

bool is_lines_of_columns(io::TensorFormat format) {
  using enum io::TensorFormat;
  constexpr std::array formats{tns, csv, movielens_tabs, movielens_colons, libmf};
  return std::ranges::find(formats, format) != formats.end();
}

bool looks_like_adjacency(const io::TableSample& sample) {
  const auto are_indices = [](const Row& row) {
    return std::ranges::all_of(row, [](const auto& field) { return io::parse_index(field).has_value(); });
  };
  return sample.rows.size() > 1 && !io::is_regular(sample, 1) &&
         std::ranges::all_of(sample.rows, are_indices);
}

// What load would refuse a file for is no error here.
template <class Fn>
void or_fault(SeenFile& seen, const Fn& fn) {
  try {
    fn();
  } catch (const Error& e) {
    if (e.code() != Errc::bad_input && e.code() != Errc::bad_option) throw;
    seen.fault = e.message();
  }
}

bool is_text(const io::InputFile& file) {
  constexpr Index enough = 1 << 12;
  std::string begin;
  io::ByteStream(file, enough).next(begin);
  return begin.find('\0') == std::string::npos && io::foreign_kind(begin).empty();
}

// The shape of a binary, by its head and a small part of its nonzeros.
void see_binary(const std::filesystem::path& path, const io::InputFile& file, SeenFile& seen) {
  or_fault(seen, [&] {
    seen.arrays = io::list_arrays(file, seen.head->format);
    if (!seen.arrays.empty()) return;
    io::ReadOptions little;
    little.share = {0, 1 << 20};
    seen.head = io::read_slab(path, little).head;
  });
}

// A table of Parquet or Arrow is read through a copy, which is csv.
std::string format_of(const std::filesystem::path& path, const io::InputFile& file, const SeenFile& seen) {
  if (!seen.head) return "";
  if (!file.is_csv_copy()) return std::string(io::traits(seen.head->format).name);
  std::array<char, 1> first{};
  if (io::is_standard_input(path) || io::InputFile(path).read_some(0, first) < 1) return "parquet or arrow";
  return first[0] == 'P' ? "parquet" : "arrow";
}

void see_columns(bool has_header, SeenFile& seen) {
  seen.first_row = has_header ? 1 : 0;
  for (std::size_t c = 0; c < seen.sample.num_columns(); ++c) {
    seen.looks.push_back(io::look_at_column(seen.sample, c, seen.first_row));
    seen.names.push_back(has_header && !seen.head->column_names[c].empty() ? seen.head->column_names[c]
                                                                           : std::to_string(c + 1));
  }
}

SeenFile see_as(const std::filesystem::path& path, const io::ReadOptions& read) {
  SeenFile seen;
  seen.form = read.table;
  const io::InputFile file = io::open_input(path);
  or_fault(seen, [&] { seen.head = io::recognise(file, read); });
  seen.format = format_of(path, file, seen);
  if (seen.head && io::is_binary(seen.head->format)) {
    see_binary(path, file, seen);
    return seen;
  }
  if (!seen.head && !is_text(file)) return seen;
  const bool is_table = !seen.head || is_lines_of_columns(seen.head->format);
  auto form = read.table;
  if (seen.head && seen.head->format == io::TensorFormat::tns) form.separator = " ";
  // Lines before the data are comments and headers of formats; the header of a table is a line of its own.
  const bool has_header = seen.head && seen.head->format == io::TensorFormat::csv && seen.head->has_header;
  const Index begin = seen.head && !has_header ? seen.head->data_begin : 0;
  seen.sample = io::sample_table(file, is_table ? begin : 0, form);
  seen.is_adjacency = is_table && looks_like_adjacency(seen.sample);
  if (!is_table || seen.sample.rows.empty()) return seen;
  if (io::is_regular(seen.sample, 2)) {
    see_columns(has_header, seen);
  } else {
    const auto [fewest, most] = std::ranges::minmax(seen.sample.rows, {}, &Row::size);
    seen.fewest_fields = fewest.size();
    seen.most_fields = most.size();
  }
  return seen;
}

bool has_open_quotes(const SeenFile& seen) {
  return std::ranges::any_of(seen.sample.rows, [](const Row& row) { return row.empty(); });
}

// The commonest number of fields, of these the largest.
std::size_t usual_fields(const io::TableSample& sample) {
  std::map<std::size_t, std::size_t> lines_of;
  for (const auto& row : sample.rows) ++lines_of[row.size()];
  std::size_t usual = 0;
  for (const auto& [fields, lines] : lines_of)
    if (usual == 0 || lines >= lines_of[usual]) usual = fields;
  return usual;
}

// Whether a column of texts such as 3,5 would be one of numbers.
bool has_decimal_commas(const SeenFile& seen) {
  if (seen.sample.separator == "," || seen.form.decimal_comma) return false;
  const auto is_one = [](const std::string& field) {
    const auto comma = field.find(',');
    if (comma == std::string::npos) return io::parse_real(field).has_value();
    auto number = field;
    number[comma] = '.';
    return io::parse_real(number).has_value();
  };
  for (std::size_t c = 0; c < seen.looks.size(); ++c) {
    if (seen.looks[c].content != io::ColumnContent::names) continue;
    bool are_all = seen.sample.rows.size() > seen.first_row;
    for (std::size_t r = seen.first_row; r < seen.sample.rows.size(); ++r)
      are_all = are_all && is_one(seen.sample.rows[r][c]);
    if (are_all) return true;
  }
  return false;
}

}  // namespace

SeenFile see_file(const std::filesystem::path& path, const io::ReadOptions& read) {
  auto as = read;
  auto seen = see_as(path, as);
  if (seen.is_adjacency || (seen.looks.empty() && seen.most_fields == 0)) return seen;
  bool needs_multiline = false, needs_fields = false;
  // Reads it so, and keeps that if it makes columns of the lines.
  const auto try_again = [&](bool& needs) {
    auto again = see_as(path, as);
    needs = !again.looks.empty();
    again.fewest_fields = seen.fewest_fields;
    again.most_fields = seen.most_fields;
    if (needs) seen = std::move(again);
  };
  if (seen.looks.empty() && has_open_quotes(seen) && !as.table.multiline) {
    as.table.multiline = true;
    try_again(needs_multiline);
  } else if (seen.looks.empty() && seen.fewest_fields > 1 && as.table.fields == 0) {
    as.table.fields = Index(usual_fields(seen.sample));
    try_again(needs_fields);
  }
  seen.needs_multiline = needs_multiline;
  seen.needs_fields = needs_fields;
  if (!has_decimal_commas(seen)) return seen;
  as.table = seen.form;
  as.table.decimal_comma = true;
  bool needs_comma = false;
  try_again(needs_comma);
  seen.needs_decimal_comma = needs_comma;
  seen.needs_multiline = needs_multiline;
  seen.needs_fields = needs_fields;
  return seen;
}

}  // namespace polyad::tasks
