#include "polyad/io/bytes/staged_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <system_error>
#include <utility>

#include "polyad/base/error.hpp"

namespace polyad::io {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view ending = ".partial";
constexpr std::size_t max_name_bytes = 255;  // of the usual file systems

// Eight hexadecimal digits that identify this machine.
const std::string& host_tag() {
  static const std::string tag = [] {
    std::array<char, 256> name{};
    gethostname(name.data(), name.size() - 1);
    std::uint32_t hash = 2166136261U;
    for (const char c : std::string_view(name.data())) hash = (hash ^ std::uint8_t(c)) * 16777619U;
    return fmt::format("{:08x}", hash);
  }();
  return tag;
}

std::uint64_t random_number() {
  std::uint64_t number = 0;
  if (getrandom(&number, sizeof number, 0) != sizeof number)
    number = std::uint64_t(getpid()) * 0x9e3779b97f4a7c15U ^ std::uint64_t(std::uintptr_t(&number));
  return number;
}

bool is_shared(const struct stat& folder) {
  return (folder.st_mode & (S_IWGRP | S_IWOTH)) != 0;
}

// The rule of Linux's protected_symlinks, for folders of groups too.
void check_link_owner(const fs::path& path, const fs::path& link, const struct stat& status) {
  struct stat folder {};
  if (stat(folder_of(link).c_str(), &folder) != 0 || !is_shared(folder)) return;
  if (status.st_uid == geteuid() || status.st_uid == 0 || status.st_uid == folder.st_uid) return;
  throw Error(
      Errc::io,
      "cannot be written: it is a symbolic link of another user in a folder that others may write to; "
      "give the path of the file itself",
      {path.string(), 0});
}

void sync(int descriptor, const fs::path& path) {
  if (fsync(descriptor) != 0 && !is_unsupported(errno)) fail_writing(path, errno);
}

// Of runs that are gone: what can be locked has no owner any more.
void remove_stale_files(const fs::path& target, const StagedNames& names) {
  std::error_code error;
  for (fs::directory_iterator entries(folder_of(target), error), end; !error && entries != end;
       entries.increment(error)) {
    if (!names.match(entries->path().filename().string())) continue;
    const int file = open(entries->path().c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) continue;
    struct stat status {};
    if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
        flock(file, LOCK_EX | LOCK_NB) == 0)
      unlink(entries->path().c_str());
    close(file);
  }
}

bool has_no_such_call(int error) {
  return error == EINVAL || error == ENOSYS || error == ENOTSUP || error == EPERM;
}

// Renames a file unless the new name is taken: then, as for any other failure, the error is returned. File
// systems without such a rename take a hard link; for those without hard links (FAT), the name is looked up
// before a plain rename, and only there another process can take the name in between.
int rename_to_free_name(const fs::path& from, const fs::path& to) {
#ifdef RENAME_NOREPLACE
  if (renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return 0;
  if (!has_no_such_call(errno)) return errno;
#endif
  if (link(from.c_str(), to.c_str()) == 0) {
    unlink(from.c_str());
    return 0;
  }
  if (!has_no_such_call(errno)) return errno;
  struct stat status {};
  if (lstat(to.c_str(), &status) == 0) return EEXIST;
  return rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
}

}  // namespace

bool is_unsupported(int error) {
  return error == EINVAL || error == ENOTSUP || error == ENOSYS || error == ENOLCK || error == EROFS ||
         error == EBADF;
}

void refuse_existing(const fs::path& path) {
  throw Error(Errc::bad_option, "exists already; " + option_name("existing=replaced") + " replaces it",
              {path.string(), 0});
}

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

void fail_writing(const fs::path& path, int error) {
  const bool is_full = error == ENOSPC || error == EDQUOT || error == EFBIG;
  throw Error(is_full ? Errc::resource : Errc::io,
              "cannot be written: " + std::generic_category().message(error), {path.string(), 0});
}

fs::path resolve_output(const fs::path& path) {
  constexpr int max_links = 40;
  fs::path target = path.has_filename() ? path : path.parent_path();  // without a slash at the end
  for (int links = 0;; ++links) {
    struct stat status {};
    if (lstat(target.c_str(), &status) != 0 || !S_ISLNK(status.st_mode)) return target;
    if (links == max_links) fail_writing(path, ELOOP);
    check_link_owner(path, target, status);
    std::error_code error;
    const auto next = fs::read_symlink(target, error);
    if (error) fail_writing(path, error.value());
    target = next.is_absolute() ? next : folder_of(target) / next;
    if (!target.has_filename()) target = target.parent_path();
  }
}

