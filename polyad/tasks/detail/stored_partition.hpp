#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "polyad/base/types.hpp"

namespace polyad::tasks {

// Partitions in a folder of the user, from which later runs take them. What is there is believed only if it
// can have come from nobody but the user: the folder and the file belong to the user, and others may not
// write to them; the file must be for this tensor and these options, complete and undamaged. No trouble with
// the folder stops a run.

// Of what a partition is, and how it was made; also the name of its file.
struct PartitionKey {
  std::string model;  // "fine", "coarse", ...
  int num_parts = 1;
  Index count = 0;                // things that are partitioned
  std::uint64_t fingerprint = 0;  // of the tensor and of the options
  bool is_cut_short = false;      // by a limit of time; kept apart from those that were not
};

// The folder that --cache names; else $XDG_CACHE_HOME/polyad/partitions or ~/.cache/polyad/partitions; empty
// where there is neither.
std::filesystem::path cache_folder(const std::string& asked_for);
// The partitions that are there.
std::vector<std::filesystem::path> stored_partitions(const std::filesystem::path& folder);
std::filesystem::path file_of(const std::filesystem::path& folder, const PartitionKey& key);

struct StoredPartition {
  std::optional<std::vector<int>> parts;
  std::string notice;  // why a file that is there was ignored; empty: nothing to say
};
StoredPartition read_stored_partition(const std::filesystem::path& folder, const PartitionKey& key);

// Returns why it could not be written, or nothing. Removes the oldest partitions when all together take more
// than 1 GiB.
std::string store_partition(const std::filesystem::path& folder, const PartitionKey& key,
                            std::span<const int> parts);

}  // namespace polyad::tasks
