#include "polyad/io/models/label_files.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "polyad/base/error.hpp"
#include "polyad/base/progress.hpp"
#include "polyad/io/bytes/byte_stream.hpp"
#include "polyad/io/bytes/output_file.hpp"
#include "polyad/io/tensors/tensor_format.hpp"
#include "polyad/io/text/number_text.hpp"

namespace polyad::io {
namespace {

namespace fs = std::filesystem;
using Owner = LabelPlace::Owner;

struct MapName {
  int mode = 0;  // from 0
  std::string name;
};

fs::path without_gzip(const fs::path& path) {
  return has_gzip_extension(path) ? path.parent_path() / path.stem() : path;
}

// mode-2-carrier.map.gz -> {1, "carrier"}, and x.mode-2-carrier.map with the prefix "x."
std::optional<MapName> parse_map_name(const fs::path& path, std::string_view prefix) {
  const auto file = without_gzip(path.filename());
  if (file.extension() != ".map") return std::nullopt;
  std::string stem = file.stem().string();
  const auto begin = std::string(prefix) + "mode-";
  if (!stem.starts_with(begin)) return std::nullopt;
  stem.erase(0, begin.size());
  const auto dash = std::min(stem.find('-'), stem.size());
  const auto mode = parse_index(stem.substr(0, dash));
  if (!mode || *mode < 1 || *mode > max_order) return std::nullopt;
  return MapName{int(*mode) - 1, dash < stem.size() ? stem.substr(dash + 1) : ""};
}

// Whatever the prefix.
std::string mode_name_of(const fs::path& path) {
  const std::string name = path.filename().string();
  const auto dot = name.rfind(".mode-");
  const auto parsed = parse_map_name(path, dot == std::string::npos ? "" : name.substr(0, dot + 1));
  return parsed ? parsed->name : "";
}

// Sorted: folders have no order of their own. A folder that cannot be listed has none.
std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  for (; !error && entries != fs::directory_iterator(); entries.increment(error))
    found.push_back(entries->path());
  std::ranges::sort(found);
  return found;
}

std::vector<fs::path> files_of_mode(std::span<const fs::path> entries, std::string_view prefix, int mode) {
  std::vector<fs::path> files;
  for (const auto& path : entries)
    if (const auto name = parse_map_name(path, prefix); name && name->mode == mode) files.push_back(path);
  return files;
}

bool is_regular(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

std::string map_text(const ModeLabels& mode) {
  std::string text;
  for (const auto& label : mode.labels) text += label + '\n';
  return text;
}

// A name of a mode as part of a file name.
std::string file_name(const ModeLabels& mode, std::size_t m) {
  std::string name = mode.name;
  std::ranges::replace_if(
      name, [](char c) { return c == '/' || c == ' ' || static_cast<unsigned char>(c) < 32; }, '_');
  name.resize(std::min<std::size_t>(name.size(), 100));  // file systems have their limits
  return name.empty() ? fmt::format("mode-{}.map", m + 1) : fmt::format("mode-{}-{}.map", m + 1, name);
}

std::string listed(std::span<const std::string> names) {
  constexpr std::size_t maximum = 3;
  if (names.size() > maximum + 1)
    return fmt::format("{} and {} more", fmt::join(names.first(maximum), ", "), names.size() - maximum);
  if (names.size() < 2) return names.empty() ? "" : names[0];
  return fmt::format("{} and {}", fmt::join(names.first(names.size() - 1), ", "), names.back());
}

// A file name without its extensions: "x" for x.tns and x.tns.gz.
std::string stem_of(const fs::path& path) {
  return without_gzip(path.filename()).stem().string();
}

bool is_of_kind(const fs::path& path, Owner owner) {
  if (owner == Owner::tensor) return format_by_extension(path).has_value();
  return without_gzip(path).extension() == ".ktensor" || path.extension() == ".npz";
}

// Another file of the owner's kind in its folder, by their extensions; files that differ in their extensions
// only are the same tensor.
std::optional<std::string> another_owner(const LabelPlace& place, std::span<const fs::path> entries) {
  const auto stem = stem_of(place.file);
  for (const auto& path : entries)
    if (is_of_kind(path, place.owner) && stem_of(path) != stem && is_regular(path))
      return path.filename().string();
  return std::nullopt;
}

class LabelFinder {
 public:
  LabelFinder(const LabelPlace& place, std::span<const Index> extents)
      : place_(place), entries_(entries_of(place.folder)), extents_(extents) {
    found_.labels.resize(extents.size());
  }

  FoundLabels find() && {
    for (std::size_t m = 0; m < extents_.size(); ++m)
      if (extents_[m] > 0) take_named(m);
    if (place_.owner != Owner::model_folder) take_nameless();
    return std::move(found_);
  }

 private:
  // Whether a file is there for the mode.
  bool take_named(std::size_t m) {
    auto files = files_of_mode(entries_, place_.prefix(), int(m));
    pass_over_others(files);
    if (files.empty()) return false;
    read(m, files[0]);
    if (files.size() > 1)
      found_.warnings.push_back(fmt::format("{} label files claim mode {}; {} is taken ({} decides)",
                                            files.size(), m + 1, files[0].filename().string(),
                                            option_name("labels")));
    return true;
  }

  void pass_over_others(std::vector<fs::path>& files) {
    std::erase_if(files, [&](const fs::path& path) {
      if (is_regular(path)) return false;
      found_.warnings.push_back(path.filename().string() + " is no regular file and names nothing");
      return true;
    });
  }

  void read(std::size_t m, const fs::path& path) {
    auto [labels, has_more] = read_labels(path, max_labels(extents_[m]));
    if (has_more)
      found_.warnings.push_back(
          fmt::format("{} has more than twice as many labels as mode {} has indices, "
                      "{}; the first {} were read",
                      path.filename().string(), m + 1, extents_[m], labels.labels.size()));
    found_.labels[m] = std::move(labels);
  }

  // Files without a prefix, which may belong to any tensor.
  void take_nameless() {
    std::vector<std::pair<std::size_t, fs::path>> candidates;
    for (std::size_t m = 0; m < extents_.size(); ++m) {
      if (extents_[m] == 0 || !files_of_mode(entries_, place_.prefix(), int(m)).empty()) continue;
      auto files = files_of_mode(entries_, "", int(m));
      pass_over_others(files);
      if (files.size() > 1)
        found_.warnings.push_back(fmt::format("{} label files claim mode {}; {} is tried ({} decides)",
                                              files.size(), m + 1, files[0].filename().string(),
                                              option_name("labels")));
      if (!files.empty()) candidates.emplace_back(m, files[0]);
    }
    if (candidates.empty()) return;
    if (const auto other = another_owner(place_, entries_))
      tell_left(candidates, *other);
    else
      take(candidates);
  }

  void tell_left(std::span<const std::pair<std::size_t, fs::path>> candidates, const std::string& other) {
    std::vector<std::string> names;
    for (const auto& [m, path] : candidates) names.push_back(path.filename().string());
    found_.notes.push_back(fmt::format(
        "{} {} not taken as labels: the folder also holds {}, and the {} may name its indices; "
        "{} {} takes all such files, the name {}{} makes one belong to this {}",
        listed(names), names.size() == 1 ? "was" : "were", other, names.size() == 1 ? "file" : "files",
        option_name("labels.folder"), place_.folder.string(), place_.prefix(), names[0],
        place_.owner == Owner::tensor ? "tensor" : "model"));
  }

  void take(std::span<const std::pair<std::size_t, fs::path>> candidates) {
    std::vector<std::string> taken;
    for (const auto& [m, path] : candidates) {
      read(m, path);
      auto& labels = found_.labels[m];
      const auto name = path.filename().string();
      if (const auto count = Index(labels.labels.size()); count < extents_[m]) {
        found_.notes.push_back(fmt::format(
            "{} was not taken as labels: it has {} lines, mode {} has {} indices; {} {}={} takes it", name,
            count, m + 1, extents_[m], option_name("labels.files"), m + 1, path.string()));
        labels = {};
      } else {
        taken.push_back(name);
      }
    }
    if (!taken.empty())
      found_.notes.push_back(fmt::format(
          "labels were taken from {}, as the folder holds no other {} ({} takes none)", listed(taken),
          place_.owner == Owner::tensor ? "tensor" : "model", option_name("labels.none")));
  }

  const LabelPlace& place_;
  std::vector<fs::path> entries_;
  std::span<const Index> extents_;
  FoundLabels found_;
};

bool holds_labels(const fs::path& path, const std::vector<std::string>& labels) {
  if (!is_regular(path)) return false;
  const auto [found, has_more] = read_labels(path, Index(labels.size()));
  return !has_more && found.labels == labels;
}

}  // namespace

std::string LabelPlace::prefix() const {
  return owner == Owner::model_folder ? "" : stem_of(file) + ".";
}

LabelPlace labels_of_tensor(const fs::path& tensor) {
  return {Owner::tensor, folder_of(tensor), tensor};
}

LabelPlace labels_of_model_file(const fs::path& model) {
  return {Owner::model_file, folder_of(model), model};
}

LabelPlace labels_of_model_folder(const fs::path& folder) {
  return {Owner::model_folder, folder, {}};
}

Index max_labels(Index extent) {
  return extent > std::numeric_limits<Index>::max() / 2 ? std::numeric_limits<Index>::max() : 2 * extent;
}

bool is_label_file(const fs::path& path) {
  return parse_map_name(path, "").has_value();
}

bool may_be_labels(const LabelPlace& place, const fs::path& name) {
  return is_label_file(name) || parse_map_name(name, place.prefix());
}

std::vector<fs::path> label_files_at(const LabelPlace& place) {
  auto files = entries_of(place.folder);
  std::erase_if(files, [&](const fs::path& path) { return !may_be_labels(place, path); });
  return files;
}

LabelFile read_labels(const fs::path& path, Index maximum) {
  // Names differ from each other, so they do not shrink a thousandfold: a file that would is none of labels.
  constexpr Index always_allowed = Index(1) << 26, max_growth = 64;
  LabelFile result;
  result.labels.name = mode_name_of(path);
  const InputFile file(path);
  LineReader lines(file);
  Index bytes_left = always_allowed + max_growth * file.size();
  for (std::string_view line; lines.next(line);) {
    result.has_more = Index(result.labels.labels.size()) == maximum;
    if (result.has_more) break;
    result.labels.labels.emplace_back(line);
    bytes_left -= Index(sizeof(std::string)) + std::ssize(line);
    if (bytes_left < 0)
      throw Error(Errc::bad_input,
                  fmt::format("its {} bytes make more than {} of labels, more than names do", file.size(),
                              with_prefix(double(always_allowed + max_growth * file.size()), "B")),
                  {path.string(), lines.line_number()});
  }
  return result;
}

FoundLabels find_labels(const LabelPlace& place, std::span<const Index> extents) {
  return LabelFinder(place, extents).find();
}

FoundLabels find_labels_in(const fs::path& folder, std::span<const Index> extents) {
  auto found = find_labels(labels_of_model_folder(folder), extents);
  if (std::ranges::all_of(found.labels, [](const auto& mode) { return mode.empty(); }))
    throw Error(Errc::bad_option, "holds no label files, named mode-<k>[-<name>].map[.gz], for these modes",
                {folder.string(), 0});
  return found;
}

void check_label_files(const LabelPlace& place, std::span<const ModeLabels> labels) {
  const bool is_folder = place.owner == Owner::model_folder;
  for (const auto& path : entries_of(place.folder)) {
    const auto name = parse_map_name(path, place.prefix());
    if (!name) continue;
    const bool has_labels = name->mode < int(labels.size()) && !labels[std::size_t(name->mode)].empty();
    if (has_labels ? holds_labels(path, labels[std::size_t(name->mode)].labels) : is_folder) continue;
    throw Error(Errc::bad_option,
                is_folder ? "holds other labels already; write the tensor to another folder"
                          : "holds other labels already; write the tensor under another name",
                {path.string(), 0});
  }
}

std::vector<fs::path> write_label_files(const LabelPlace& place, std::span<const ModeLabels> labels) {
  check_label_files(place, labels);
  const auto entries = entries_of(place.folder);
  std::vector<fs::path> written;
  for (std::size_t m = 0; m < labels.size(); ++m) {
    // Equal labels that lie there already, perhaps compressed or under another name, are good enough.
    if (labels[m].empty() || !files_of_mode(entries, place.prefix(), int(m)).empty()) continue;
    const auto name = place.prefix() + file_name(labels[m], m);
    const auto path = place.file.empty() ? place.folder / name : place.file.parent_path() / name;
    OutputFile out(path);
    out.write(map_text(labels[m]));
    out.commit();
    written.push_back(path);
  }
  return written;
}

}  // namespace polyad::io
