#include "polyad/io/tensors/labelled_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <span>
#include <string>
#include <unordered_map>

#include "polyad/base/error.hpp"
#include "polyad/base/parallel.hpp"
#include "polyad/io/tensors/recognition/recognise.hpp"
#include "polyad/io/tensors/slab_blocks.hpp"
#include "polyad/io/text/field_roles.hpp"
#include "polyad/io/text/field_splitter.hpp"
#include "polyad/io/text/label_table.hpp"
#include "polyad/io/text/line_faults.hpp"
#include "polyad/io/text/number_bins.hpp"
#include "polyad/io/text/number_text.hpp"
#include "polyad/io/text/time_text.hpp"

namespace polyad::io {
namespace {

std::string open_quote(bool multiline) {
  if (multiline) return "a quoted field is not closed, or its quote is not followed by a separator";
  return fmt::format("a quoted field is not closed on its line; {} reads fields with line breaks",
                     option_name("multiline"));
}

std::optional<double> parse_with_comma(std::string_view text) {
  std::string number(text);
  if (number.find('.') != std::string::npos) return std::nullopt;
  std::ranges::replace(number, ',', '.');
  return parse_real(number);
}

// What one thread has read: nonzeros in terms of its own numbering of the labels.
class LabelledPart {
 public:
  LabelledPart(const FieldRoles& roles, const FileHead& head, const ReadOptions& options)
      : roles_(&roles),
        splitter_(head.separator),
        space_(options.space),
        index_base_(options.index_base.value_or(1)),
        decimal_comma_(options.table.decimal_comma),
        multiline_(options.table.multiline),
        only_fields_(options.table.fields),
        numbering_(roles.modes.size()),
        unnumbered_(roles.modes.size()),
        number_of_bin_(roles.modes.size()) {
    for (std::size_t m = 0; space_ != nullptr && m < roles.modes.size(); ++m)
      intervals_.emplace_back(roles.modes[m].rule.kind == ColumnKind::quantiles
                                  ? std::span<const std::string>(space_->labels()[m].labels)
                                  : std::span<const std::string>());
  }

  // Reads one line into the block; returns why that is not possible, or nothing.
  std::string read(std::string_view line, SlabBlock& block) {
    if (!splitter_.split(line)) return open_quote(multiline_);
    const auto& fields = splitter_.fields();
    if (only_fields_ > 0 && Index(fields.size()) != only_fields_) {
      ++num_left_out_;
      return {};
    }
    if (auto fault = check_count(fields.size()); !fault.empty()) return fault;
    double value = 1;
    if (roles_->value) {
      const auto text = fields[*roles_->value];
      const auto parsed = decimal_comma_ ? parse_with_comma(text) : parse_real(text);
      if (!parsed) return fmt::format("value {} is not a number{}", in_quotes(text), comma_hint(text));
      if (!std::isfinite(*parsed)) return fmt::format("value {} is not finite", in_quotes(text));
      value = *parsed;
    }
    for (std::size_t m = 0; m < roles_->modes.size(); ++m)
      if (auto fault = check_label(m, fields[roles_->modes[m].field]); !fault.empty()) return fault;
    if (space_ == nullptr) {
      for (std::size_t m = 0; m < roles_->modes.size(); ++m)
        add_numbered(m, fields[roles_->modes[m].field], line, block.indices[m]);
      block.values.push_back(value);
      return {};
    }
    std::array<Index, max_order> index{};
    for (std::size_t m = 0; m < roles_->modes.size(); ++m) {
      index[m] = number(m, fields[roles_->modes[m].field]);
      if (auto fault = check_place(m, index[m], fields[roles_->modes[m].field]); !fault.empty()) return fault;
    }
    for (std::size_t m = 0; m < roles_->modes.size(); ++m) block.indices[m].push_back(index[m]);
    block.values.push_back(value);
    return {};
  }

  // Numbers the labels of lines that are to go: before these do, and before numbering() is used.
  void finish(SlabBlock& block) {
    for (std::size_t m = 0; m < unnumbered_.size(); ++m) number_labels(m, block.indices[m]);
  }

  const std::vector<LabelTable>& numbering() const { return numbering_; }
  Index num_left_out() const { return num_left_out_; }

