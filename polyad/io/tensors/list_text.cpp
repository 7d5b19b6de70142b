#include "polyad/io/tensors/list_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "polyad/base/error.hpp"
#include "polyad/io/bytes/byte_stream.hpp"
#include "polyad/io/tensors/labelled_text.hpp"
#include "polyad/io/tensors/recognition/recognise.hpp"
#include "polyad/io/tensors/slab_blocks.hpp"
#include "polyad/io/text/field_splitter.hpp"
#include "polyad/io/text/number_text.hpp"
#include "polyad/io/text/table_sample.hpp"

namespace polyad::io {
namespace {

// Distinct names in the order in which they occur.
class NameList {
 public:
  Index number(const std::string& name) {
    const auto [place, is_new] = index_of_.emplace(name, Index(names_.size()));
    if (is_new) names_.push_back(name);
    return place->second;
  }
  std::vector<std::string> take() && { return std::move(names_); }

 private:
  std::unordered_map<std::string, Index> index_of_;
  std::vector<std::string> names_;
};

// Which columns of a wide table name its rows, and which hold values.
struct WideColumns {
  std::vector<std::size_t> names, values;
};

std::size_t wide_column(const FileHead& head, const std::string& name) {
  const auto found = std::ranges::find(head.column_names, name);
  if (found != head.column_names.end()) return std::size_t(found - head.column_names.begin());
  const auto number = parse_index(name.starts_with('#') ? name.substr(1) : name);
  if (!number || *number < 1 || *number > std::ssize(head.column_names))
    throw Error(Errc::bad_option,
                option_name("#columns") + fmt::format("has no column {}; it has {} columns", in_quotes(name),
                                                      head.column_names.size()),
                {head.path.string(), 0});
  return std::size_t(*number) - 1;
}

WideColumns wide_columns(const InputFile& file, const FileHead& head, const ReadOptions& options) {
  WideColumns columns;
  if (options.columns) {
    for (const auto& mode : options.columns->modes) columns.names.push_back(wide_column(head, mode.name));
    for (const auto& name : options.columns->wide_values) columns.values.push_back(wide_column(head, name));
    return columns;
  }
  const auto sample = sample_table(file, head.data_begin, {.separator = head.separator});
  for (std::size_t c = 0; c < head.column_names.size(); ++c) {
    const auto content = look_at_column(sample, c, 0).content;
    const bool is_name = content == ColumnContent::names || content == ColumnContent::date;
    (is_name ? columns.names : columns.values).push_back(c);
  }
  return columns;
}

class ListReader {
 public:
  ListReader(const InputFile& file, const FileHead& head, const ReadOptions& options)
      : file_(file), head_(head), options_(options), splitter_(head.separator), block_(order(), 0) {
    names_.resize(std::size_t(order()));
    const auto& values = columns_.values;
    for (const std::size_t c : values) names_.back().number(head.column_names[c]);
  }

  void read() {
    LineReader lines(file_);
    for (std::string_view line; lines.next(line);) {
      if (lines.line_begin() < head_.data_begin || split_blanks(line).empty()) continue;
      if (!splitter_.split(line))
        report(lines.line_number(), "a quoted field is not closed on its line");
      else if (const auto fault = is_wide() ? read_wide() : read_list(); !fault.empty())
        report(lines.line_number(), fault);
      ++row_;
    }
  }

  Slab take() && {
    Slab slab;
    slab.head = head_;
    slab.head.index_base = 0;
    slab.head.order = order();
    slab.head.has_values = is_wide();
    SlabBlocks blocks(order());
    const auto count = Index(block_.values.size());
    blocks.append(std::move(block_));
    std::move(blocks).concatenate(slab);
    slab.facts.num_nonzeros = slab.facts.data_lines = count;
    for (std::size_t m = 0; m < names_.size(); ++m) {
      slab.labels.push_back({name_of(m), std::move(names_[m]).take()});
      const bool is_numbered = slab.labels[m].labels.empty();
      const Index extent = is_numbered ? row_ : Index(slab.labels[m].labels.size());
      if (is_numbered) slab.labels[m] = {};
      slab.facts.min_index[m] = 0;
      slab.facts.max_index[m] = extent - 1;
    }
    auto sorted = unite_labels({slab.labels}, {});
    relabel(slab, std::move(sorted));
    return slab;
  }

