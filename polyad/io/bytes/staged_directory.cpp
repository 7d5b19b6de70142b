#include "polyad/io/bytes/staged_directory.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <system_error>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "polyad/base/error.hpp"

namespace polyad::io {
namespace {

namespace fs = std::filesystem;

fs::path previous_of(const fs::path& directory) {
  const auto plain = directory.has_filename() ? directory : directory.parent_path();
  return folder_of(plain) / ("." + plain.filename().string() + ".previous");
}

bool status_of(const fs::path& path, struct stat& status) {
  return lstat(path.c_str(), &status) == 0;
}

// For a call of the system that may fail without consequences, although the C library of Ubuntu asks to look
// at its result.
void attempt(int /*result*/) {}

bool is_folder(const fs::path& path) {
  struct stat status {};
  return status_of(path, status) && S_ISDIR(status.st_mode);
}

bool is_same(const fs::path& a, const fs::path& b) {
  struct stat left {
  }, right{};
  return status_of(a, left) && status_of(b, right) && left.st_dev == right.st_dev &&
         left.st_ino == right.st_ino;
}

std::vector<fs::path> names_in(const fs::path& directory) {
  std::vector<fs::path> names;
  std::error_code error;
  for (fs::directory_iterator entries(directory, error), end; !error && entries != end;
       entries.increment(error))
    names.push_back(entries->path().filename());
  std::ranges::sort(names);
  return names;
}

// With a name of its own, also for "." and "..".
fs::path resolved(const fs::path& directory) {
  const auto target = resolve_output(directory);
  std::error_code error;
  const auto whole = fs::canonical(target, error);
  const bool has_name = target.filename() != "." && target.filename() != "..";
  return has_name || error ? target : whole;
}

[[noreturn]] void refuse(const fs::path& path, const std::string& why) {
  throw Error(Errc::io, why, {path.string(), 0});
}

void check_model_may_go(const fs::path& path, Existing existing) {
  if (existing == Existing::refused)
    throw Error(Errc::bad_option,
                "holds a model already; " + option_name("existing=replaced") + " replaces it",
                {path.string(), 0});
}

void require_writable(const fs::path& folder, const fs::path& path) {
  if (access((folder / ".").c_str(), W_OK | X_OK) != 0) fail_writing(path, errno);
}

// A directory that holds a model is replaced as a whole, which changes the directory itself.
void check_replaceable(const fs::path& target, const fs::path& path, const ModelFiles& files) {
  struct stat own {
  }, folder{}, here{};
  if (stat(target.c_str(), &own) != 0 || stat((target / "..").c_str(), &folder) != 0)
    fail_writing(path, errno);
  const std::string why = "holds a model that cannot be replaced as a whole: ";
  if (own.st_dev != folder.st_dev || own.st_ino == folder.st_ino)
    refuse(path, why + "it is a mount point; give another directory");
  if (stat(".", &here) == 0 && here.st_dev == own.st_dev && here.st_ino == own.st_ino)
    refuse(path, why + "it is the current directory; run from another one, or give another directory");
  const bool is_foreign = own.st_uid != geteuid() && folder.st_uid != geteuid() && geteuid() != 0;
  if (access((target / "..").c_str(), W_OK | X_OK) != 0 || ((folder.st_mode & S_ISVTX) != 0 && is_foreign))
    refuse(path, why + "the folder that it is in may not be written to; give another directory");
  require_writable(target, path);
  for (const auto& name : names_in(target))
    if (files.is_part(name) && is_folder(target / name)) fail_writing(path / name, EISDIR);
}

#ifdef RENAME_EXCHANGE
int exchange(const fs::path& a, const fs::path& b) {
  return renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE) == 0 ? 0 : errno;
}
#else
int exchange(const fs::path&, const fs::path&) {
  return ENOSYS;
}
#endif

}  // namespace

// Runs that switch directories in the same folder take turns. A folder that cannot be opened, a file system
// without locks, or a folder that something else keeps locked has none.
class StagedDirectory::Lock {
 public:
  explicit Lock(const fs::path& folder)
      : descriptor_(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    constexpr int max_tries = 1000;
    constexpr std::chrono::milliseconds pause(10);
    for (int tries = 0; descriptor_ >= 0 && flock(descriptor_, LOCK_EX | LOCK_NB) != 0; ++tries) {
      if (errno != EWOULDBLOCK && errno != EINTR) return;
      if (tries == max_tries) return;  // held by something else: the switch is one step without it, too
      std::this_thread::sleep_for(pause);
    }
  }
  ~Lock() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  int descriptor_;
};