 private:
  std::string check_count(std::size_t found) const {
    if (roles_->num_fields == 0) {
      if (found == 3 || found == 4) return {};
      return fmt::format("expected user, item, rating and time, found {} fields", found);
    }
    if (found == roles_->num_fields) return {};
    return fmt::format("expected {} fields as in {}, found {}{}", roles_->num_fields, roles_->example, found,
                       roles_->may_be_of_many_arities
                           ? fmt::format("; {} {} reads the lines of {} fields and leaves out the others",
                                         option_name("fields"), roles_->num_fields, roles_->num_fields)
                           : "");
  }

  // Also bins times and numbers.
  std::string check_label(std::size_t m, std::string_view field) {
    const auto& mode = roles_->modes[m];
    if (field.empty()) return fmt::format("the column {} is empty", in_quotes(mode.name));
    if (mode.rule.kind == ColumnKind::index) {
      const auto index = parse_index(field);
      if (index && *index >= index_base_) return {};
      return fmt::format("{} in the column {} is not a whole number from {} on", in_quotes(field),
                         in_quotes(mode.name), index_base_);
    }
    if (bins_numbers(mode.rule.kind)) return bin_number(m, field);
    if (!is_time(mode.rule.kind)) return {};
    const auto bin = time_bin(field, mode.rule.kind, mode.rule.dates);
    if (!bin) return fault_of_time(mode, field);
    bin_[m] = *bin;
    return {};
  }

  // For a number that has a comma where another was expected; empty for other texts.
  std::string comma_hint(std::string_view text) const {
    const bool has_comma = !decimal_comma_ && std::ranges::count(text, ',') == 1;
    return has_comma && parse_with_comma(text) ? fmt::format(" ({} reads it)", option_name("decimal_comma"))
                                               : "";
  }

  static std::string fault_of_time(const FieldRoles::Mode& mode, std::string_view field) {
    const auto where = fmt::format("{} in the column {}", in_quotes(field), in_quotes(mode.name));
    const auto sign = date_sign(field);
    if (sign != DateSign::day_first && sign != DateSign::month_first)
      return where +
             " is no time: expected a date such as 2014-04-01T13:05, 4/1/2014 1:05 PM or 1.4.2014, or "
             "seconds "
             "since 1970";
    const auto* const found = sign == DateSign::day_first ? "day" : "month";
    const auto* const expected = sign == DateSign::day_first ? "month" : "day";
    if (mode.rule.dates == DateOrder::unknown)
      return fmt::format("{} has the {} first; {} NAME:{}=dmy reads such dates", where, found,
                         option_name("columns"), name_of(mode.rule.kind));
    const auto reason = mode.rule.date_example.empty() ? fmt::format("as {} says", option_name("columns"))
                                                       : fmt::format("as {} in the same column has it",
                                                                     in_quotes(mode.rule.date_example));
    return fmt::format("{} has the {} first: expected the {}, {}", where, found, expected, reason);
  }

  std::string bin_number(std::size_t m, std::string_view field) {
    const auto& mode = roles_->modes[m];
    const auto parsed = decimal_comma_ ? parse_with_comma(field) : parse_real(field);
    if (!parsed || !std::isfinite(*parsed))
      return fmt::format("{} in the column {} is no number to bin{}", in_quotes(field), in_quotes(mode.name),
                         comma_hint(field));
    if (mode.rule.kind == ColumnKind::width) {
      binned_[m] = width_label(*parsed, mode.rule.size);
      if (binned_[m].empty())
        return fmt::format("{} in the column {} is too large for bins of width {}", in_quotes(field),
                           in_quotes(mode.name), mode.rule.size);
    } else if (space_ == nullptr) {
      binned_[m] = number_label(*parsed);
    } else {
      const Index place = intervals_[m].find(*parsed);
      binned_[m] = place < 0 ? std::string(field) : space_->labels()[m].labels[place];
    }
    return {};
  }

  // How to bin a time whose bin is a label of the model; empty for other texts.
  std::string binning_hint(std::size_t mode, std::string_view field) const {
    using Named = std::pair<ColumnKind, const char*>;
    for (const auto& [kind, name] : {Named(ColumnKind::hour, "hour"), Named(ColumnKind::day, "day"),
                                     Named(ColumnKind::week, "week"), Named(ColumnKind::month, "month")}) {
      const auto label = time_label(field, kind);
      if (!label.empty() && label != field && space_->find(int(mode), label) >= 0)
        return fmt::format(", which has {}; {} bins times where a column is named as {}:{}", in_quotes(label),
                           option_name("columns"), roles_->modes[mode].name, name);
    }
    return {};
  }

