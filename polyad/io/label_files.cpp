#include "polyad/io/label_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "polyad/base/error.hpp"
#include "polyad/io/byte_stream.hpp"
#include "polyad/io/number_text.hpp"
#include "polyad/io/output_file.hpp"

namespace polyad::io {
namespace {

struct MapName {
  int mode = 0;  // from 0
  std::string name;
};

// mode-2-carrier.map.gz -> {1, "carrier"}
std::optional<MapName> parse_map_name(std::filesystem::path path) {
  if (path.extension() == ".gz") path = path.parent_path() / path.stem();
  if (path.extension() != ".map") return std::nullopt;
  std::string stem = path.stem().string();
  if (!stem.starts_with("mode-")) return std::nullopt;
  stem.erase(0, 5);
  const auto dash = std::min(stem.find('-'), stem.size());
  const auto mode = parse_index(stem.substr(0, dash));
  if (!mode || *mode < 1 || *mode > max_order) return std::nullopt;
  return MapName{int(*mode) - 1, dash < stem.size() ? stem.substr(dash + 1) : ""};
}

// Those of one mode (from 0).
std::vector<std::filesystem::path> files_of_mode(const std::filesystem::path& tensor, int mode) {
  auto files = label_files_beside(tensor);
  std::erase_if(files, [&](const auto& path) { return parse_map_name(path.filename())->mode != mode; });
  return files;
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
      name, [](char c) { return c == '/' || c == ' ' || unsigned(c) < 32; }, '_');
  name.resize(std::min<std::size_t>(name.size(), 100));  // file systems have their limits
  return name.empty() ? fmt::format("mode-{}.map", m + 1) : fmt::format("mode-{}-{}.map", m + 1, name);
}

}  // namespace

bool is_label_file(const std::filesystem::path& path) {
  return parse_map_name(path.filename()).has_value();
}

// Sorted: folders have no order of their own.
std::vector<std::filesystem::path> label_files_beside(const std::filesystem::path& tensor) {
  std::vector<std::filesystem::path> found;
  std::error_code ignored;
  const auto folder = tensor.has_parent_path() ? tensor.parent_path() : ".";
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored))
    if (is_label_file(entry.path())) found.push_back(entry.path());
  std::ranges::sort(found);
  return found;
}

ModeLabels read_labels(const std::filesystem::path& path) {
  ModeLabels result;
  if (const auto name = parse_map_name(path)) result.name = name->name;
  const InputFile file(path);
  LineReader lines(file);
  for (std::string_view line; lines.next(line);) result.labels.emplace_back(line);
  return result;
}

FoundLabels find_labels_beside(const std::filesystem::path& tensor, int order) {
  FoundLabels found{std::vector<ModeLabels>(std::size_t(order)), {}};
  for (int m = 0; m < order; ++m) {
    const auto claims = files_of_mode(tensor, m);
    if (claims.empty()) continue;
    found.labels[m] = read_labels(claims[0]);
    if (claims.size() > 1)
      found.notes.push_back(fmt::format("{} label files claim mode {}; {} is taken (--labels decides)",
                                        claims.size(), m + 1, claims[0].filename().string()));
  }
  return found;
}

void check_label_files(const std::filesystem::path& tensor, std::span<const ModeLabels> labels) {
  for (std::size_t m = 0; m < labels.size(); ++m) {
    if (labels[m].empty()) continue;
    for (const auto& path : files_of_mode(tensor, int(m)))
      if (read_labels(path).labels != labels[m].labels)
        throw Error(Errc::bad_option, "holds other labels already; write the tensor to another folder",
                    {path.string(), 0});
  }
}

std::vector<std::filesystem::path> write_label_files(const std::filesystem::path& tensor,
                                                     std::span<const ModeLabels> labels) {
  check_label_files(tensor, labels);
  std::vector<std::filesystem::path> written;
  for (std::size_t m = 0; m < labels.size(); ++m) {
    // Equal labels that lie there already, perhaps compressed or under another name, are good enough.
    if (labels[m].empty() || !files_of_mode(tensor, int(m)).empty()) continue;
    const auto path = tensor.parent_path() / file_name(labels[m], m);
    OutputFile out(path);
    out.write(map_text(labels[m]));
    out.commit();
    written.push_back(path);
  }
  return written;
}

}  // namespace polyad::io
