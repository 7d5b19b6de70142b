#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "polyad/base/types.hpp"

namespace polyad::io {

// A file of a checkpoint.
struct CheckpointPart {
  std::string name;
  Index bytes = 0;
  std::uint64_t checksum = 0;

  friend bool operator==(const CheckpointPart&, const CheckpointPart&) = default;
};

// What a checkpoint holds, and of which run. The state itself is in the parts: rows by machine, and numbers
// that are the same for all processes.
struct CheckpointManifest {
  static constexpr int newest_version = 1;

  std::string program;  // that wrote it, with its version
  std::string command;  // that it belongs to: "cpd" or "complete"
  Index sequence = 0;   // iterations of all starts so far: the name of the directory
  int iteration = 0;    // of the present start
  double fit = 0;       // of ratings, the root mean square error of the epoch
  int processes = 1;
  std::vector<Index> dims;
  Index num_nonzeros = 0;
  std::uint64_t tensor = 0;                                  // fingerprint
  std::vector<std::pair<std::string, std::string>> options;  // that the state depends on
  std::vector<int> mode_order;                               // of the updates, from 0
  int value_bytes = 8;                                       // of an entry of a row
  Index num_vectors = 0, num_columns = 0;
  std::vector<CheckpointPart> rows;
  CheckpointPart numbers;

  // What its steps are called.
  const char* step() const { return command == "complete" ? "epoch" : "iteration"; }

  friend bool operator==(const CheckpointManifest&, const CheckpointManifest&) = default;
};

// The name of the manifest in the directory of a checkpoint.
inline constexpr const char* manifest_name = "manifest.json";

// As JSON, with a checksum of itself.
std::string manifest_text(const CheckpointManifest& manifest);
// Throws Error{bad_input} with `file` for a text that is damaged, of a newer version, or something else.
CheckpointManifest parse_manifest(const std::string& text, const std::filesystem::path& file);
CheckpointManifest read_manifest(const std::filesystem::path& checkpoint);

}  // namespace polyad::io