  // About a label that the model does not have.
  std::string what_to_do(std::size_t mode, std::string_view field) const {
    auto hint = binning_hint(mode, field);
    return hint.empty() ? fmt::format("; {} leaves such lines out", option_name("skip_unknown")) : hint;
  }

  // Whether the model, if there is one, has that index.
  std::string check_place(std::size_t mode, Index index, std::string_view field) const {
    if (space_ == nullptr || (index >= 0 && index < space_->dims()[mode])) return {};
    const auto where =
        fmt::format("{} in the column {}", in_quotes(field), in_quotes(roles_->modes[mode].name));
    if (index == IndexSpace::several)
      return fmt::format("{} names more than one index of mode {} of the model", where, mode + 1);
    if (space_->unknown() != IndexSpace::Unknown::fault) return {};
    if (index == IndexSpace::no_index)
      return fmt::format("{} is no label of mode {} of the model{}", where, mode + 1,
                         what_to_do(mode, field));
    return fmt::format("{} is beyond the dimension {} of the model", where, space_->dims()[mode]);
  }

  Index number(std::size_t mode, std::string_view field) {
    const ColumnKind kind = roles_->modes[mode].rule.kind;
    if (kind == ColumnKind::index) return *parse_index(field) - index_base_;
    if (is_time(kind)) return number_of_bin(mode, kind);
    if (bins_numbers(kind)) field = binned_[mode];
    return space_ != nullptr ? space_->place(int(mode), field) : numbering_[mode].find_or_add(field);
  }

  // The numbers of labels follow later, for many at a time, which is faster; but a label that lies in no line
  // is not there any more then.
  void add_numbered(std::size_t mode, std::string_view field, std::string_view line, Array<Index>& column) {
    const bool is_in_line =
        !std::less<>()(field.data(), line.data()) && !std::less<>()(line.data() + line.size(), field.data());
    if (roles_->modes[mode].rule.kind != ColumnKind::label || !is_in_line) {
      number_labels(mode, column);
      column.push_back(number(mode, field));
      return;
    }
    constexpr std::size_t most = 256;
    unnumbered_[mode].push_back(field);
    if (unnumbered_[mode].size() == most) number_labels(mode, column);
  }

  void number_labels(std::size_t mode, Array<Index>& column) {
    auto& texts = unnumbered_[mode];
    if (texts.empty()) return;
    const auto before = column.size();
    column.resize(before + texts.size());
    numbering_[mode].find_or_add(texts, std::span(column).subspan(before));
    texts.clear();
  }

  // That of a time, whose label is made once.
  Index number_of_bin(std::size_t mode, ColumnKind kind) {
    if (const auto known = number_of_bin_[mode].find(bin_[mode]); known != number_of_bin_[mode].end())
      return known->second;
    const auto label = label_of_bin(bin_[mode], kind);
    const auto index =
        space_ != nullptr ? space_->place(int(mode), label) : numbering_[mode].find_or_add(label);
    number_of_bin_[mode].emplace(bin_[mode], index);
    return index;
  }

