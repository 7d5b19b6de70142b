#include "polyad/io/tensors/date_columns.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "polyad/base/error.hpp"
#include "polyad/base/parallel.hpp"
#include "polyad/io/bytes/standard_input.hpp"
#include "polyad/io/tensors/file_series.hpp"
#include "polyad/io/tensors/labelled_text.hpp"
#include "polyad/io/tensors/recognition/recognise.hpp"
#include "polyad/io/text/field_roles.hpp"
#include "polyad/io/text/field_splitter.hpp"
#include "polyad/io/text/number_text.hpp"
#include "polyad/io/text/table_sample.hpp"
#include "polyad/io/text/time_text.hpp"

namespace polyad::io {
namespace {

// What has been seen of a column of times.
struct ColumnDates {
  std::size_t mode = 0, field = 0;
  DateOrder order = DateOrder::unknown;
  std::string example;    // which shows the order
  std::string ambiguous;  // a date that does not

  bool is_open() const { return order == DateOrder::unknown && !ambiguous.empty(); }

  void see(std::string_view text) {
    if (order != DateOrder::unknown) return;
    const auto sign = date_sign(text);
    if (sign == DateSign::either && ambiguous.empty()) ambiguous = text;
    if (sign == DateSign::day_first || sign == DateSign::month_first) {
      order = sign == DateSign::day_first ? DateOrder::day_first : DateOrder::month_first;
      example = text;
    }
  }
  // Of the same column further on.
  void add(const ColumnDates& later) {
    if (ambiguous.empty()) ambiguous = later.ambiguous;
    if (order != DateOrder::unknown) return;
    order = later.order;
    example = later.example;
  }
};
using Columns = std::vector<ColumnDates>;

template <class Row>
void see_row(const Row& row, Columns& columns) {
  for (auto& column : columns)
    if (column.field < row.size()) column.see(row[column.field]);
}

bool any_open(const Columns& columns) {
  return std::ranges::any_of(columns, &ColumnDates::is_open);
}

bool has_times_of_unknown_order(const ReadOptions& options) {
  return options.columns && std::ranges::any_of(options.columns->modes, [](const CsvColumn& column) {
           return is_time(column.rule.kind) && column.rule.dates == DateOrder::unknown;
         });
}

Columns columns_of_times(const FieldRoles& roles) {
  Columns columns;
  for (std::size_t m = 0; m < roles.modes.size(); ++m)
    if (is_time(roles.modes[m].rule.kind) && roles.modes[m].rule.dates == DateOrder::unknown)
      columns.push_back({m, roles.modes[m].field, DateOrder::unknown, "", ""});
  return columns;
}

void see_sample(const InputFile& file, const FileHead& head, const ReadOptions& options, Columns& columns) {
  auto form = options.table;
  form.separator = head.separator;
  const auto sample = sample_table(file, head.data_begin, form);
  for (const auto* const rows : {&sample.rows, &sample.last_rows})
    for (const auto& row : *rows) see_row(row, columns);
}

struct LineForm {
  std::string separator;
  std::size_t num_fields;  // of lines that are not left out; 0: of all
};

void see_lines(std::string_view lines, const LineForm& form, Columns& columns) {
  FieldSplitter splitter(form.separator);
  while (!lines.empty() && any_open(columns)) {
    const auto line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(line.size() + 1, lines.size()));
    if (splitter.split(line) && (form.num_fields == 0 || splitter.fields().size() == form.num_fields))
      see_row(splitter.fields(), columns);
  }
}

// All threads look at parts of a range, and what an earlier part shows precedes what a later one does.
void see_range(const TextRange& range, const LineForm& form, Columns& columns) {
  const auto threads = Index(num_threads());
  std::vector<Columns> of_parts(std::size_t(threads), columns);
  parallel_parts(threads, [&](Index first, Index last, int) {
    for (Index part = first; part < last; ++part)
      range.for_each_piece({int(part), int(threads)}, [&](const TextPiece& piece) {
        see_lines(piece.lines, form, of_parts[part]);
        return any_open(of_parts[part]);
      });
  });
  for (const auto& part : of_parts)
    for (std::size_t c = 0; c < columns.size(); ++c) columns[c].add(part[c]);
}

void see_all(const InputFile& file, const FileHead& head, const ReadOptions& options, Columns& columns) {
  constexpr Index step = Index(1) << 24;
  auto whole = options;
  whole.share = {};
  for_each_table_range(file, head, whole, step, [&](const TextRange& range) {
    if (any_open(columns)) see_range(range, {head.separator, std::size_t(options.table.fields)}, columns);
  });
}

std::string note_of(const ColumnDates& column, const CsvColumn& asked, const std::string& name) {
  return fmt::format(
      "the dates in the column {} are read with the month first ({}), as no line shows which it is; {} "
      "{}:{}=dmy reads them with the day first, =mdy confirms the month",
      in_quotes(name), column.ambiguous, option_name("columns"), asked.name, name_of(asked.rule.kind));
}

}  // namespace

ReadOptions settle_dates(const std::vector<std::filesystem::path>& files, const ReadOptions& options,
                         std::vector<std::string>& notes) {
  if (!has_times_of_unknown_order(options)) return options;
  FieldRoles roles;
  Columns columns;
  std::vector<FileHead> heads;
  for (const auto& path : files) {
    const InputFile file = open_input(path);
    heads.push_back(heads.empty() ? recognise(file, options) : recognise_next(file, heads[0], options));
    if (heads.back().format != TensorFormat::csv) return options;  // which the reader refuses
    if (heads.size() == 1) {
      roles = field_roles(file, heads[0], options);
      columns = columns_of_times(roles);
    }
    see_sample(file, heads.back(), options, columns);
  }
  for (std::size_t f = 0; f < files.size() && any_open(columns); ++f)
    see_all(open_input(files[f]), heads[f], options, columns);
  auto settled = options;
  for (const auto& column : columns) {
    auto& mode = settled.columns->modes[column.mode];
    mode.rule.dates = column.order;
    mode.rule.date_example = column.example;
    if (column.is_open()) notes.push_back(note_of(column, mode, roles.modes[column.mode].name));
  }
  return settled;
}

}  // namespace polyad::io
