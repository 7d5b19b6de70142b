#pragma once

#include <filesystem>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>

#include "polyad/io/bytes/staged_file.hpp"

namespace polyad::io {

// The files that belong to a kind of model in a directory. All other files in it belong to the user.
struct ModelFiles {
  std::function<bool(const std::filesystem::path& name)> is_part;
  std::function<bool(const std::filesystem::path& directory)> is_model;  // also for damaged ones
  std::string key;                                                       // required for reading
};

// How the directory of a model is replaced by another one.
enum class DirectorySwitch {
  exchange,    // exchanged in one step where the system supports it, otherwise by renames
  two_renames  // the old one becomes .NAME.previous, where readers find it, and the new one takes its place
};

// A model in a directory, written next to the one that it replaces: every file is
// complete and durable before a single switch. Readers find the old or the new model,
// complete, whenever a run is interrupted. Other files of the directory are kept.
class StagedDirectory {
 public:
  // Throws the same errors as check_place.
  StagedDirectory(const std::filesystem::path& directory, ModelFiles files,
                  Existing existing = Existing::replaced, DirectorySwitch how = DirectorySwitch::exchange);
  ~StagedDirectory();
  StagedDirectory(const StagedDirectory&) = delete;
  StagedDirectory& operator=(const StagedDirectory&) = delete;

  // Where the files of the new model are written.
  const std::filesystem::path& path() const { return staged_; }
  void commit();

  // Throws the error that replacing the model would end in, as far as it can be known
  // beforehand: Error{io}, or Error{bad_option} if there is a model that may not be replaced.
  static void check_place(const std::filesystem::path& directory, const ModelFiles& files,
                          Existing existing = Existing::replaced);

 private:
  class Lock;

  void create();
  void recover();
  void remove_stale();
  void move_into_place();
  void replace();
  void carry_over() const;
  void keep_modes() const;
  void take_permissions() const;
  std::filesystem::path switch_with_target() const;
  // Which file is kept if both directories have one of the same name.
  enum class Newer { old, target };
  void retire(const std::filesystem::path& old, Newer newer) const;

  std::filesystem::path path_, target_, staged_;
  ModelFiles files_;
  Existing existing_;
  DirectorySwitch how_;
  bool is_inside_ = false;  // of a directory that holds no model yet
  int descriptor_ = -1;
  std::unique_ptr<UnfinishedPath> unfinished_;
};

// The directory of a model: the given one, or, if a run was
// interrupted between two renames, the one that it was to replace.
std::filesystem::path current_directory(const std::filesystem::path& directory);

// Calls read(), which reads the files of a model, until all of them belong to the same model:
// until the path refers to the same directory (or file) with the same key files (ModelFiles::key)
// before and after. Other files may change. read() is passed the current_directory() of `path`.
void read_unchanged(const std::filesystem::path& path, std::initializer_list<const char*> keys,
                    const std::function<void(const std::filesystem::path& directory)>& read);

}  // namespace polyad::io
