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
  return name.empty() ? fmt::format("mode-{}.map", m + 1) : fmt::format("mode-{}-{}.map", m + 1, name);
}

}  // namespace

ModeLabels read_labels(const std::filesystem::path& path) {
  ModeLabels result;
  if (const auto name = parse_map_name(path)) result.name = name->name;
  const InputFile file(path);
  LineReader lines(file);
  for (std::string_view line; lines.next(line);) result.labels.emplace_back(line);
  return result;
}

std::vector<ModeLabels> find_labels_beside(const std::filesystem::path& tensor, int order) {
  std::vector<ModeLabels> labels{std::size_t(order)};
  std::vector<std::filesystem::path> found;
  std::error_code ignored;
  const auto folder = tensor.has_parent_path() ? tensor.parent_path() : ".";
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored))
    if (const auto name = parse_map_name(entry.path().filename()); name && name->mode < order)
      found.push_back(entry.path());
  std::ranges::sort(found);  // directories have no order of their own
  for (const auto& path : found) {
    const auto name = parse_map_name(path.filename());
    if (labels[name->mode].empty()) labels[name->mode] = read_labels(path);
  }
  return labels;
}

std::vector<std::filesystem::path> write_label_files(const std::filesystem::path& tensor,
                                                     std::span<const ModeLabels> labels) {
  std::vector<std::filesystem::path> written;
  for (std::size_t m = 0; m < labels.size(); ++m) {
    if (labels[m].empty()) continue;
    const auto path = tensor.parent_path() / file_name(labels[m], m);
    if (std::filesystem::exists(path) && read_labels(path).labels != labels[m].labels)
      throw Error(Errc::bad_option, "holds other labels already; write the tensor to another folder",
                  {path.string(), 0});
    OutputFile out(path);
    out.write(map_text(labels[m]));
    out.commit();
    written.push_back(path);
  }
  return written;
}

}  // namespace polyad::io
