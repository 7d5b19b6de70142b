#include "polyad/tasks/detail/stored_partition.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <exception>
#include <string_view>
#include <system_error>

#include "polyad/base/error.hpp"
#include "polyad/io/bytes/checksum.hpp"
#include "polyad/io/bytes/output_file.hpp"

namespace polyad::tasks {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t max_bytes = std::uintmax_t(1) << 30;  // of all partitions in a folder
constexpr std::string_view extension = ".part";

std::string reason(int error) {
  return std::generic_category().message(error);
}

// What keeps the user from trusting a file or folder; empty: nothing.
std::string fault_of_owner(const struct stat& status) {
  if (status.st_uid != geteuid()) return "it belongs to another user";
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) return "other users may write to it";
  return "";
}

std::string fault_of_folder(const fs::path& folder) {
  struct stat status {};
  if (stat(folder.c_str(), &status) != 0) return reason(errno);
  return S_ISDIR(status.st_mode) ? fault_of_owner(status) : "it is no directory";
}

// Throws Error{io} where the file cannot be read or trusted. Links are not followed, pipes not waited for.
std::string trusted_contents(const fs::path& path, Index maximum) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) throw Error(Errc::io, errno == ELOOP ? "it is a link" : reason(errno));
  struct stat status {};
  std::string fault = fstat(descriptor, &status) != 0 ? reason(errno) : fault_of_owner(status);
  if (!S_ISREG(status.st_mode)) fault = "it is no regular file";
  if (fault.empty() && status.st_size > maximum) fault = "it is too large";
  std::string text(fault.empty() ? std::size_t(status.st_size) : 0, '\0');
  std::size_t done = 0;
  while (done < text.size()) {
    const auto got = read(descriptor, text.data() + done, text.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    done += std::size_t(got);
  }
  close(descriptor);
  if (done < text.size()) fault = "it cannot be read";
  if (!fault.empty()) throw Error(Errc::io, fault);
  return text;
}

std::string header(const PartitionKey& key, int version, std::uint64_t checksum) {
  return fmt::format("polyad-partition {} {} {} {} {:016x} {} {:016x}\n", version, key.model, key.num_parts,
                     key.count, key.fingerprint, key.is_cut_short ? "cut-short" : "complete", checksum);
}

std::string header(const PartitionKey& key, std::string_view body) {
  return header(key, 2, io::checksum(body));
}

// Before version 2 there was another checksum.
bool has_header(std::string_view found, const PartitionKey& key, std::string_view body) {
  return found == header(key, body) || found == header(key, 1, io::checksum_version_1(body));
}

std::string body_of(std::span<const int> parts) {
  std::string body;
  for (const int part : parts) fmt::format_to(std::back_inserter(body), "{}\n", part);
  return body;
}

std::vector<int> parse_body(std::string_view body, const PartitionKey& key) {
  std::vector<int> parts;
  parts.reserve(std::size_t(key.count));
  const char *at = body.data(), *const end = at + body.size();
  while (at < end) {
    int part = -1;
    const auto [stop, error] = std::from_chars(at, end, part);
    if (error != std::errc() || stop == end || *stop != '\n' || part < 0 || part >= key.num_parts)
      throw Error(Errc::bad_input, fmt::format("line {} is no part", parts.size() + 2));
    parts.push_back(part);
    at = stop + 1;
  }
  if (std::ssize(parts) != key.count) throw Error(Errc::bad_input, "it has another number of parts");
  return parts;
}

std::vector<int> read_trusted(const fs::path& path, const PartitionKey& key) {
  constexpr Index bytes_of_header = 1000, bytes_of_part = 11;
  const std::string text = trusted_contents(path, bytes_of_header + bytes_of_part * key.count);
  const auto end = text.find('\n');
  if (end == std::string::npos) throw Error(Errc::bad_input, "it has no header");
  const auto body = std::string_view(text).substr(end + 1);
  if (!has_header(std::string_view(text).substr(0, end + 1), key, body))
    throw Error(Errc::bad_input, "it is damaged");
  return parse_body(body, key);
}