StagedNames::StagedNames(const fs::path& target) : folder_(folder_of(target)) {
  const std::string behind = fmt::format(".{}-", host_tag());
  const std::size_t rest = behind.size() + std::size("1234567890-") + 16 + ending.size();
  begin_ = "." + target.filename().string().substr(0, max_name_bytes - 1 - rest) + behind;
}

fs::path StagedNames::next() const {
  return folder_ / fmt::format("{}{}-{:016x}{}", begin_, getpid(), random_number(), ending);
}

bool StagedNames::match(const std::string& name) const {
  return name.size() > begin_.size() && name.starts_with(begin_) && name.ends_with(ending) &&
         name.find_first_not_of("0123456789abcdef-", begin_.size()) == name.size() - ending.size();
}

void sync_folder(const fs::path& folder, const fs::path& path) {
  const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;  // a folder that may be written to but not read
  const int failed = fsync(descriptor) != 0 ? errno : 0;
  close(descriptor);
  if (failed != 0 && !is_unsupported(failed)) fail_writing(path, failed);
}

StagedFile::StagedFile(const fs::path& path, Existing existing)
    : path_(path), target_(resolve_output(path)), existing_(existing) {
  const DelayedSignals until_listed;
  create();
  unfinished_ = std::make_unique<UnfinishedPath>(UnfinishedPath::Kind::file, staged_.string());
  take_permissions();
}

void StagedFile::create() {
  constexpr int max_tries = 100;
  const StagedNames names(target_);
  remove_stale_files(target_, names);
  for (int tries = 0;; ++tries) {
    staged_ = names.next();
    descriptor_ = open(staged_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (descriptor_ < 0 && (errno != EEXIST || tries == max_tries)) fail_writing(path_, errno);
    if (descriptor_ < 0) continue;
    // Another run may have taken it for a stale one before it was locked.
    struct stat status {};
    const bool is_locked = flock(descriptor_, LOCK_EX | LOCK_NB) == 0 || is_unsupported(errno);
    if (is_locked && fstat(descriptor_, &status) == 0 && status.st_nlink > 0) return;
    close(std::exchange(descriptor_, -1));
    if (tries == max_tries) fail_writing(path_, EAGAIN);
  }
}

// Of another user's file in a shared folder, which may have been put there for us to find, only what is
// stricter is taken.
void StagedFile::take_permissions() {
  struct stat old {
  }, own{}, folder{};
  if (lstat(target_.c_str(), &old) != 0 || !S_ISREG(old.st_mode) || fstat(descriptor_, &own) != 0) return;
  const bool is_foreign =
      old.st_uid != geteuid() && (stat(folder_of(target_).c_str(), &folder) != 0 || is_shared(folder));
  mode_t mode = old.st_mode & 0777;
  if (is_foreign) {
    mode &= own.st_mode;
  } else if ((old.st_uid != own.st_uid || old.st_gid != own.st_gid) &&
             fchown(descriptor_, old.st_uid, old.st_gid) != 0 && old.st_gid != own.st_gid &&
             fchown(descriptor_, uid_t(-1), old.st_gid) != 0) {
    mode &= ~mode_t(070) | ((mode & 07) << 3);  // another group now: it may do what everyone may
  }
  mode_ = mode;
  fchmod(descriptor_, mode | S_IWUSR);  // other processes open it to write their share
}

StagedFile::~StagedFile() {
  if (!staged_.empty()) unlink(staged_.c_str());
  if (descriptor_ >= 0) close(descriptor_);
}

void StagedFile::put_in_place() const {
  if (existing_ == Existing::replaced) {
    if (rename(staged_.c_str(), target_.c_str()) != 0) fail_writing(path_, errno);
    return;
  }
  const int failed = rename_to_free_name(staged_, target_);
  if (failed == EEXIST) refuse_existing(path_);
  if (failed != 0) fail_writing(path_, failed);
}

void StagedFile::commit() {
  if (mode_) fchmod(descriptor_, *mode_);
  sync(descriptor_, path_);
  put_in_place();
  staged_.clear();
  unfinished_.reset();
  // Some file systems report only here that the disk is full.
  if (close(std::exchange(descriptor_, -1)) != 0) fail_writing(path_, errno);
  sync_folder(folder_of(target_), path_);
}

}  // namespace polyad::io