void StagedDirectory::check_place(const fs::path& directory, const ModelFiles& files, Existing existing) {
  const auto target = resolved(directory);
  struct stat status {};
  if (!status_of(target, status)) {
    if (errno != ENOENT) fail_writing(directory, errno);
    return require_writable(folder_of(target), directory);
  }
  if (!S_ISDIR(status.st_mode)) fail_writing(directory, ENOTDIR);
  if (!files.is_model(target)) return require_writable(target, directory);
  check_model_may_go(directory, existing);
  check_replaceable(target, directory, files);
}

StagedDirectory::StagedDirectory(const fs::path& directory, ModelFiles files, Existing existing,
                                 DirectorySwitch how)
    : path_(directory),
      target_(resolved(directory)),
      files_(std::move(files)),
      existing_(existing),
      how_(how) {
  recover();
  check_place(directory, files_, existing_);
  is_inside_ = is_folder(target_) && !files_.is_model(target_);
  remove_stale();
  create();
}

void StagedDirectory::create() {
  const StagedNames names(is_inside_ ? target_ / "model" : target_);
  constexpr int max_tries = 100;
  const DelayedSignals until_listed;
  for (int tries = 0;; ++tries) {
    if (tries == max_tries) fail_writing(path_, EAGAIN);
    const auto name = names.next();
    if (mkdir(name.c_str(), 0777) != 0) {
      if (errno == EEXIST) continue;
      fail_writing(path_, errno);
    }
    staged_ = name;
    descriptor_ = open(staged_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (descriptor_ < 0 && errno != ENOENT) {
      const int error = errno;
      rmdir(std::exchange(staged_, {}).c_str());
      fail_writing(path_, error);
    }
    // Another run may have taken it for a stale one before it was locked.
    struct stat status {};
    if (descriptor_ >= 0 && (flock(descriptor_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) &&
        fstat(descriptor_, &status) == 0 && status.st_nlink > 0)
      break;
    if (descriptor_ >= 0) close(std::exchange(descriptor_, -1));
  }
  unfinished_ = std::make_unique<UnfinishedPath>(UnfinishedPath::Kind::directory, staged_.string());
  take_permissions();
}

StagedDirectory::~StagedDirectory() {
  if (descriptor_ >= 0) close(descriptor_);
  if (staged_.empty()) return;
  std::error_code ignored;
  fs::remove_all(staged_, ignored);
}

// Puts back what a run that was stopped between two renames has left.
void StagedDirectory::recover() {
  const auto previous = previous_of(target_);
  struct stat status {};
  if (!status_of(previous, status) || !S_ISDIR(status.st_mode) || status.st_uid != geteuid()) return;
  const Lock lock(folder_of(target_));
  if (!status_of(target_, status))
    rename(previous.c_str(), target_.c_str());
  else
    retire(previous, Newer::target);
}

// Directories of runs that were killed: what can be locked has no owner any more. Files of the user that are
// nowhere else go back to the model's directory.
void StagedDirectory::remove_stale() {
  const auto folder = is_inside_ ? target_ : folder_of(target_);
  const StagedNames names(is_inside_ ? target_ / "model" : target_);
  for (const auto& name : names_in(folder)) {
    if (!names.match(name.string())) continue;
    const int stale = open((folder / name).c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (stale < 0) continue;
    struct stat status {};
    if (fstat(stale, &status) == 0 && status.st_uid == geteuid() && flock(stale, LOCK_EX | LOCK_NB) == 0)
      retire(folder / name, Newer::target);
    close(stale);
  }
}

void StagedDirectory::commit() {
  sync_folder(staged_, path_);
  try {
    if (is_inside_)
      move_into_place();
    else
      replace();
  } catch (const Error& error) {
    if (is_inside_ || staged_.empty() || existing_ == Existing::refused) throw;
    unfinished_.reset();
    const auto kept = target_.string() + ".complete";  // where the next run does not take it for a stale one
    if (rename(staged_.c_str(), kept.c_str()) != 0) throw;
    staged_.clear();
    throw Error(error.code(), std::string(error.what()) + "; the complete model is in " + kept);
  }
}

// Into a directory that holds no model: without the key file nothing is read, and it comes last.
void StagedDirectory::move_into_place() {
  const Lock lock(target_);
  if (files_.is_model(target_))
    refuse(path_, "cannot be written: another run has written a model there in the meantime");
  const DelayedSignals until_moved;
  auto names = names_in(staged_);
  std::ranges::stable_partition(names, [&](const auto& name) { return name != files_.key; });
  for (const auto& name : names) {
    if (name == files_.key) sync_folder(target_, path_);
    if (rename((staged_ / name).c_str(), (target_ / name).c_str()) != 0) fail_writing(path_ / name, errno);
  }
  unfinished_.reset();
  rmdir(std::exchange(staged_, {}).c_str());
  sync_folder(target_, path_);
}

void StagedDirectory::replace() {
  const Lock lock(folder_of(target_));
  const DelayedSignals until_switched;
  if (!is_folder(target_)) {
    if (rename(staged_.c_str(), target_.c_str()) == 0) {
      unfinished_.reset();
      staged_.clear();
      return sync_folder(folder_of(target_), path_);
    }
    if (errno != ENOTEMPTY && errno != EEXIST) fail_writing(path_, errno);
  }
  if (files_.is_model(target_)) check_model_may_go(path_, existing_);
  carry_over();
  keep_modes();
  sync_folder(staged_, path_);
  const auto old = switch_with_target();
  unfinished_.reset();
  staged_.clear();
  sync_folder(folder_of(target_), path_);
  retire(old, Newer::old);
}

// The user's files are in both directories for the time. What cannot be linked, such as a directory, is moved
// when the new directory has its place.
void StagedDirectory::carry_over() const {
  for (const auto& name : names_in(target_))
    if (!files_.is_part(name))
      attempt(linkat(AT_FDCWD, (target_ / name).c_str(), AT_FDCWD, (staged_ / name).c_str(), 0));
}

// Files of the model that were there keep who may read and write them.
void StagedDirectory::keep_modes() const {
  for (const auto& name : names_in(staged_)) {
    struct stat old {};
    if (!files_.is_part(name) || !status_of(target_ / name, old) || !S_ISREG(old.st_mode)) continue;
    if (old.st_uid == geteuid() || geteuid() == 0)
      attempt(fchmodat(AT_FDCWD, (staged_ / name).c_str(), old.st_mode & 0777, 0));
  }
}

void StagedDirectory::take_permissions() const {
  struct stat old {};
  if (!status_of(target_, old) || !S_ISDIR(old.st_mode)) return;
  attempt(fchown(descriptor_, old.st_uid, old.st_gid));
  attempt(fchmod(descriptor_, old.st_mode & 07777));
}

// Returns where the old directory is then.
fs::path StagedDirectory::switch_with_target() const {
  const int failed = how_ == DirectorySwitch::exchange ? exchange(staged_, target_) : ENOSYS;
  if (failed == 0) return staged_;
  if (failed != EINVAL && failed != ENOSYS && failed != ENOTSUP) fail_writing(path_, failed);
  auto previous = previous_of(target_);
  if (rename(target_.c_str(), previous.c_str()) != 0) fail_writing(path_, errno);
  if (rename(staged_.c_str(), target_.c_str()) == 0) return previous;
  const int error = errno;
  rename(previous.c_str(), target_.c_str());
  fail_writing(path_, error);
}

// Removes a directory that has been replaced. What the model's directory does not have goes there.
void StagedDirectory::retire(const fs::path& old, Newer newer) const {
  for (const auto& name : names_in(old)) {
    const auto from = old / name, to = target_ / name;
    struct stat status {};
    const bool is_kept = is_same(from, to) || (newer == Newer::target && status_of(to, status));
    const bool is_unfinished = newer == Newer::target && name.string().starts_with('.') &&
                               name.extension() == ".partial";  // of a run that was killed
    if (!is_folder(from) && (files_.is_part(name) || is_kept || is_unfinished))
      unlink(from.c_str());
    else
      rename(from.c_str(), to.c_str());
  }
  rmdir(old.c_str());
}

fs::path current_directory(const fs::path& directory) {
  struct stat status {};
  if (stat(directory.c_str(), &status) == 0 || errno != ENOENT) return directory;
  const auto previous = previous_of(directory);
  return is_folder(previous) ? previous : directory;
}

namespace {

// Which file or directory has a name, and which contents a file was given when; all zero where there is none.
using Identity = std::tuple<dev_t, ino_t, off_t, time_t, decltype(timespec::tv_nsec)>;

Identity identity_of(const fs::path& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return {};
  // The size and time of a directory change with any of its files.
  if (S_ISDIR(status.st_mode)) return {status.st_dev, status.st_ino, 0, 0, 0};
  return {status.st_dev, status.st_ino, status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
}

}  // namespace

void read_unchanged(const fs::path& path, std::initializer_list<const char*> keys,
                    const std::function<void(const fs::path& directory)>& read) {
  constexpr int max_tries = 100;
  const auto identities = [&] {
    const auto directory = current_directory(path);
    std::vector<Identity> found{identity_of(directory)};
    for (const auto* key : keys) found.push_back(identity_of(directory / key));
    return found;
  };
  for (int tries = 0;; ++tries) {
    const auto before = identities();
    const bool is_last = tries == max_tries;
    try {
      read(current_directory(path));
      if (is_last || identities() == before) return;
    } catch (const Error&) {
      if (is_last || identities() == before) throw;
    }
  }
}

}  // namespace polyad::io
