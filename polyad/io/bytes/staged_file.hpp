#pragma once

#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "polyad/base/unfinished_paths.hpp"
#include "polyad/io/bytes/existing.hpp"

namespace polyad::io {

// Throws Error{bad_option} for a file that exists and may not be replaced.
[[noreturn]] void refuse_existing(const std::filesystem::path& path);

// The folder in which a path names a file or directory: "." for a mere name.
std::filesystem::path folder_of(const std::filesystem::path& path);

// The file or directory that an output path means, with symbolic links followed. Throws Error{io} for a link
// that another user has put into a folder to which others may write: it may point at anything.
std::filesystem::path resolve_output(const std::filesystem::path& path);

// Throws the error of writing `path`: a full disk, quota or size limit is Error{resource}, all else
// Error{io}.
[[noreturn]] void fail_writing(const std::filesystem::path& path, int error);

// Names of temporary files and directories: .NAME.<host>-<process>-<random>.partial, in the folder of NAME.
class StagedNames {
 public:
  explicit StagedNames(const std::filesystem::path& target);
  std::filesystem::path next() const;
  // Whether a name is one of these, made on this machine.
  bool match(const std::string& name) const;

 private:
  std::filesystem::path folder_;
  std::string begin_;
};

// Makes the names of a folder's entries durable. Throws Error{io} or Error{resource}, naming `path`.
void sync_folder(const std::filesystem::path& folder, const std::filesystem::path& path);

// A new file beside the one that it is to replace. It has an unpredictable name that did not exist before,
// and the permissions of the file that it replaces (and its owner, where the system allows that). Its
// descriptor is locked, so that the files of a run that was killed can be told from those of a run that goes
// on: the former are removed here when the same file is written again.
class StagedFile {
 public:
  explicit StagedFile(const std::filesystem::path& path, Existing existing = Existing::replaced);
  ~StagedFile();
  StagedFile(const StagedFile&) = delete;
  StagedFile& operator=(const StagedFile&) = delete;

  int descriptor() const { return descriptor_; }
  const std::filesystem::path& staged_path() const { return staged_; }
  // Makes the contents durable, and then puts the file in its place in one step. With Existing::refused, a
  // file that has come there in the meantime is left as it is, and refuse_existing is called.
  void commit();

 private:
  void create();
  void take_permissions();
  void put_in_place() const;

  std::filesystem::path path_, target_, staged_;
  Existing existing_;
  int descriptor_ = -1;
  std::optional<mode_t> mode_;  // of the file that is replaced
  std::unique_ptr<UnfinishedPath> unfinished_;
};

}  // namespace polyad::io
