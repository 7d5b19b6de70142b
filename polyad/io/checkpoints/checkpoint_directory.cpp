#include "polyad/io/checkpoints/checkpoint_directory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "polyad/base/error.hpp"
#include "polyad/io/bytes/output_file.hpp"
#include "polyad/io/bytes/staged_file.hpp"
#include "polyad/io/checkpoints/checkpoint_manifest.hpp"

namespace polyad::io {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t name_digits = 6;

bool is_checkpoint_name(const std::string& name) {
  return name.size() >= name_digits && std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; });
}

// ".000120.<host>-<process>-<random>.partial"
bool is_unfinished_checkpoint(const std::string& name) {
  const auto dot = name.find('.', 1);
  return name.starts_with('.') && dot != std::string::npos && is_checkpoint_name(name.substr(1, dot - 1)) &&
         name.ends_with(".partial");
}

std::vector<fs::path> entries_in(const fs::path& directory, bool (*is_wanted)(const std::string&)) {
  std::vector<fs::path> entries;
  std::error_code error;
  for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error))
    if (is_wanted(at->path().filename().string())) entries.push_back(at->path());
  // By number: longer names are larger ones.
  std::ranges::sort(entries, {}, [](const fs::path& path) {
    const auto name = path.filename().string();
    return std::pair(name.size(), name);
  });
  return entries;
}

// In one step: what is left of a checkpoint is none.
void remove_checkpoint(const fs::path& path) noexcept {
  std::error_code ignored;
  const auto doomed = path.parent_path() / ("." + path.filename().string() + ".removed.partial");
  fs::rename(path, doomed, ignored);
  fs::remove_all(ignored ? path : doomed, ignored);
}

}  // namespace

std::vector<fs::path> checkpoints_in(const fs::path& directory) {
  return entries_in(directory, is_checkpoint_name);
}

bool holds_checkpoints(const fs::path& directory) {
  std::error_code ignored;
  const auto is_one = [&](const fs::path& path) {
    return fs::is_regular_file(path / manifest_name, ignored);
  };
  return is_one(directory) || std::ranges::any_of(checkpoints_in(directory), is_one);
}

void check_checkpoint_place(const fs::path& directory) {
  struct stat status {};
  if (stat(directory.c_str(), &status) != 0) {
    if (errno != ENOENT || access((folder_of(directory) / ".").c_str(), W_OK | X_OK) != 0)
      fail_writing(directory, errno);
    return;
  }
  if (!S_ISDIR(status.st_mode)) fail_writing(directory, ENOTDIR);
  if (access((directory / ".").c_str(), W_OK | X_OK) != 0) fail_writing(directory, errno);
}

CheckpointDirectory::CheckpointDirectory(const fs::path& directory) : path_(directory) {
  if (mkdir(path_.c_str(), 0777) != 0 && errno != EEXIST) fail_writing(path_, errno);
  descriptor_ = open((path_ / ".").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor_ < 0) fail_writing(path_, errno);
  // File systems without locks have none.
  if (flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    close(std::exchange(descriptor_, -1));
    throw Error(Errc::io, "another run is writing its checkpoints there; give another directory",
                {path_.string(), 0});
  }
  std::error_code ignored;
  for (const auto& left : entries_in(path_, is_unfinished_checkpoint)) fs::remove_all(left, ignored);
}

CheckpointDirectory::~CheckpointDirectory() {
  abandon();
  if (descriptor_ >= 0) close(descriptor_);
}

std::optional<fs::path> CheckpointDirectory::newest() const {
  const auto all = checkpoints_in(path_);
  return all.empty() ? std::nullopt : std::optional(all.back());
}

fs::path CheckpointDirectory::begin(Index sequence) {
  abandon();
  target_ = path_ / fmt::format("{:06}", sequence);
  const auto name = StagedNames(target_).next();
  const DelayedSignals until_listed;
  if (mkdir(name.c_str(), 0777) != 0) fail_writing(name, errno);
  staged_ = name;
  unfinished_ = std::make_unique<UnfinishedPath>(UnfinishedPath::Kind::directory, staged_.string());
  return staged_;
}

void CheckpointDirectory::commit(const std::string& manifest, int keep) {
  OutputFile file(staged_ / manifest_name);
  file.write(manifest);
  file.commit();
  sync_folder(staged_, staged_);
  {
    const DelayedSignals until_renamed;
    if (rename(staged_.c_str(), target_.c_str()) != 0) fail_writing(target_, errno);
    unfinished_.reset();
    staged_.clear();
  }
  sync_folder(path_, path_);
  const auto all = checkpoints_in(path_);
  for (std::size_t i = 0; i + std::size_t(keep) < all.size(); ++i) remove_checkpoint(all[i]);
}

void CheckpointDirectory::abandon() noexcept {
  if (staged_.empty()) return;
  std::error_code ignored;
  fs::remove_all(staged_, ignored);
  unfinished_.reset();
  staged_.clear();
}

}  // namespace polyad::io
