#include "cli/input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "cli/agreement.hpp"
#include "polyad/base/error.hpp"
#include "polyad/base/memory.hpp"
#include "polyad/base/progress.hpp"
#include "polyad/comm/collective.hpp"
#include "polyad/comm/runtime.hpp"
#include "polyad/io/label_files.hpp"
#include "polyad/io/labelled_text.hpp"
#include "polyad/io/number_text.hpp"
#include "polyad/report/statistics_report.hpp"

namespace polyad::cli {
namespace {

// What --labels says, which may be repeated.
struct LabelOptions {
  struct File {
    int mode = 0;  // from 0
    std::string path, text;
  };
  std::vector<File> files;
  std::string folder;
  bool none = false;
};

LabelOptions parse_label_options(const InputOptions& options) {
  LabelOptions result;
  for (const auto& text : options.labels) {
    const auto equals = text.find('=');
    const auto mode = equals == std::string::npos ? std::nullopt : io::parse_index(text.substr(0, equals));
    std::error_code ignored;
    if (mode && *mode >= 1 && *mode <= max_order && equals + 1 < text.size())
      result.files.push_back({int(*mode) - 1, text.substr(equals + 1), text});
    else if (text == "none")
      result.none = true;
    else if (result.folder.empty() && std::filesystem::is_directory(text, ignored))
      result.folder = text;
    else
      throw Error(Errc::bad_option,
                  fmt::format("--labels {}: expected MODE=FILE, with the mode counted from 1, one folder of "
                              "label files, or none",
                              text));
  }
  if (result.none && options.labels.size() > 1)
    throw Error(Errc::bad_option, "--labels none takes no labels, and other --labels name some");
  return result;
}

// The labels in the files of the owner itself, for modes that have none and of which --labels says nothing.
io::FoundLabels own_labels(const Labelled& owner, const LabelOptions& options) {
  auto wanted = owner.extents;
  for (std::size_t m = 0; m < wanted.size(); ++m)
    if (!owner.labels[m].empty()) wanted[m] = 0;
  for (const auto& file : options.files) wanted[std::size_t(file.mode)] = 0;
  try {
    return io::find_labels(owner.place, wanted);
  } catch (const Error& error) {
    throw Error(error.code(),
                fmt::format("{}; --labels none reads the {} without it", error.what(), owner.kind));
  }
}

// All processes' labels of one mode, told to each: texts ended by a byte that no label holds.
std::vector<std::vector<ModeLabels>> gather_labels(const Comm& comm, const std::vector<ModeLabels>& mine) {
  std::vector<std::vector<ModeLabels>> shares(std::size_t(comm.size()), mine);
  for (std::size_t m = 0; m < mine.size(); ++m) {
    std::vector<char> text;
    for (const auto& label : mine[m].labels) {
      text.insert(text.end(), label.begin(), label.end());
      text.push_back('\n');
    }
    const auto all = comm.all_gather_varying<char>(text);
    const char* p = all.items.data();
    for (int rank = 0; rank < comm.size(); ++rank) {
      auto& labels = shares[rank][m].labels;
      labels.clear();
      const char* const end = p + all.counts[rank];
      while (p < end) {
        const char* const stop = std::find(p, end, '\n');
        labels.emplace_back(p, stop);
        p = stop + 1;
      }
    }
  }
  return shares;
}

void add_format_options(CLI::App& command, InputOptions& options) {
  command.add_option("--input-format", options.format, "Read it as this format, whatever it looks like");
  command.add_option("--index-base", options.index_base, "The first index of every mode (else found out)")
      ->check(CLI::IsMember({0, 1}));
  command.add_option(
      "--labels", options.labels,
      "MODE=FILE: line i of FILE names index i of the mode; a folder: its files mode-MODE*.map do; "
      "none: no label files are read");
}

io::ReadOptions format_options(const InputOptions& options) {
  io::ReadOptions read;
  if (!options.format.empty()) read.format = io::format_by_name(options.format);
  if (options.index_base >= 0) read.index_base = options.index_base;
  if (options.columns.empty() && !options.value.empty())
    throw Error(Errc::bad_option, "--value goes with --columns");
  return read;
}

}  // namespace

void add_input_options(CLI::App& command, InputOptions& options) {
  command.add_option("input", options.path, "The tensor; its format is recognised, through gzip")->required();
  command.add_option("--dims", options.dims,
                     "The dimensions, as in 30x24x659 (else the header's or the maxima)");
  add_format_options(command, options);
  command.add_option("--columns", options.columns,
                     "csv: the columns of the modes, then of the value: user,item,rating; "
                     "NAME:hour|day|week|month bins times, NAME:index takes numbers as they are");
  command.add_option("--value", options.value,
                     "csv: the value's column (1: count lines); then --columns are all modes");
}

void add_coordinate_options(CLI::App& command, InputOptions& options) {
  command
      .add_option("coordinates", options.path,
                  "Where to predict: indices or labels per line, and values to compare with if there are any")
      ->required();
  add_format_options(command, options);
  command.add_option("--columns", options.columns,
                     "csv: the columns of the modes, then of the value if there is one; "
                     "NAME:hour|day|week|month bins times, NAME:index takes numbers as they are");
  command.add_option("--value", options.value, "csv: the value's column; then --columns are all modes");
}

std::vector<std::string> given_options(const InputOptions& options) {
  std::vector<std::string> given;
  const auto add = [&](const std::string& name, const std::string& value) {
    if (!value.empty()) given.insert(given.end(), {name, value});
  };
  add("--input-format", options.format);
  add("--index-base", options.index_base < 0 ? "" : std::to_string(options.index_base));
  add("--dims", options.dims);
  add("--columns", options.columns);
  add("--value", options.value);
  for (const auto& labels : options.labels) add("--labels", labels);
  return given;
}

std::vector<Index> parse_dims(const std::string& text, const std::string& option) {
  std::vector<Index> dims;
  for (std::size_t begin = 0; begin <= text.size();) {
    const auto end = std::min(text.find_first_of("x,", begin), text.size());
    const auto dim = io::parse_index(text.substr(begin, end - begin));
    if (!dim || *dim < 1)
      throw Error(Errc::bad_option,
                  fmt::format("{} {}: expected whole numbers from 1 on, as in 30x24x659", option, text));
    dims.push_back(*dim);
    begin = end + 1;
  }
  return dims;
}

GridShape parse_grid_shape(const std::string& text) {
  const auto dims = parse_dims(text, "--grid");
  if (std::ranges::max(dims) > std::numeric_limits<int>::max())
    throw Error(Errc::bad_option, fmt::format("grid {} has more than 2^31 - 1 processes", text));
  return GridShape({dims.begin(), dims.end()});
}

io::ReadOptions read_options(const InputOptions& options) {
  io::ReadOptions read = format_options(options);
  if (!options.dims.empty()) read.dims = parse_dims(options.dims, "--dims");
  if (!options.columns.empty()) read.columns = io::parse_columns(options.columns, options.value);
  return read;
}

io::ReadOptions read_options(const InputOptions& options, const io::IndexSpace& space) {
  io::ReadOptions read = format_options(options);
  read.space = &space;
  if (!options.columns.empty())
    read.columns = io::parse_coordinate_columns(options.columns, options.value, space.order());
  return read;
}

io::FoundLabels labels_for(const Labelled& owner, const InputOptions& options) {
  const auto chosen = parse_label_options(options);
  for (const auto& file : chosen.files)
    if (file.mode >= int(owner.extents.size()))
      throw Error(Errc::bad_option, fmt::format("--labels {}: the {} has {} modes", file.text, owner.kind,
                                                owner.extents.size()));
  io::FoundLabels found;
  found.labels.resize(owner.extents.size());
  if (!chosen.folder.empty())
    found = io::find_labels_in(chosen.folder, owner.extents);
  else if (!chosen.none)
    found = own_labels(owner, chosen);
  for (const auto& file : chosen.files) {
    const Index extent = owner.extents[std::size_t(file.mode)];
    auto [labels, has_more] = io::read_labels(file.path, io::most_labels(extent));
    if (has_more)
      found.warnings.push_back(
          fmt::format("{} has more than twice as many labels as mode {} has indices, {}; "
                      "the first {} were read",
                      file.path, file.mode + 1, extent, labels.labels.size()));
    found.labels[std::size_t(file.mode)] = std::move(labels);
  }
  return found;
}

void plan_labels(FilePlan& plan, const InputOptions& options) {
  const auto chosen = parse_label_options(options);
  for (const auto& file : chosen.files) plan.reads("the file that --labels names", file.path);
  if (!chosen.folder.empty())
    for (const auto& file : io::label_files_at(io::labels_of_model_folder(chosen.folder)))
      plan.reads("a label file in the folder that --labels names", file);
}

FilePlan plan_input(const InputOptions& options) {
  FilePlan plan;
  plan_labels(plan, options);
  plan.reads_labelled("the input", options.path);
  return plan;
}

std::vector<std::string> add_labels(io::LoadedTensor& loaded, const InputOptions& options) {
  const auto& extents = loaded.tensor.extents();
  auto found = labels_for({"tensor", io::labels_of_tensor(options.path), extents, loaded.labels}, options);
  loaded.notes.insert(loaded.notes.end(), found.warnings.begin(), found.warnings.end());
  for (int m = 0; m < loaded.tensor.order(); ++m) {
    if (!found.labels[m].empty()) loaded.labels[m] = std::move(found.labels[m]);
    const auto count = Index(loaded.labels[m].labels.size());
    if (count > 0 && count < loaded.tensor.extent(m))
      loaded.notes.push_back(
          fmt::format("mode {} has {} indices but {} labels", m + 1, loaded.tensor.extent(m), count));
  }
  return std::move(found.notes);
}

namespace {

// The tensor and its labels. Collective.
void require_same_inputs(const Comm& comm, const InputOptions& options) {
  require_same_files(comm, collectively(comm, [&] { return plan_input(options).input_paths(); }));
}

}  // namespace

io::LoadedTensor load(const Comm& comm, const InputOptions& options, Console& console) {
  io::ReadOptions read = read_options(options);
  read.share = {comm.rank(), comm.size()};
  read.progress = &console.progress();
  require_same_inputs(comm, options);
  const OneProcessWorks patience;  // a slow disk is no fault
  io::Slab slab = collectively(comm, [&] { return io::read_slab(options.path, read); });
  if (comm.size() > 1 && !slab.labels.empty())
    io::relabel(slab, io::unite_labels(gather_labels(comm, slab.labels)));
  io::SlabFacts whole;
  for (const auto& facts : comm.all_gather(slab.facts)) whole = io::merge(whole, facts);
  std::vector<std::string> label_notes;
  io::LoadedTensor loaded = collectively(comm, [&] {
    auto tensor = io::assemble(std::move(slab), whole, read);
    label_notes = add_labels(tensor, options);
    return tensor;
  });
  for (const auto& note : loaded.notes) console.warn(options.path + ": " + note);
  for (const auto& note : label_notes) console.note(options.path + ": " + note);
  return loaded;
}

void warn_of_duplicates(const Console& console, const InputOptions& options, Index count) {
  if (count > 0)
    console.warn(fmt::format("{}: {} added up", options.path, counted_were(count, "duplicate coordinate")));
}

void require_ratings(const io::LoadedTensor& loaded, const std::string& path, const RowNeeds& rows) {
  const auto& x = loaded.tensor;
  if (x.order() != 2)
    throw Error(
        Errc::bad_input,
        fmt::format("has {} modes; ratings have two, users and items (--columns picks them from a csv)",
                    x.order()),
        {path, 0});
  const auto has = double(memory_to_plan_with());
  const double needs = (double(x.extent(0)) + double(x.extent(1))) * rows.bytes_per_row / rows.processes;
  if (needs > has)
    throw Error(
        Errc::resource,
        fmt::format("has numbers up to {} for users and {} for items, and a row for each takes {}, where "
                    "this machine has {}; if they are ids, read them by --columns from a csv, which "
                    "numbers only those that occur",
                    x.extent(0), x.extent(1), with_prefix(needs, "B"), with_prefix(has, "B")),
        {path, 0});
}

void require_one_process(const Comm& comm, const std::string& command) {
  if (comm.size() > 1)
    throw Error(Errc::bad_option,
                fmt::format("polyad {} runs on one process; {} were started", command, comm.size()));
}

}  // namespace polyad::cli
