#include "polyad/tasks/detail/find_labels.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "polyad/base/error.hpp"
#include "polyad/io/bytes/standard_input.hpp"
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

// The label files that the sources name.
std::vector<std::filesystem::path> named_files(const LabelSources& sources) {
  std::vector<std::filesystem::path> files;
  for (const auto& file : sources.files) files.push_back(file.path);
  if (!sources.folder.empty())
    for (auto& file : io::label_files_at(io::labels_of_model_folder(sources.folder)))
      files.push_back(std::move(file));
  return files;
}

bool names_any(const LabelSources& sources) {
  return sources.none || !sources.folder.empty() || !sources.files.empty();
}

// Where a tensor has label files of its own; nothing if it is read from several files, or from a stream.
std::optional<io::LabelPlace> own_place(const SourceFiles& source) {
  if (source.files.size() == 1 && io::is_standard_input(source.files[0])) return std::nullopt;
  if (source.files.size() == 1) return io::labels_of_tensor(source.files[0]);
  if (!source.folder.empty()) return io::labels_of_model_folder(source.folder);
  return std::nullopt;
}

void refuse_own_labels(const SourceFiles& source) {
  for (const auto& file : source.files)
    for (const auto& labels : io::label_files_at(io::labels_of_tensor(file)))
      if (!io::is_standard_input(file) && !io::is_label_file(labels.filename()))
        throw Error(
            Errc::bad_input,
            fmt::format("has labels of its own in {}, and the other files may have other indices for them; "
                        "{} reads the indices, {} 1=FILE names labels for all of them",
                        labels.string(), option_name("labels.none"), option_name("labels")),
            {file.string(), 0});
}

io::ReadOptions format_options(const LoadOptions& options) {
  io::ReadOptions read;
  read.format = options.format;
  read.index_base = options.index_base;
  read.table = options.table;
  read.dense_zeros = options.dense_zeros;
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

std::vector<std::string> add_labels(Tensor& x, const SourceFiles& source, const LabelSources& sources) {
  x.path = source.name;
  for (const auto& path : source.given) x.files.push_back(path.string());
  x.notes.insert(x.notes.end(), source.notes.begin(), source.notes.end());
  const auto place = own_place(source);
  auto chosen = sources;
  if (!place) {
    const bool has_names = std::ranges::any_of(x.labels, [](const auto& mode) { return !mode.empty(); });
    if (!has_names && !names_any(sources)) refuse_own_labels(source);
    chosen.none = true;
  }
  auto found =
      find_labels({"tensor", place.value_or(io::LabelPlace()), x.tensor.extents(), x.labels}, chosen);
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

std::vector<std::filesystem::path> label_files_for(const std::filesystem::path& path,
                                                   const LabelSources& sources) {
  auto files = named_files(sources);
  std::error_code ignored;
  if (!std::filesystem::is_directory(path, ignored))
    for (auto& file : io::label_files_at(io::labels_of_tensor(path))) files.push_back(std::move(file));
  return files;
}

std::vector<std::filesystem::path> label_files_for(const SourceFiles& source, const LabelSources& sources) {
  auto files = named_files(sources);
  if (const auto place = own_place(source))
    for (auto& file : io::label_files_at(*place)) files.push_back(std::move(file));
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
