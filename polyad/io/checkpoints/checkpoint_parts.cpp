#include "polyad/io/checkpoints/checkpoint_parts.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "polyad/base/error.hpp"
#include "polyad/io/bytes/checksum.hpp"
#include "polyad/io/bytes/staged_file.hpp"

namespace polyad::io {
namespace {

namespace fs = std::filesystem;

using BlockHead = std::array<Index, 2>;  // kind, bytes

std::string_view bytes_of_head(const BlockHead& head) {
  return {reinterpret_cast<const char*>(head.data()), sizeof(head)};
}

// Names come from a file: none may lead out of the directory.
fs::path place_of(const fs::path& checkpoint, const CheckpointPart& part) {
  const fs::path name(part.name);
  if (name.empty() || name != name.filename() || part.name.starts_with('.'))
    throw Error(Errc::bad_input, "names the part '" + part.name + "', which is no name of a file",
                {(checkpoint / manifest_name).string(), 0});
  return checkpoint / name;
}

}  // namespace

CheckpointPartWriter::CheckpointPartWriter(const fs::path& path)
    : path_(path), descriptor_(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)) {
  if (descriptor_ < 0) fail_writing(path_, errno);
  part_.name = path.filename().string();
}

CheckpointPartWriter::~CheckpointPartWriter() {
  if (descriptor_ >= 0) close(descriptor_);
}

void CheckpointPartWriter::write_bytes(std::string_view bytes) {
  part_.checksum = checksum(bytes, part_.checksum);
  part_.bytes += std::ssize(bytes);
  while (!bytes.empty()) {
    const auto written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail_writing(path_, errno);
    bytes.remove_prefix(std::size_t(written));
  }
}

void CheckpointPartWriter::write(Index kind, std::span<const std::string_view> pieces) {
  std::string block;
  Index size = 0;
  for (const auto piece : pieces) size += std::ssize(piece);
  const BlockHead head{kind, size};
  block.reserve(sizeof(head) + std::size_t(size));
  block += bytes_of_head(head);
  for (const auto piece : pieces) block += piece;
  write_bytes(block);
}

CheckpointPart CheckpointPartWriter::finish() {
  if (fsync(descriptor_) != 0) fail_writing(path_, errno);
  if (close(std::exchange(descriptor_, -1)) != 0) fail_writing(path_, errno);
  return part_;
}

CheckpointPartReader::CheckpointPartReader(const fs::path& checkpoint, const CheckpointPart& part)
    : part_(part), file_(place_of(checkpoint, part)) {
  if (file_.size() != part_.bytes)
    refuse(fmt::format("is damaged: it has {} bytes, expected {}", file_.size(), part_.bytes));
}

void CheckpointPartReader::refuse(const std::string& why) const {
  throw Error(Errc::bad_input, why, {file_.path().string(), 0});
}

std::optional<CheckpointBlock> CheckpointPartReader::next() {
  if (offset_ == part_.bytes) {
    if (checksum_ != part_.checksum)
      refuse(fmt::format("is damaged: its checksum is {:016x}, expected {:016x}", checksum_, part_.checksum));
    return std::nullopt;
  }
  BlockHead head{};
  std::string bytes(std::size_t(std::min(Index(sizeof(head)), part_.bytes - offset_)), '\0');
  file_.read(offset_, bytes);
  if (bytes.size() == sizeof(head)) std::memcpy(head.data(), bytes.data(), sizeof(head));
  const auto& [kind, size] = head;
  const Index left = part_.bytes - offset_ - Index(sizeof(head));
  if (bytes.size() < sizeof(head) || size < 0 || size > left)
    refuse(fmt::format("is damaged: the block at byte {} has {} bytes, but {} follow", offset_, size,
                       std::max(left, Index(0))));
  bytes.resize(sizeof(head) + std::size_t(size));
  file_.read(offset_, bytes);
  checksum_ = checksum(bytes, checksum_);
  offset_ += std::ssize(bytes);
  return CheckpointBlock{kind, bytes.substr(sizeof(head))};
}

void check_parts(const fs::path& checkpoint, const CheckpointManifest& manifest) {
  auto parts = manifest.rows;
  parts.push_back(manifest.numbers);
  for (const auto& part : parts) {
    CheckpointPartReader reader(checkpoint, part);
    while (reader.next()) {
    }
  }
}

}  // namespace polyad::io
