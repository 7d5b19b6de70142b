#include "polyad/tasks/detail/agreement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>

#include "polyad/base/error.hpp"
#include "polyad/comm/collective.hpp"
#include "polyad/io/bytes/checksum.hpp"
#include "polyad/io/bytes/input_file.hpp"
#include "polyad/tasks/program.hpp"
#include "polyad/version.hpp"

namespace polyad::tasks {
namespace {

namespace fs = std::filesystem;

constexpr Index sampled_bytes = 16 << 20, num_samples = 256, sample_bytes = sampled_bytes / num_samples;

using Texts = std::vector<std::string>;

// Those of process 0, on all processes. Texts hold no zero bytes.
Texts texts_of_first(const Comm& comm, const Texts& mine) {
  std::vector<char> joined;
  for (const auto& text : mine) {
    joined.insert(joined.end(), text.begin(), text.end());
    joined.push_back('\0');
  }
  comm.broadcast(joined, 0);
  Texts first;
  for (auto at = joined.begin(); at != joined.end();) {
    const auto end = std::find(at, joined.end(), '\0');
    first.emplace_back(at, end);
    at = end + 1;
  }
  return first;
}

std::string quoted_or_none(const Texts& texts, std::size_t at) {
  return at < texts.size() ? "'" + texts[at] + "'" : "missing";
}

Error other_arguments(int rank, const Texts& mine, const Texts& first) {
  const auto at = std::size_t(std::ranges::mismatch(mine, first).in1 - mine.begin());
  if (at == 0)
    return {Errc::bad_option,
            fmt::format("process {} runs polyad {}, process 0 runs polyad {}: all processes of a run must be "
                        "started with the same program",
                        rank, mine[0], first[0])};
  return {Errc::bad_option,
          fmt::format("process {} was started with other arguments than process 0: argument {} is {}, on "
                      "process 0 it is {}",
                      rank, at, quoted_or_none(mine, at), quoted_or_none(first, at))};
}

// Head, tail and what lies evenly between them, or all of it.
std::uint64_t content_checksum(const io::InputFile& file) {
  std::string bytes(std::size_t(std::min(file.size(), sampled_bytes)), '\0');
  if (file.size() <= sampled_bytes) {
    file.read(0, bytes);
    return io::checksum(bytes);
  }
  const double step = double(file.size() - sample_bytes) / double(num_samples - 1);
  for (Index i = 0; i < num_samples; ++i) {
    const Index offset = i + 1 == num_samples ? file.size() - sample_bytes : Index(step * double(i));
    file.read(offset, std::span(bytes).subspan(std::size_t(i * sample_bytes), std::size_t(sample_bytes)));
  }
  return io::checksum(bytes);
}

// As text: its kind, its size and its content, or that it cannot be read.
struct Fingerprint {
  std::string path, size, content;
};
constexpr std::string_view unreadable = "-";

Fingerprint fingerprint(const fs::path& path) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return {path.string(), std::string(unreadable), ""};
  try {
    const io::InputFile file(path);
    return {path.string(), std::to_string(file.size()), fmt::format("{:016x}", content_checksum(file))};
  } catch (const Error&) {
    return {path.string(), std::string(unreadable), ""};
  }
}

std::vector<fs::path> files_in(const fs::path& directory) {
  std::error_code failed;
  std::vector<fs::path> files;
  for (fs::directory_iterator at(directory, failed), end; !failed && at != end; at.increment(failed))
    files.push_back(at->path());
  std::ranges::sort(files);
  return files;
}

// Each fingerprint as three texts.
Texts fingerprints(const Texts& paths) {
  Texts texts;
  const auto add = [&](const fs::path& path) {
    auto [name, size, content] = fingerprint(path);
    texts.insert(texts.end(), {std::move(name), std::move(size), std::move(content)});
  };
  for (const auto& path : paths) {
    std::error_code ignored;
    if (path.empty()) continue;
    if (fs::is_directory(path, ignored))
      for (const auto& file : files_in(path)) add(file);
    else
      add(path);
  }
  return texts;
}

std::optional<Error> other_file(int rank, const Texts& mine, const Texts& first) {
  for (std::size_t at = 0; at < std::max(mine.size(), first.size()); at += 3) {
    if (at >= std::min(mine.size(), first.size()) || mine[at] != first[at]) {
      const bool is_mine = at >= first.size() || (at < mine.size() && mine[at] < first[at]);
      return Error(Errc::bad_input,
                   fmt::format("process {} has this file, process {} has not; both read it or do without",
                               is_mine ? rank : 0, is_mine ? 0 : rank),
                   {is_mine ? mine[at] : first[at], 0});
    }
    const auto &size = mine[at + 1], &size_of_first = first[at + 1];
    if (size == unreadable || size_of_first == unreadable) continue;
    if (size != size_of_first)
      return Error(Errc::bad_input,
                   fmt::format("process {} has another file than process 0: {} bytes, on process 0 {}", rank,
                               size, size_of_first),
                   {mine[at], 0});
    if (mine[at + 2] != first[at + 2])
      return Error(
          Errc::bad_input,
          fmt::format("process {} has another file than process 0: both have {} bytes, with other content",
                      rank, size),
          {mine[at], 0});
  }
  return std::nullopt;
}

}  // namespace

void throw_as_is(const Comm& comm, const std::exception_ptr& mine) {
  std::optional<Error> error;
  if (mine) {
    const auto own = as_error(mine);
    error.emplace(own.code(), fmt::format("a callback failed on process {}: {}", comm.rank(), own.what()));
  }
  try {
    throw_together(comm, error);
  } catch (const Error&) {
    if (mine) std::rethrow_exception(mine);
    throw;
  }
}

void require_same_files(const Comm& comm, const std::vector<std::string>& paths) {
  if (comm.size() == 1) return;
  const auto mine = fingerprints(paths);
  const auto first = texts_of_first(comm, mine);
  throw_together(comm, other_file(comm.rank(), mine, first));
}

}  // namespace polyad::tasks

namespace polyad {

void require_same_command(const Comm& comm, int argc, const char* const* argv) {
  if (comm.size() == 1) return;
  std::vector<std::string> mine{POLYAD_VERSION};
  for (const char* argument : std::span(argv, std::size_t(argc)).subspan(1)) mine.emplace_back(argument);
  const auto first = tasks::texts_of_first(comm, mine);
  throw_together(
      comm, mine == first ? std::nullopt : std::optional(tasks::other_arguments(comm.rank(), mine, first)));
}

}  // namespace polyad
