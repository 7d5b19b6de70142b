#pragma once

#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "polyad/base/unfinished_paths.hpp"
#include "polyad/io/bytes/existing.hpp"

namespace polyad::io {

// Throws Error{bad_option} for an existing file that may not be replaced.
[[noreturn]] void refuse_existing(const std::filesystem::path& path);

// The folder of a file or directory; "." for a name without a folder.
std::filesystem::path folder_of(const std::filesystem::path& path);

// The file or directory that an output path refers to, with symbolic links resolved. Throws Error{io}
// for a link that another user has created in a folder that others can write: it could point anywhere.
std::filesystem::path resolve_output(const std::filesystem::path& path);

// Whether a file system without locks, or without fsync, fails with this: it is written to as it is.
bool is_unsupported(int error);

// Throws the error of writing `path`: a full disk, quota
// or size limit is Error{resource}, others are Error{io}.
[[noreturn]] void fail_writing(const std::filesystem::path& path, int error);

// Names of temporary files and directories: .NAME.<host>-<process>-<random>.partial, in the folder of NAME.
class StagedNames {
 public:
  explicit StagedNames(const std::filesystem::path& target);
  std::filesystem::path next() const;
  // Whether a name has this form and was made on this machine.
  bool match(const std::string& name) const;

 private:
  std::filesystem::path folder_;
  std::string begin_;
};

// Makes the directory entries of a folder durable. Throws Error{io} or Error{resource} with `path`.
void sync_folder(const std::filesystem::path& folder, const std::filesystem::path& path);

// A new file next to the one that it replaces. It has an unpredictable name that did not
// exist before, and the permissions of the file that it replaces (and its owner, if the
// system allows it). Its descriptor is locked, to distinguish files of a killed run from
// those of an active one: the former are removed when the same file is written again.
class StagedFile {
 public:
  explicit StagedFile(const std::filesystem::path& path, Existing existing = Existing::replaced);
  ~StagedFile();
  StagedFile(const StagedFile&) = delete;
  StagedFile& operator=(const StagedFile&) = delete;

  int descriptor() const { return descriptor_; }
  const std::filesystem::path& staged_path() const { return staged_; }
  // Makes the contents durable, and then renames the file in one step. With Existing::refused,
  // a file that has appeared in the meantime is kept, and refuse_existing is called.
  void commit();

 private:
  void create();
  void take_permissions();
  void put_in_place() const;

  std::filesystem::path path_, target_, staged_;
  Existing existing_;
  int descriptor_ = -1;
  std::optional<mode_t> mode_;  // permissions of the file that is replaced
  std::unique_ptr<UnfinishedPath> unfinished_;
};

}  // namespace polyad::io
