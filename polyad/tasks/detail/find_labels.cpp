#include "polyad/tasks/detail/find_labels.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "polyad/base/error.hpp"
#include "polyad/tasks/detail/task_checks.hpp"

namespace polyad::tasks {
namespace {

std::string text_of(const LabelSources::File& file) {
  return fmt::format("{} {}={}", option_name("labels"), file.mode + 1, file.path.string());
}

// The labels in the files of the owner itself, for modes that have none and that the sources do not name.
io::FoundLabels own_labels(const Labelled& owner, const LabelSources& sources) {
  auto wanted = owner.extents;
  for (std::size_t m = 0; m < wanted.size(); ++m)
    if (!owner.labels[m].empty()) wanted[m] = 0;
  for (const auto& file : sources.files) wanted[std::size_t(file.mode)] = 0;
  try {
    return io::find_labels(owner.place, wanted);
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("{}; {} reads the {} without it", error.what(),
                                          option_name("labels.none"), owner.kind));
  }
}

void read_label_file(const LabelSources::File& file, Index extent, io::FoundLabels& found) {
  auto [labels, has_more] = io::read_labels(file.path, io::max_labels(extent));
  if (has_more)
    found.warnings.push_back(
        fmt::format("{} has more than twice as many labels as mode {} has indices, {}; "
                    "the first {} were read",
                    file.path.string(), file.mode + 1, extent, labels.labels.size()));
  found.labels[std::size_t(file.mode)] = std::move(labels);
}

io::ReadOptions format_options(const LoadOptions& options) {
  io::ReadOptions read;
  read.format = options.format;
  read.index_base = options.index_base;
  read.table = options.table;
  if (options.index_base && *options.index_base != 0 && *options.index_base != 1)
    refuse_option(fmt::format("{} {}: expected 0 or 1", option_name("index_base"), *options.index_base));
  if (options.columns.empty() && !options.value.empty())
    refuse_option(fmt::format("{} requires {}", option_name("value"), option_name("columns")));
  return read;
}

}  // namespace

io::FoundLabels find_labels(const Labelled& owner, const LabelSources& sources) {
  for (const auto& file : sources.files)
    if (file.mode < 0 || file.mode >= std::ssize(owner.extents))
      refuse_option(fmt::format("{}: the {} has {} modes", text_of(file), owner.kind, owner.extents.size()));
  io::FoundLabels found;
  found.labels.resize(owner.extents.size());
  if (!sources.folder.empty())
    found = io::find_labels_in(sources.folder, owner.extents);
  else if (!sources.none)
    found = own_labels(owner, sources);
  for (const auto& file : sources.files) read_label_file(file, owner.extents[std::size_t(file.mode)], found);
  return found;
}

std::vector<std::string> add_labels(Tensor& x, const LabelSources& sources) {
  auto found = find_labels({"tensor", io::labels_of_tensor(x.path), x.tensor.extents(), x.labels}, sources);
  x.notes.insert(x.notes.end(), found.warnings.begin(), found.warnings.end());
  for (int m = 0; m < x.tensor.order(); ++m) {
    if (!found.labels[m].empty()) x.labels[m] = std::move(found.labels[m]);
    const auto count = Index(x.labels[m].labels.size());
    if (count > 0 && count < x.tensor.extent(m))
      x.notes.push_back(
          fmt::format("mode {} has {} indices but {} labels", m + 1, x.tensor.extent(m), count));
  }
  return std::move(found.notes);
}

void tell_notes(const Context& context, Tensor& x, const std::vector<std::string>& label_notes) {
  for (auto& note : x.notes) {
    context.warn(x.path + ": " + note);
    note = context.shown(note);
  }
  for (const auto& note : label_notes) context.note(x.path + ": " + note);
}

std::vector<std::filesystem::path> label_files_for(const std::filesystem::path& tensor,
                                                   const LabelSources& sources) {
  std::vector<std::filesystem::path> files;
  for (const auto& file : sources.files) files.push_back(file.path);
  if (!sources.folder.empty())
    for (auto& file : io::label_files_at(io::labels_of_model_folder(sources.folder)))
      files.push_back(std::move(file));
  std::error_code ignored;
  if (!std::filesystem::is_directory(tensor, ignored))
    for (auto& file : io::label_files_at(io::labels_of_tensor(tensor))) files.push_back(std::move(file));
  return files;
}

io::ReadOptions read_options(const LoadOptions& options) {
  auto read = format_options(options);
  read.dims = options.dims;
  if (std::ranges::any_of(options.dims, [](Index dim) { return dim < 1; }))
    refuse_option(
        fmt::format("{} {}: expected numbers from 1 on", option_name("dims"), fmt::join(options.dims, "x")));
  const bool is_wide = options.format == io::TensorFormat::wide;
  if (is_wide && !options.value.empty())
    refuse_option(
        fmt::format("{} does not apply to wide tables, whose columns are values", option_name("value")));
  if (!options.columns.empty())
    read.columns =
        is_wide ? io::parse_wide_columns(options.columns) : io::parse_columns(options.columns, options.value);
  return read;
}

io::ReadOptions read_options(const LoadOptions& options, const io::IndexSpace& space) {
  auto read = format_options(options);
  read.space = &space;
  if (!options.columns.empty())
    read.columns = io::parse_coordinate_columns(options.columns, options.value, space.order());
  return read;
}

}  // namespace polyad::tasks
