#include "polyad/tasks/detail/checkpoints/checked_checkpoints.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "polyad/base/error.hpp"
#include "polyad/base/progress.hpp"
#include "polyad/io/checkpoints/checkpoint_directory.hpp"
#include "polyad/io/checkpoints/checkpoint_manifest.hpp"
#include "polyad/io/checkpoints/checkpoint_parts.hpp"
#include "polyad/report/statistics_report.hpp"
#include "polyad/tasks/detail/json_text.hpp"

namespace polyad::tasks {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> checkpoints_at(const fs::path& path) {
  std::error_code ignored;
  if (fs::is_regular_file(path / io::manifest_name, ignored)) return {path};
  std::vector<fs::path> found;
  for (const auto& folder : {path / "lists", path})  // of the two models that complete trains
    for (const auto& checkpoint : io::checkpoints_in(folder))
      if (fs::is_directory(checkpoint, ignored)) found.push_back(checkpoint);
  return found;
}

Index bytes_in(const io::CheckpointManifest& manifest) {
  Index bytes = manifest.numbers.bytes;
  for (const auto& part : manifest.rows) bytes += part.bytes;
  return bytes;
}

std::string describe_checkpoint(const fs::path& path, const io::CheckpointManifest& manifest) {
  std::string options;
  for (const auto& [name, value] : manifest.options)
    if (value != "none" && value != "no" && value != "auto") options += fmt::format(", {} {}", name, value);
  return fmt::format(
      "{}: {} {} of polyad {}, {} {:.6f}; {} with {}{}; {} of {}, {} in {}, by {} on {}", path.string(),
      manifest.step(), manifest.iteration, manifest.command, manifest.command == "complete" ? "RMSE" : "fit",
      manifest.fit, report::dims_text(manifest.dims), report::counted(manifest.num_nonzeros, "nonzero"),
      options, report::counted(manifest.num_vectors, "vector"),
      report::counted(manifest.num_columns, "column"), with_prefix(double(bytes_in(manifest)), "B"),
      report::counted(Index(manifest.rows.size()) + 2, "file"), manifest.program,
      manifest.processes == 1 ? "1 process" : fmt::format("{} processes", manifest.processes));
}

nlohmann::ordered_json checkpoint_json(const fs::path& path, const io::CheckpointManifest& manifest) {
  return {{"path", path.string()},       {"iteration", manifest.iteration}, {"fit", manifest.fit},
          {"program", manifest.program}, {"processes", manifest.processes}, {"bytes", bytes_in(manifest)}};
}

}  // namespace

std::optional<CheckedFile> check_checkpoints(const fs::path& path) {
  if (!io::holds_checkpoints(path)) return std::nullopt;
  const auto all = checkpoints_at(path);
  std::vector<FileFault> faults;
  std::string text;
  io::CheckpointManifest newest;
  auto list = nlohmann::ordered_json::array(), problems = nlohmann::ordered_json::array();
  for (const auto& checkpoint : all) {
    try {
      const auto manifest = io::read_manifest(checkpoint);
      io::check_parts(checkpoint, manifest);
      text += describe_checkpoint(checkpoint, manifest) + "\n";
      list.push_back(checkpoint_json(checkpoint, manifest));
      newest = manifest;
    } catch (const Error& error) {
      faults.push_back({0, error.message(), error.input().file});
      problems.push_back({{"file", error.input().file}, {"line", 0}, {"message", error.message()}});
    }
  }
  const auto verdict = faults.empty() ? "no faults" : report::counted(Index(faults.size()), "fault");
  text += fmt::format("{}: {}; {}", path.string(), verdict, report::counted(Index(all.size()), "checkpoint"));
  const nlohmann::ordered_json json{
      {"format", "checkpoint"}, {"dims", newest.dims}, {"nnz", newest.num_nonzeros},
      {"duplicates", 0},        {"explicit_zeros", 0}, {"faults", faults.size()},
      {"problems", problems},   {"fixed", ""},         {"checkpoints", list}};
  Tensor none{SparseTensor<double>(newest.dims)};
  none.path = path.string();
  return CheckedFile({std::move(text), json_text(json)}, std::move(faults), verdict, std::move(none), 0);
}

}  // namespace polyad::tasks
