#include "polyad/io/tensors/read_tensor.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "polyad/base/error.hpp"
#include "polyad/base/parallel.hpp"
#include "polyad/io/bytes/standard_input.hpp"
#include "polyad/io/tensors/binary/array_tensor.hpp"
#include "polyad/io/tensors/binary/binary_tensor.hpp"
#include "polyad/io/tensors/coordinate_text.hpp"
#include "polyad/io/tensors/date_columns.hpp"
#include "polyad/io/tensors/dense_text.hpp"
#include "polyad/io/tensors/labelled_text.hpp"
#include "polyad/io/tensors/list_text.hpp"
#include "polyad/io/tensors/recognition/recognise.hpp"
#include "polyad/io/text/number_text.hpp"

namespace polyad::io {
namespace {

bool is_list(TensorFormat format) {
  return format == TensorFormat::adjacency || format == TensorFormat::wide;
}

bool names_its_indices(TensorFormat format) {
  return is_list(format) || format == TensorFormat::csv || format == TensorFormat::movielens_tabs ||
         format == TensorFormat::movielens_colons;
}

bool is_lines_of_indices(TensorFormat format) {
  return !is_binary(format) && !names_its_indices(format) && format != TensorFormat::dense_tensor &&
         format != TensorFormat::dense_matrix;
}

[[noreturn]] void fail(const FileHead& head, Errc code, const std::string& why) {
  throw Error(code, why, {head.path.string(), 0});
}

bool has_index_columns(const ReadOptions& options) {
  return options.columns && std::ranges::any_of(options.columns->modes, [](const CsvColumn& column) {
           return column.rule.kind == ColumnKind::index;
         });
}

void refuse_table_options(const FileHead& head, const ReadOptions& options) {
  const auto refuse = [&](const char* field) {
    fail(
        head, Errc::bad_option,
        fmt::format("{} is for tables (csv); this file is {}", option_name(field), traits(head.format).name));
  };
  const bool is_wide = head.format == TensorFormat::wide;
  const bool is_table = is_wide || head.format == TensorFormat::csv;
  if (options.columns && !is_table) refuse("columns");
  if (options.table.header && !is_table) refuse(*options.table.header ? "header=true" : "header=false");
  if (!options.table.separator.empty() && !is_table && !is_list(head.format)) refuse("separator");
  if (options.table.decimal_comma && !is_table) refuse("decimal_comma");
  if (options.table.multiline && head.format != TensorFormat::csv) refuse("multiline");
  if (options.table.fields != 0 && head.format != TensorFormat::csv) refuse("fields");
  if (options.table.missing && !is_wide)
    fail(head, Errc::bad_option,
         fmt::format("{} is for wide tables, which {} wide reads", option_name("missing"),
                     option_name("LoadOptions::format")));
}

// An option that has no meaning for this format is an error, not ignored.
void check_options(const FileHead& head, const ReadOptions& options) {
  const auto name = traits(head.format).name;
  refuse_table_options(head, options);
  if (options.index_base && head.index_base && *options.index_base != *head.index_base)
    fail(head, Errc::bad_option,
         fmt::format("the format {} counts from {}, {} says {}", name, *head.index_base,
                     option_name("index_base"), *options.index_base));
  if (names_its_indices(head.format) && options.index_base && !has_index_columns(options))
    fail(head, Errc::bad_option,
         fmt::format("{} has no meaning for {}, whose ids are names", option_name("index_base"), name));
}

void check_dims_option(const FileHead& head, const ReadOptions& options) {
  if (!options.dims.empty() && int(options.dims.size()) != head.order)
    fail(head, Errc::bad_option,
         fmt::format("{} states {} dimensions, the tensor has {}", option_name("dims"), options.dims.size(),
                     head.order));
}

// Coordinates of a model have its order. That of a csv or a binary is known later.
void check_space(const FileHead& head, const ReadOptions& options) {
  if (options.space != nullptr && head.order > 0 && head.order != options.space->order())
    fail(head, Errc::bad_input,
         fmt::format("its coordinates have {} modes, the model has {}", head.order, options.space->order()));
}

Slab read_as(const InputFile& file, const FileHead& head, const ReadOptions& options) {
  switch (head.format) {
    case TensorFormat::dense_tensor:
    case TensorFormat::dense_matrix:
      return read_dense_text(file, head, options);
    case TensorFormat::movielens_tabs:
    case TensorFormat::movielens_colons:
    case TensorFormat::csv:
      return read_labelled_text(file, head, options);
    case TensorFormat::adjacency:
    case TensorFormat::wide:
      return read_list_text(file, head, options);
    case TensorFormat::splatt:
      return read_splatt(file, head, options);
    case TensorFormat::genten:
      return read_genten(file, head, options);
    case TensorFormat::ptb:
      return read_ptb(file, head, options);
    case TensorFormat::npy:
      return read_npy_tensor(file, head, options);
    case TensorFormat::npz:
      return read_npz_tensor(file, head, options);
    case TensorFormat::mat:
      return read_mat_tensor(file, head, options);
    default:
      check_dims_option(head, options);
      return read_coordinate_text(file, head, options);
  }
}

void shift_indices(Slab& slab, Index by) {
  for (auto& column : slab.indices) parallel_for(Index(column.size()), [&](Index z) { column[z] += by; });
}

std::vector<Index> maxima(const SlabFacts& whole, int order, Index shift) {
  std::vector<Index> dims;
  for (std::size_t m = 0; m < std::size_t(order); ++m) dims.push_back(whole.max_index[m] + shift + 1);
  return dims;
}

bool exceeds(const std::vector<Index>& needed, const std::vector<Index>& stated) {
  for (std::size_t m = 0; m < needed.size(); ++m)
    if (needed[m] > stated[m]) return true;
  return false;
}

std::string joined(const std::vector<Index>& dims) {
  return fmt::format("{}", fmt::join(dims, "x"));
}

// The dims of the tensor: --dims, else the header's, else the maxima, stretched to what a comment notes.
std::vector<Index> settle_dims(const Slab& slab, const std::vector<Index>& needed, const ReadOptions& options,
                               std::vector<std::string>& notes) {
  const auto& head = slab.head;
  const auto& stated = options.dims.empty() ? head.dims : options.dims;
  if (!stated.empty()) {
    if (exceeds(needed, stated)) {
      // The text was read as counting from 1 and an index fits only then: read on to name the line.
      if (is_binary(head.format))
        fail(head, Errc::bad_option,
             fmt::format("the header states {}, {} {} is smaller", joined(head.dims), option_name("dims"),
                         joined(stated)));
      ReadOptions from_zero = options;
      from_zero.share = {};  // every process finds the same line
      from_zero.index_base = 0;
      from_zero.problems = nullptr;
      if (!head.index_base && !options.index_base) read_slab(head.path, from_zero);
      fail(head, Errc::bad_input,
           fmt::format("the indices reach {}, beyond the stated dims {}", joined(needed), joined(stated)));
    }
    return stated;
  }
  std::vector<Index> dims = needed;
  for (std::size_t m = 0; m < head.noted_dims.size(); ++m) dims[m] = std::max(dims[m], head.noted_dims[m]);
  if (!head.noted_dims.empty() && exceeds(needed, head.noted_dims))
    notes.push_back(fmt::format("the comment '# dims' says {}, but the indices reach {}",
                                joined(head.noted_dims), joined(needed)));
  for (auto& dim : dims) dim = std::max<Index>(dim, 1);
  return dims;
}

void begin_progress(const InputFile& file, const ReadOptions& options) {
  if (options.progress != nullptr)
    options.progress->begin("reading " + file.path().filename().string(),
                            file.is_gzip() ? 0 : file.size() / options.share.parts, "B");
}

// Whether Polyad wrote the text, whose indices then lie within the dims that its comment notes.
bool is_own_text(const FileHead& head, const SlabFacts& whole) {
  if (!head.has_own_comments || std::ranges::min(whole.min_index) < 0) return false;
  for (std::size_t m = 0; m < head.noted_dims.size(); ++m)
    if (whole.max_index[m] >= head.noted_dims[m]) return false;
  return true;
}

}  // namespace

bool counts_from_zero(const FileHead& head, const SlabFacts& whole, const ReadOptions& options) {
  if (options.index_base || head.index_base) return false;
  return std::ranges::min(whole.min_index) == -1;
}

void check_count(const FileHead& head, const SlabFacts& whole, const ReadOptions& options,
                 std::vector<std::string>& notes) {
  const auto report = [&](const std::string& why) {
    if (options.problems == nullptr) fail(head, Errc::bad_input, why);
    options.problems->push_back({0, why});
  };
  if (head.nonzeros && *head.nonzeros != whole.data_lines)
    report(fmt::format("the header announces {}, the file has {}", counted(*head.nonzeros, "nonzero"),
                       whole.data_lines));
  if (is_own_text(head, whole)) {
    // The faulty lines, which have been reported one by one, are in the file.
    const auto faulty = options.problems == nullptr ? 0 : std::ssize(*options.problems);
    if (whole.data_lines + faulty < *head.noted_nonzeros)
      return report(
          fmt::format("is cut short: Polyad wrote {} by the comment '# nnz', the file has {}; without "
                      "that comment it is read as it is",
                      counted(*head.noted_nonzeros, "nonzero"), whole.data_lines));
    if (head.ends_within_line && whole.data_lines == *head.noted_nonzeros)  // else somebody added lines
      return report("is cut short: its last line has no end, as all lines have that Polyad writes");
  }
  if (head.noted_nonzeros && *head.noted_nonzeros != whole.data_lines)
    notes.push_back(fmt::format("the comment '# nnz' says {}, but the file has {}", *head.noted_nonzeros,
                                counted(whole.data_lines, "nonzero")));
}

void note_left_out(const SlabFacts& whole, const ReadOptions& options, std::vector<std::string>& notes) {
  if (whole.lines_left_out > 0)
    notes.push_back(fmt::format("{} not of {} fields {} left out, as {} says",
                                counted(whole.lines_left_out, "line"), options.table.fields,
                                whole.lines_left_out == 1 ? "was" : "were", option_name("fields")));
}

SlabFacts merge(const SlabFacts& a, const SlabFacts& b) {
  SlabFacts both = a;
  both.num_nonzeros += b.num_nonzeros;
  both.data_lines += b.data_lines;
  both.lines_left_out += b.lines_left_out;
  for (std::size_t m = 0; m < max_order; ++m) {
    both.min_index[m] = std::min(a.min_index[m], b.min_index[m]);
    both.max_index[m] = std::max(a.max_index[m], b.max_index[m]);
  }
  return both;
}

Slab read_slab(const std::filesystem::path& path, const ReadOptions& options) {
  const InputFile file = open_input(path);
  const FileHead head = recognise(file, options);
  check_options(head, options);
  begin_progress(file, options);
  Slab slab = read_as(file, head, options);
  check_options(slab.head, options);  // the index base of a binary is known only now
  check_dims_option(slab.head, options);
  if (options.progress != nullptr) options.progress->finish();
  return slab;
}

void for_each_slab(const std::filesystem::path& path, const ReadOptions& options, const SlabFn& fn) {
  const InputFile file = open_input(path);
  const FileHead head = recognise(file, options);
  check_options(head, options);
  check_space(head, options);
  const bool is_labelled =
      names_its_indices(head.format) && !is_list(head.format) && options.space != nullptr;
  if (!is_labelled && !is_lines_of_indices(head.format)) {
    Slab slab = read_slab(path, options);
    check_space(slab.head, options);
    fn(std::move(slab));
    return;
  }
  check_dims_option(head, options);
  begin_progress(file, options);
  if (is_labelled)
    read_labelled_text(file, head, options, fn);
  else
    read_coordinate_text(file, head, options, fn);
  if (options.progress != nullptr) options.progress->finish();
}

LoadedTensor assemble(Slab slab, const SlabFacts& whole, const ReadOptions& options) {
  LoadedTensor loaded;
  loaded.format = slab.head.format;
  loaded.notes = slab.head.notes;
  const bool from_zero = counts_from_zero(slab.head, whole, options);
  loaded.index_base = from_zero ? 0 : options.index_base.value_or(slab.head.index_base.value_or(1));
  if (from_zero) {
    loaded.notes.emplace_back(note_of_zero);
    shift_indices(slab, 1);
  }
  const bool counted =
      slab.head.format != TensorFormat::dense_tensor && slab.head.format != TensorFormat::dense_matrix;
  if (counted) check_count(slab.head, whole, options, loaded.notes);
  note_left_out(whole, options, loaded.notes);
  auto dims = settle_dims(slab, maxima(whole, slab.head.order, from_zero ? 1 : 0), options, loaded.notes);
  loaded.labels = slab.labels.empty() ? std::move(slab.head.labels) : std::move(slab.labels);
  loaded.labels.resize(dims.size());
  loaded.tensor = SparseTensor<double>(std::move(dims), std::move(slab.indices), std::move(slab.values));
  return loaded;
}

LoadedTensor read_tensor(const std::filesystem::path& path, const ReadOptions& given) {
  std::vector<std::string> date_notes;
  const auto options = settle_dates({path}, given, date_notes);
  Slab slab = read_slab(path, options);
  slab.head.notes.insert(slab.head.notes.end(), date_notes.begin(), date_notes.end());
  for (const int mode : modes_of_quantiles(slab)) bin_quantiles(slab, mode, count_labels(slab, mode));
  const SlabFacts whole = slab.facts;
  return assemble(std::move(slab), whole, options);
}

}  // namespace polyad::io
