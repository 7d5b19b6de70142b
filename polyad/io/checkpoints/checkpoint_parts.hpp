#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "polyad/io/bytes/input_file.hpp"
#include "polyad/io/checkpoints/checkpoint_manifest.hpp"

namespace polyad::io {

// The parts of a checkpoint are blocks of bytes, each with a head of two numbers: its kind (the mode of the
// rows) and its length. The checksum of a part covers all of it.
struct CheckpointBlock {
  Index kind = 0;
  std::string bytes;
};

// Writes a part, which must not exist yet. A full disk is Error{resource}, other failures are Error{io}.
class CheckpointPartWriter {
 public:
  explicit CheckpointPartWriter(const std::filesystem::path& path);
  ~CheckpointPartWriter();
  CheckpointPartWriter(const CheckpointPartWriter&) = delete;
  CheckpointPartWriter& operator=(const CheckpointPartWriter&) = delete;

  // The block that the given pieces make together.
  void write(Index kind, std::span<const std::string_view> pieces);
  // Makes it durable.
  CheckpointPart finish();

 private:
  void write_bytes(std::string_view bytes);

  std::filesystem::path path_;
  int descriptor_ = -1;
  CheckpointPart part_;
};

// Reads a part block by block. Throws Error{bad_input} if it is not as the manifest says.
class CheckpointPartReader {
 public:
  CheckpointPartReader(const std::filesystem::path& checkpoint, const CheckpointPart& part);

  // Nothing at the end, where the checksum is compared.
  std::optional<CheckpointBlock> next();
  [[noreturn]] void refuse(const std::string& why) const;

 private:
  CheckpointPart part_;
  InputFile file_;
  Index offset_ = 0;
  std::uint64_t checksum_ = 0;
};

// Throws Error{bad_input} or Error{io} unless all parts are there, with the bytes that were written.
void check_parts(const std::filesystem::path& checkpoint, const CheckpointManifest& manifest);

}  // namespace polyad::io