void make_folder(const fs::path& folder) {
  std::error_code failed;
  if (folder.has_parent_path()) fs::create_directories(folder.parent_path(), failed);
  if (failed) throw Error(Errc::io, failed.message());
  if (mkdir(folder.c_str(), S_IRWXU) != 0 && errno != EEXIST) throw Error(Errc::io, reason(errno));
  if (const auto fault = fault_of_folder(folder); !fault.empty()) throw Error(Errc::io, fault);
}

// Whether a name is one that file_of gives: other files in the folder may be outputs of the user.
bool is_cached_name(const fs::path& path) {
  constexpr std::size_t digits = 16;
  auto name = path.stem();
  if (name.extension() == ".cut-short") name = name.stem();
  const auto text = name.string();
  return path.extension() == extension && text.size() > digits && text[text.size() - digits - 1] == '-' &&
         text.find_first_not_of("0123456789abcdef", text.size() - digits) == text.npos;
}

// The oldest first, except the one that has just been written.
void remove_oldest(const fs::path& folder, const fs::path& newest) {
  struct Entry {
    fs::file_time_type time;
    std::uintmax_t size;
    fs::path path;
  };
  std::vector<Entry> entries;
  std::uintmax_t total = 0;
  std::error_code failed;
  for (fs::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed)) {
    std::error_code gone;
    if (!is_cached_name(at->path()) || !at->is_regular_file(gone)) continue;
    const auto size = at->file_size(gone);
    const auto time = at->last_write_time(gone);
    if (gone) continue;
    total += size;
    if (at->path() != newest) entries.push_back({time, size, at->path()});
  }
  std::ranges::sort(entries, {}, &Entry::time);
  for (const auto& entry : entries) {
    if (total <= max_bytes) return;
    if (fs::remove(entry.path, failed)) total -= entry.size;
  }
}

}  // namespace

fs::path cache_folder(const std::string& asked_for) {
  if (!asked_for.empty()) return asked_for;
  const auto absolute = [](const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr && *value == '/' ? fs::path(value) : fs::path();
  };
  if (const auto caches = absolute("XDG_CACHE_HOME"); !caches.empty())
    return caches / "polyad" / "partitions";
  const auto home = absolute("HOME");
  return home.empty() ? home : home / ".cache" / "polyad" / "partitions";
}

std::vector<fs::path> stored_partitions(const fs::path& folder) {
  std::vector<fs::path> found;
  if (folder.empty()) return found;
  std::error_code gone;
  for (fs::directory_iterator at(folder, gone), end; !gone && at != end; at.increment(gone))
    if (is_cached_name(at->path())) found.push_back(at->path());
  return found;
}

fs::path file_of(const fs::path& folder, const PartitionKey& key) {
  return folder / fmt::format("{}-{}-{:016x}{}{}", key.model, key.num_parts, key.fingerprint,
                              key.is_cut_short ? ".cut-short" : "", extension);
}

StoredPartition read_stored_partition(const fs::path& folder, const PartitionKey& key) {
  const auto path = file_of(folder, key);
  struct stat status {};
  if (folder.empty() || lstat(path.c_str(), &status) != 0) return {};
  try {
    if (const auto fault = fault_of_folder(folder); !fault.empty())
      throw Error(Errc::io, "of its folder: " + fault);
    return {read_trusted(path, key), ""};
  } catch (const std::exception& error) {  // memory may run out as well
    return {std::nullopt,
            fmt::format("{}: this cached partition is ignored: {}", path.string(), error.what())};
  }
}

std::string store_partition(const fs::path& folder, const PartitionKey& key, std::span<const int> parts) {
  if (folder.empty()) return "";
  const auto path = file_of(folder, key);
  try {
    make_folder(folder);
    struct stat status {};
    if (lstat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && unlink(path.c_str()) != 0)
      throw Error(Errc::io, reason(errno));
    const auto body = body_of(parts);
    io::OutputFile file(path);
    file.write(header(key, body) + body);
    file.commit();
    if (chmod(path.c_str(), S_IRUSR | S_IWUSR) != 0) throw Error(Errc::io, reason(errno));
    remove_oldest(folder, path);
  } catch (const Error& error) {
    return fmt::format("the partition is not cached in {}: {}; {} names another folder", folder.string(),
                       error.what(), option_name("cache"));
  }
  return "";
}

}  // namespace polyad::tasks
