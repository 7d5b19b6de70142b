#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "polyad/base/types.hpp"
#include "polyad/base/unfinished_paths.hpp"

namespace polyad::io {

// The checkpoints in a directory, oldest first. Their names are numbers: "000120".
std::vector<std::filesystem::path> checkpoints_in(const std::filesystem::path& directory);

// Whether a directory holds checkpoints, or is one.
bool holds_checkpoints(const std::filesystem::path& directory);

// Throws Error{io} where checkpoints cannot be written to a directory, which need not exist yet.
void check_checkpoint_place(const std::filesystem::path& directory);

// A directory of checkpoints that one run writes to. Every checkpoint is a directory in it that is written
// under a temporary name and renamed when it is complete and durable.
class CheckpointDirectory {
 public:
  // Makes the directory, if there is none, and removes what runs that were killed have left of checkpoints.
  // Throws Error{io} if it cannot be written to, or if another run on this machine uses it.
  explicit CheckpointDirectory(const std::filesystem::path& directory);
  ~CheckpointDirectory();
  CheckpointDirectory(const CheckpointDirectory&) = delete;
  CheckpointDirectory& operator=(const CheckpointDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::optional<std::filesystem::path> newest() const;

  // A new, empty directory for the files of a checkpoint. One at a time.
  std::filesystem::path begin(Index sequence);
  // Writes the manifest, makes all durable, gives the checkpoint its name, and removes those before the
  // newest `keep`.
  void commit(const std::string& manifest, int keep);
  // Removes what was written since begin().
  void abandon() noexcept;

 private:
  std::filesystem::path path_, staged_, target_;
  int descriptor_ = -1;
  std::unique_ptr<UnfinishedPath> unfinished_;
};

}  // namespace polyad::io