 private:
  bool is_wide() const { return head_.format == TensorFormat::wide; }
  bool is_mine() const { return row_ % options_.share.parts == options_.share.part; }
  int order() const { return is_wide() ? int(std::max<std::size_t>(columns_.names.size(), 1)) + 1 : 2; }

  std::string name_of(std::size_t mode) const {
    if (!is_wide()) return mode == 0 ? "row" : "column";
    if (mode >= columns_.names.size()) return "column";
    return (head_.has_header ? "" : "column") + head_.column_names[columns_.names[mode]];
  }

  std::string read_list() {
    const auto& fields = splitter_.fields();
    const Index row = names_[0].number(std::string(fields[0]));
    for (std::size_t f = 1; f < fields.size(); ++f) {
      if (fields[f].empty()) continue;
      const Index column = names_[1].number(std::string(fields[f]));
      if (!is_mine()) continue;
      block_.indices[0].push_back(row);
      block_.indices[1].push_back(column);
      block_.values.push_back(1);
    }
    return {};
  }

  std::string read_wide() {
    const auto& fields = splitter_.fields();
    if (fields.size() != head_.column_names.size())
      return fmt::format("expected {} fields as in the first line, found {}", head_.column_names.size(),
                         fields.size());
    std::vector<Index> at{row_};
    if (!columns_.names.empty()) at.clear();
    for (std::size_t m = 0; m < columns_.names.size(); ++m) {
      const auto name = fields[columns_.names[m]];
      if (name.empty()) return fmt::format("the column {} is empty", in_quotes(name_of(m)));
      at.push_back(names_[m].number(std::string(name)));
    }
    for (std::size_t c = 0; c < columns_.values.size(); ++c) {
      const auto text = fields[columns_.values[c]];
      const auto value = cell(text);
      if (!value) return fmt::format("value {} is not a number", in_quotes(text));
      if (std::isnan(*value) || value == options_.table.missing || !is_mine()) continue;
      if (std::isinf(*value)) return fmt::format("value {} is not finite", in_quotes(text));
      for (std::size_t m = 0; m < at.size(); ++m) block_.indices[m].push_back(at[m]);
      block_.indices[at.size()].push_back(Index(c));
      block_.values.push_back(*value);
    }
    return {};
  }

  // NaN: missing.
  std::optional<double> cell(std::string_view text) const {
    if (text.empty() || text == "NA") return std::nan("");
    if (!options_.table.decimal_comma) return parse_real(text);
    std::string number(text);
    std::ranges::replace(number, ',', '.');
    return parse_real(number);
  }

  void report(Index line, std::string why) {
    if (options_.problems == nullptr) throw Error(Errc::bad_input, why, {file_.path().string(), line});
    options_.problems->push_back({line, std::move(why)});
  }

  const InputFile& file_;
  const FileHead& head_;
  const ReadOptions& options_;
  WideColumns columns_ = is_wide() ? wide_columns(file_, head_, options_) : WideColumns();
  FieldSplitter splitter_;
  SlabBlock block_;
  std::vector<NameList> names_;
  Index row_ = 0;
};

}  // namespace

Slab read_list_text(const InputFile& file, const FileHead& head, const ReadOptions& options) {
  if (options.space != nullptr)
    throw Error(Errc::bad_option,
                fmt::format("{} is not read as coordinates of a model", traits(head.format).name),
                {file.path().string(), 0});
  ListReader reader(file, head, options);
  reader.read();
  return std::move(reader).take();
}

}  // namespace polyad::io