  const FieldRoles* roles_;
  FieldSplitter splitter_;
  const IndexSpace* space_;  // gives labels their indices; null: they are numbered here
  Index index_base_;         // of columns with indices
  bool decimal_comma_, multiline_;
  Index only_fields_, num_left_out_ = 0;                   // of lines with other numbers of fields
  std::vector<LabelTable> numbering_;                      // [mode]
  std::vector<std::vector<std::string_view>> unnumbered_;  // [mode]: labels of lines, for numbering_
  std::vector<Intervals> intervals_;    // [mode] of a model whose labels are bins of quantiles
  std::array<Index, max_order> bin_{};  // [mode]: of the time on the line that is read
  std::vector<std::unordered_map<Index, Index>> number_of_bin_;  // [mode]: of times
  std::array<std::string, max_order> binned_;  // [mode]: labels of numbers on the line that is read
};

// new_index[i] for each label i of `numbering`, in terms of `whole`.
std::vector<Index> translation(const LabelTable& numbering, const LabelTable& whole) {
  std::vector<Index> to(std::size_t(numbering.size()));
  whole.find(numbering.texts(), to);
  return to;
}

// Of distinct labels.
LabelTable numbering_of(const std::vector<std::string>& labels) {
  LabelTable numbering;
  for (const auto& label : labels) numbering.find_or_add(label);
  return numbering;
}

// The labels of a mode: names sorted, bins of times and numbers without gaps.
ModeLabels in_order(const LabelTable& known, const std::string& name, const ColumnRule& rule) {
  ModeLabels labels{name, {}};
  labels.labels.assign(known.texts().begin(), known.texts().end());
  if (is_time(rule.kind))
    labels.labels = complete_bins(labels.labels, rule.kind, name);
  else if (rule.kind == ColumnKind::width)
    labels.labels = complete_width_bins(labels.labels, rule.size, name);
  else if (rule.kind == ColumnKind::quantiles)
    sort_numbers(labels.labels);
  else
    sort_labels(labels.labels);
  return labels;
}

void translate(Array<Index>& column, const std::vector<Index>& to) {
  parallel_for(Index(column.size()), [&](Index i) {
    auto& index = column[i];
    index = to[index];
  });
}

class LabelledReader {
 public:
  LabelledReader(const InputFile& file, const FileHead& head, const ReadOptions& options)
      : file_(file), options_(options), roles_(field_roles(file, head, options)) {
    slab_.head = head;
    slab_.head.index_base = 0;
    slab_.head.order = int(roles_.modes.size());
    slab_.head.has_values = roles_.value.has_value();
    for (const auto& mode : roles_.modes) slab_.label_rules.push_back(mode.rule);
    for (int thread = 0; thread < num_threads(); ++thread) parts_.emplace_back(roles_, head, options);
  }

  void read(const TextRange& range) {
    const auto threads = Index(parts_.size());
    std::vector<SlabBlock> blocks(parts_.size(), SlabBlock(slab_.head.order, 0));
    std::vector<std::vector<LineFault>> faults(parts_.size());
    parallel_parts(threads, [&](Index first, Index last, int) {
      for (Index part = first; part < last; ++part)
        range.for_each_piece({int(part), int(threads)}, [&](const TextPiece& piece) {
          if (options_.progress != nullptr) options_.progress->advance(Index(piece.lines.size()));
          return read_piece(piece, parts_[part], blocks[part], faults[part]);
        });
    });
    settle(file_, std::move(faults), options_.problems);
    for (std::size_t part = 0; part < blocks.size(); ++part) {
      blocks_.push_back(std::move(blocks[part]));
      part_of_block_.push_back(part);
    }
  }

  Slab take() && {
    for (int m = 0; m < slab_.head.order && options_.space == nullptr; ++m) number_mode(std::size_t(m));
    SlabBlocks blocks(slab_.head.order);
    for (auto& block : blocks_) blocks.append(std::move(block));
    std::move(blocks).concatenate(slab_);
    slab_.facts.data_lines = slab_.facts.num_nonzeros;
    for (const auto& part : parts_) slab_.facts.lines_left_out += part.num_left_out();
    return std::move(slab_);
  }

 private:
  bool read_piece(const TextPiece& piece, LabelledPart& part, SlabBlock& block,
                  std::vector<LineFault>& faults) {
    const bool goes_on = read_lines(piece, part, block, faults);
    part.finish(block);
    return goes_on;
  }

  bool read_lines(const TextPiece& piece, LabelledPart& part, SlabBlock& block,
                  std::vector<LineFault>& faults) {
    std::string_view rest = piece.lines;
    while (!rest.empty()) {
      const auto line = rest.substr(0, rest.find('\n'));
      const Index offset = piece.offset + (line.data() - piece.lines.data());
      rest.remove_prefix(line.size() + 1);
      if (std::ranges::all_of(line, is_blank)) continue;
      std::string fault = part.read(line, block);
      if (fault.empty()) continue;
      faults.push_back({offset, std::move(fault)});
      if (options_.problems == nullptr) return false;
    }
    return true;
  }

