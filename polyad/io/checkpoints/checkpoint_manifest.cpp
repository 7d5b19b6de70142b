#include "polyad/io/checkpoints/checkpoint_manifest.hpp"

#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>
#include <system_error>

#include "polyad/base/error.hpp"
#include "polyad/io/bytes/checksum.hpp"
#include "polyad/io/bytes/input_file.hpp"

namespace polyad::io {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* version_key = "polyad_checkpoint";
constexpr Index max_manifest_bytes = Index(64) << 20;

[[noreturn]] void refuse_manifest(const fs::path& file, const std::string& why) {
  throw Error(Errc::bad_input, why, {file.string(), 0});
}

std::string hex(std::uint64_t number) {
  return fmt::format("{:016x}", number);
}

std::uint64_t from_hex(const Json& json) {
  const auto text = json.get<std::string>();
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, 16);
  if (error != std::errc() || end != text.data() + text.size())
    throw Error(Errc::bad_input, "'" + text + "' is no checksum");
  return number;
}

Json json_of(const CheckpointPart& part) {
  return {{"name", part.name}, {"bytes", part.bytes}, {"checksum", hex(part.checksum)}};
}

CheckpointPart part_of(const Json& json) {
  return {json.at("name"), json.at("bytes"), from_hex(json.at("checksum"))};
}

std::string text_of_json(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

// Values within values within values would use up the stack.
bool refuse_depth(int depth, Json::parse_event_t, Json&) {
  constexpr int max_depth = 8;
  if (depth > max_depth) throw Error(Errc::bad_input, "its values are nested too deeply");
  return true;
}

CheckpointManifest manifest_of(const Json& json) {
  CheckpointManifest manifest;
  manifest.program = json.at("program");
  manifest.command = json.at("command");
  manifest.sequence = json.at("sequence");
  manifest.iteration = json.at("iteration");
  manifest.fit = json.at("fit");
  manifest.processes = json.at("processes");
  manifest.dims = json.at("dims").get<std::vector<Index>>();
  manifest.num_nonzeros = json.at("nnz");
  manifest.tensor = from_hex(json.at("tensor"));
  for (const auto& [name, value] : json.at("options").items()) manifest.options.emplace_back(name, value);
  manifest.mode_order = json.at("mode_order").get<std::vector<int>>();
  manifest.value_bytes = json.at("value_bytes");
  manifest.num_vectors = json.at("vectors");
  manifest.num_columns = json.at("columns");
  for (const auto& part : json.at("rows")) manifest.rows.push_back(part_of(part));
  manifest.numbers = part_of(json.at("numbers"));
  return manifest;
}

}  // namespace

std::string manifest_text(const CheckpointManifest& manifest) {
  Json json;
  json[version_key] = CheckpointManifest::newest_version;
  json["program"] = manifest.program;
  json["command"] = manifest.command;
  json["sequence"] = manifest.sequence;
  json["iteration"] = manifest.iteration;
  json["fit"] = manifest.fit;
  json["processes"] = manifest.processes;
  json["dims"] = manifest.dims;
  json["nnz"] = manifest.num_nonzeros;
  json["tensor"] = hex(manifest.tensor);
  json["options"] = Json::object();
  for (const auto& [name, value] : manifest.options) json["options"][name] = value;
  json["mode_order"] = manifest.mode_order;
  json["value_bytes"] = manifest.value_bytes;
  json["vectors"] = manifest.num_vectors;
  json["columns"] = manifest.num_columns;
  json["rows"] = Json::array();
  for (const auto& part : manifest.rows) json["rows"].push_back(json_of(part));
  json["numbers"] = json_of(manifest.numbers);
  json["checksum"] = hex(checksum(text_of_json(json)));
  return text_of_json(json);
}

CheckpointManifest parse_manifest(const std::string& text, const fs::path& file) {
  try {
    auto json = Json::parse(text, refuse_depth);
    if (!json.is_object() || !json.contains(version_key) || !json[version_key].is_number_integer())
      refuse_manifest(file, std::string("is no manifest of a checkpoint: it has no key ") + version_key);
    const int version = json.at(version_key);
    if (version > CheckpointManifest::newest_version)
      refuse_manifest(file, fmt::format("is of version {} of checkpoints, written by {}; this program reads "
                                        "version {} and older",
                                        version, json.value("program", "another program"),
                                        CheckpointManifest::newest_version));
    const auto is_as_written = text_of_json(json) == text;
    const auto stored = from_hex(json.at("checksum"));
    json.erase("checksum");
    const auto found = checksum(text_of_json(json));
    if (!is_as_written || stored != found)
      refuse_manifest(file,
                      fmt::format("is damaged: its checksum is {}, expected {}", hex(found), hex(stored)));
    return manifest_of(json);
  } catch (const nlohmann::json::exception& fault) {
    refuse_manifest(file, fmt::format("is damaged: it is no manifest of a checkpoint ({})", fault.what()));
  } catch (const Error& error) {
    if (!error.input().file.empty()) throw;
    refuse_manifest(file, "is damaged: " + error.message());
  }
}

CheckpointManifest read_manifest(const fs::path& checkpoint) {
  const InputFile file(checkpoint / manifest_name);
  if (file.size() > max_manifest_bytes)
    refuse_manifest(file.path(), fmt::format("is no manifest of a checkpoint: it has {} bytes", file.size()));
  std::string text(std::size_t(file.size()), '\0');
  file.read(0, text);
  return parse_manifest(text, file.path());
}

}  // namespace polyad::io
