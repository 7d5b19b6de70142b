#include "polyad/io/tensors/file_series.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "polyad/base/error.hpp"
#include "polyad/io/bytes/standard_input.hpp"
#include "polyad/io/tensors/date_columns.hpp"
#include "polyad/io/tensors/labelled_text.hpp"
#include "polyad/io/tensors/read_tensor.hpp"
#include "polyad/io/tensors/recognition/recognise.hpp"
#include "polyad/io/tensors/slab_blocks.hpp"

namespace polyad::io {
namespace {

using Paths = std::vector<std::filesystem::path>;

[[noreturn]] void refuse_file(const std::filesystem::path& path, const std::string& why) {
  throw Error(Errc::bad_input, why, {path.string(), 0});
}

bool is_table(TensorFormat format) {
  return format == TensorFormat::csv || format == TensorFormat::wide;
}

bool has_all_cells(TensorFormat format) {
  using enum TensorFormat;
  return format == npy || format == mat || format == dense_tensor || format == dense_matrix;
}

// The share of every file, so that consecutive processes have consecutive parts of the whole; nothing where a
// process has no part of a file. Each has a part of at least one.
std::vector<std::optional<Share>> shares_of(const std::vector<Index>& sizes, Share share) {
  double total = 0, before = 0;
  for (const Index size : sizes) total += double(std::max<Index>(size, 1));
  std::vector<std::optional<Share>> shares;
  const auto boundary = [&](double bytes) { return int(std::lround(bytes / total * double(share.parts))); };
  for (const Index size : sizes) {
    const int first = std::min(boundary(before), share.parts - 1);
    before += double(std::max<Index>(size, 1));
    const int end = std::max(first + 1, boundary(before));
    const bool is_mine = share.part >= first && share.part < end;
    shares.push_back(is_mine ? std::optional(Share{share.part - first, end - first}) : std::nullopt);
  }
  return shares;
}

void stretch(std::vector<Index>& dims, const std::vector<Index>& to) {
  dims.resize(std::max(dims.size(), to.size()), 0);
  for (std::size_t m = 0; m < to.size(); ++m) dims[m] = std::max(dims[m], to[m]);
}

void check_part(const Slab& slab) {
  if (!slab.head.labels.empty() &&
      std::ranges::any_of(slab.head.labels, [](const auto& mode) { return !mode.empty(); }))
    refuse_file(slab.head.path,
                "has labels of its own, and may be read alone only: other files have other indices for them; "
                "convert it to csv first");
  if (slab.head.format == TensorFormat::wide && slab.labels[0].empty())
    refuse_file(
        slab.head.path,
        "has rows that are numbered by their lines, and may be read alone only; a column that names them "
        "(NAME:label) allows several files");
}

// One slab of all, with labels that they share.
Slab concatenated(std::vector<Slab> parts) {
  if (!parts[0].labels.empty()) {
    std::vector<std::vector<ModeLabels>> labels;
    for (const auto& part : parts) labels.push_back(part.labels);
    const auto whole = unite_labels(labels, parts[0].label_rules);
    for (auto& part : parts) relabel(part, whole);
  }
  Slab all;
  SlabBlocks blocks(parts[0].head.order);
  for (auto& part : parts) {
    all.facts = merge(all.facts, part.facts);
    SlabBlock block(parts[0].head.order, 0);
    block.indices = std::move(part.indices);
    block.values = std::move(part.values);
    blocks.append(std::move(block));
  }
  std::move(blocks).concatenate(all);
  all.head = std::move(parts[0].head);
  all.labels = std::move(parts[0].labels);
  all.label_rules = std::move(parts[0].label_rules);
  return all;
}

void append(const std::vector<std::string>& more, std::vector<std::string>& to) {
  to.insert(to.end(), more.begin(), more.end());
}

// The heads of all files, each as the first one was recognised, and the sizes.
std::vector<FileHead> recognise_all(const Paths& files, const ReadOptions& options, ReadOptions& like_first,
                                    std::vector<Index>& sizes) {
  std::vector<FileHead> heads;
  for (const auto& path : files) {
    const InputFile file = open_input(path);
    sizes.push_back(file.size());
    heads.push_back(heads.empty() ? recognise(file, options) : recognise_next(file, heads[0], options));
    if (heads.size() == 1) like_first = options_like(heads[0], options);
  }
  if (has_all_cells(heads[0].format))
    refuse_file(files[0], fmt::format("is {}, which has all cells of a tensor: several files are read as one "
                                      "table or list of nonzeros, but not several arrays",
                                      traits(heads[0].format).name));
  return heads;
}

// Empty: it cannot be recognised.
std::optional<TensorFormat> format_of(const InputFile& file, const ReadOptions& options) {
  try {
    return recognise(file, options).format;
  } catch (const Error&) {
    return std::nullopt;
  }
}

[[noreturn]] void refuse_format(const InputFile& file, std::string_view format, const FileHead& first) {
  refuse_file(
      file.path(),
      fmt::format("is {}, but all files that are read as one are read in the format of the first, {} ({})",
                  format, first.path.string(), traits(first.format).name));
}

// A text whose first line is the name of its format, which may be a comment of another one.
bool begins_with_its_name(TensorFormat format) {
  return format == TensorFormat::matrix_market || format == TensorFormat::sptensor ||
         format == TensorFormat::dense_tensor || format == TensorFormat::dense_matrix;
}

FileHead recognise_like(const InputFile& file, const FileHead& first, const ReadOptions& options) {
  try {
    auto head = recognise(file, options_like(first, options));
    check_fits(head, first);
    return head;
  } catch (const Error&) {
    if (options.format) throw;
    const auto format = format_of(file, options);
    if (format == first.format || (!format && !is_binary(first.format))) throw;
    refuse_format(file, format ? traits(*format).name : "something else", first);
  }
}

}  // namespace

FileHead recognise_next(const InputFile& file, const FileHead& first, const ReadOptions& options) {
  auto head = recognise_like(file, first, options);
  if (options.format || is_binary(first.format)) return head;
  const auto format = format_of(file, options);
  if (format && *format != first.format && begins_with_its_name(*format))
    refuse_format(file, traits(*format).name, first);
  return head;
}

ReadOptions options_like(const FileHead& first, const ReadOptions& options) {
  auto like = options;
  like.format = first.format;
  if (!is_table(first.format)) return like;
  like.table.header = first.has_header;
  like.table.separator = first.separator;
  return like;
}

void check_fits(const FileHead& head, const FileHead& first) {
  const auto other = first.path.string();
  if (is_table(head.format) && head.column_names != first.column_names) {
    if (first.has_header)
      refuse_file(
          head.path,
          fmt::format("its columns are called {}, those of {} {}: files that are read as one "
                      "have the same",
                      fmt::join(head.column_names, ", "), other, fmt::join(first.column_names, ", ")));
    refuse_file(head.path,
                fmt::format("it has {} columns, {} has {}: files that are read as one have the same",
                            head.column_names.size(), other, first.column_names.size()));
  }
  if (head.order != first.order)
    refuse_file(head.path,
                fmt::format("a tensor of order {}, and {} is one of order {}: files that are read as one "
                            "have the same",
                            head.order, other, first.order));
}

SeriesSlab read_series(const Paths& files, const ReadOptions& given) {
  SeriesSlab series;
  std::vector<std::string> notes;
  const auto options = settle_dates(files, given, notes);
  if (files.size() == 1) {
    series.slab = read_slab(files[0], options);
    append(notes, series.slab.head.notes);
    series.heads = {series.slab.head};
    series.facts = {series.slab.facts};
    return series;
  }
  ReadOptions read;
  std::vector<Index> sizes;
  series.heads = recognise_all(files, options, read, sizes);
  const auto shares = shares_of(sizes, options.share);
  std::vector<Slab> parts;
  for (std::size_t f = 0; f < files.size(); ++f) {
    series.facts.emplace_back();
    if (!shares[f]) continue;
    read.share = *shares[f];
    const auto known = read.problems == nullptr ? 0 : read.problems->size();
    Slab part = read_slab(files[f], read);
    for (auto p = known; read.problems != nullptr && p < read.problems->size(); ++p)
      (*read.problems)[p].file = files[f].string();
    check_part(part);
    if (!parts.empty()) check_fits(part.head, parts[0].head);  // the order of a binary is known only now
    series.facts[f] = part.facts;
    parts.push_back(std::move(part));
  }
  series.slab = concatenated(std::move(parts));
  auto& head = series.slab.head;
  for (const auto& other : series.heads) {
    stretch(head.noted_dims, other.noted_dims);
    if (!is_binary(head.format)) stretch(head.dims, other.dims);
  }
  head.notes = std::move(notes);
  for (const auto& note : series.heads[0].notes) head.notes.push_back(files[0].string() + ": " + note);
  // Each file has been, or will be, checked for these.
  head.nonzeros.reset();
  head.noted_nonzeros.reset();
  head.has_own_comments = head.ends_within_line = false;
  return series;
}

void settle_series(SeriesSlab& series, const std::vector<SlabFacts>& whole, const ReadOptions& options) {
  if (series.heads.size() == 1) return;
  auto& head = series.slab.head;
  SlabFacts all;
  for (std::size_t f = 0; f < whole.size(); ++f) {
    all = merge(all, whole[f]);
    std::vector<std::string> notes;
    const auto known = options.problems == nullptr ? 0 : options.problems->size();
    check_count(series.heads[f], whole[f], options, notes);
    for (auto p = known; options.problems != nullptr && p < options.problems->size(); ++p)
      (*options.problems)[p].file = series.heads[f].path.string();
    for (const auto& note : notes) head.notes.push_back(series.heads[f].path.string() + ": " + note);
  }
  if (!is_binary(head.format)) return;
  for (std::size_t m = 0; m < head.dims.size(); ++m) head.dims[m] = all.max_index[m] + 1;
}

LoadedTensor read_tensor_series(const Paths& files, const ReadOptions& options) {
  auto series = read_series(files, options);
  settle_series(series, series.facts, options);
  const SlabFacts whole = series.slab.facts;
  return assemble(std::move(series.slab), whole, options);
}

}  // namespace polyad::io
