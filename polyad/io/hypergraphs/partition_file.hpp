#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "polyad/base/types.hpp"
#include "polyad/io/bytes/staged_file.hpp"

namespace polyad::io {

// A partition as text: one part per line, from 0, as written by hMetis and similar
// programs. Reads `count` lines starting with line `first` of a file that must have
// `total` lines, all with parts below num_parts. Throws Error{bad_input} with the line.
struct PartitionLines {
  Index first = 0, count = 0, total = 0;
  int num_parts = 1;
  bool may_end_early = false;  // `total` is then a maximum
  // For messages: what a line is for, such as "nonzero"; and why there are no more parts, such as "the run
  // has 2 processes".
  std::string thing = "thing that is partitioned", why_no_more = {};
};
// All lines of a file with at most `total` lines.
inline PartitionLines up_to(Index total, int num_parts) {
  return {0, total, total, num_parts, true};
}
std::vector<int> read_partition(const std::filesystem::path& path, const PartitionLines& lines);
// All lines of a file of any length; `why_no_more` as above.
std::vector<int> read_partition(const std::filesystem::path& path, int num_parts,
                                const std::string& why_no_more = {});

void write_partition(const std::filesystem::path& path, std::span<const int> parts,
                     Existing existing = Existing::replaced);

}  // namespace polyad::io