  void number_mode(std::size_t mode) {
    if (roles_.modes[mode].rule.kind == ColumnKind::index) {
      for (const auto& block : blocks_)
        for (const Index index : block.indices[mode]) {
          slab_.facts.min_index[mode] = std::min(slab_.facts.min_index[mode], index);
          slab_.facts.max_index[mode] = std::max(slab_.facts.max_index[mode], index);
        }
      slab_.labels.emplace_back();
      return;
    }
    LabelTable all;
    for (const auto& part : parts_) {
      const auto& labels = part.numbering()[mode].texts();
      std::vector<Index> numbers(labels.size());
      all.find_or_add(labels, numbers);
    }
    ModeLabels labels;
    try {
      labels = in_order(all, roles_.modes[mode].name, roles_.modes[mode].rule);
    } catch (const Error& e) {
      throw Error(e.code(), e.message(), {file_.path().string(), 0});
    }
    all = numbering_of(labels.labels);
    for (std::size_t b = 0; b < blocks_.size(); ++b)
      translate(blocks_[b].indices[mode], translation(parts_[part_of_block_[b]].numbering()[mode], all));
    if (!labels.empty()) {
      slab_.facts.min_index[mode] = 0;
      slab_.facts.max_index[mode] = Index(labels.labels.size()) - 1;
    }
    slab_.labels.push_back(std::move(labels));
  }

  const InputFile& file_;
  const ReadOptions& options_;
  FieldRoles roles_;
  std::vector<LabelledPart> parts_;
  std::vector<SlabBlock> blocks_;
  std::vector<std::size_t> part_of_block_;
  Slab slab_;
};

}  // namespace

void for_each_table_range(const InputFile& file, const FileHead& head, const ReadOptions& options,
                          Index longest, const std::function<void(const TextRange&)>& fn) {
  if (options.table.multiline)
    for_each_quoted_range(file, head.data_begin, head.separator, options.share, fn);
  else
    for_each_range(file, head.data_begin, options.share, fn, longest);
}

Slab read_labelled_text(const InputFile& file, const FileHead& head, const ReadOptions& options) {
  LabelledReader reader(file, head, options);
  for_each_table_range(file, head, options, std::numeric_limits<Index>::max(),
                       [&](const TextRange& range) { reader.read(range); });
  return std::move(reader).take();
}

void read_labelled_text(const InputFile& file, const FileHead& head, const ReadOptions& options,
                        const SlabFn& fn) {
  bool any = false;
  const auto read = [&](const TextRange& range) {
    LabelledReader reader(file, head, options);
    reader.read(range);
    fn(std::move(reader).take());
    any = true;
  };
  for_each_table_range(file, head, options, options.slab_bytes, read);
  if (!any) fn(LabelledReader(file, head, options).take());
}

std::vector<ModeLabels> unite_labels(const std::vector<std::vector<ModeLabels>>& shares,
                                     const std::vector<ColumnRule>& rules) {
  std::vector<ModeLabels> whole;
  for (std::size_t m = 0; !shares.empty() && m < shares[0].size(); ++m) {
    LabelTable all;
    for (const auto& share : shares)
      for (const auto& label : share[m].labels) all.find_or_add(label);
    whole.push_back(in_order(all, shares[0][m].name, rules.empty() ? ColumnRule{} : rules[m]));
  }
  return whole;
}

void relabel(Slab& slab, std::vector<ModeLabels> whole) {
  for (std::size_t m = 0; m < slab.labels.size(); ++m) {
    if (whole[m].empty()) continue;
    const auto to = translation(numbering_of(slab.labels[m].labels), numbering_of(whole[m].labels));
    translate(slab.indices[m], to);
    slab.facts.max_index[m] = Index(whole[m].labels.size()) - 1;
  }
  slab.labels = std::move(whole);
}

std::vector<int> modes_of_quantiles(const Slab& slab) {
  std::vector<int> modes;
  for (std::size_t m = 0; m < slab.labels.size() && m < slab.label_rules.size(); ++m)
    if (slab.label_rules[m].kind == ColumnKind::quantiles) modes.push_back(int(m));
  return modes;
}

std::vector<Index> count_labels(const Slab& slab, int mode) {
  std::vector<Index> counts(slab.labels[mode].labels.size(), 0);
  for (const Index index : slab.indices[mode]) ++counts[index];
  return counts;
}

void bin_quantiles(Slab& slab, int mode, const std::vector<Index>& counts) {
  auto& labels = slab.labels[mode].labels;
  auto bins = quantile_bins(labels, counts, Index(slab.label_rules[mode].size));
  translate(slab.indices[mode], bins.bin_of);
  labels = std::move(bins.labels);
  slab.facts.max_index[mode] = std::ssize(labels) - 1;
}

}  // namespace polyad::io
