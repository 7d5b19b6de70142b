#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "polyad/io/bytes/input_file.hpp"
#include "polyad/io/text/table_form.hpp"
#include "polyad/io/text/time_text.hpp"

namespace polyad::io {

// The first lines of a table, blank ones aside, split into fields.
struct TableSample {
  std::string separator;  // stated or recognised; see TableForm
  // At most 500, with the header, if there is one; of these only lines of TableForm::fields fields, if
  // stated.
  std::vector<std::string> lines;
  std::vector<std::vector<std::string>> rows;  // [line][field]; empty if a quote is not closed
  // Those of lines at the end of a long text that is not compressed: they show whether a column still grows.
  std::vector<std::vector<std::string>> last_rows;

  bool has_first_line = true;  // whether it is among these
  // The first line: how many bytes it takes, from where the sample begins, and how many lines of the text.
  Index header_bytes = 0, header_lines = 0;

  std::size_t num_columns() const { return rows.empty() ? 0 : rows[0].size(); }
};

// Reads the lines from the byte `begin` of the (decompressed) text on.
TableSample sample_table(const InputFile& file, Index begin, const TableForm& form);

// Whether all lines have as many fields as the first one, which has at least `minimum`.
bool is_regular(const TableSample& sample, std::size_t minimum);

// What the first line of a table is, judged by the lines below: a header is no number where all others are,
// or is written differently from them; data repeat, or are written in the same way.
enum class FirstLine { header, data, unknown };
FirstLine judge_first_line(const TableSample& sample);

// What a column seems to contain.
enum class ColumnContent {
  names,         // texts
  date,          // dates, with or without a time of day
  seconds,       // since 1970
  milliseconds,  // since 1970
  ordered,       // whole numbers that never decrease from line to line, with several values: a time or an id
  ids,           // whole numbers from 0 on, most of them different
  numbers,       // other numbers: values, counts, or ids that occur many times
  constant,      // the same number on every line
};
struct ColumnLook {
  ColumnContent content = ColumnContent::names;
  std::size_t num_distinct = 0;
  bool has_empty = false;           // whether a field is empty
  double minimum = 0, maximum = 0;  // of numbers
  DateSign dates = DateSign::none;  // of dates: what they show of the order of day and month
};
// Judges one column of the lines from `first_row` on. Few lines show nothing but names, dates and numbers.
ColumnLook look_at_column(const TableSample& sample, std::size_t column, std::size_t first_row);

}  // namespace polyad::io
