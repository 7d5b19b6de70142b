#include "polyad/tasks/detail/source_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "polyad/base/error.hpp"
#include "polyad/comm/collective.hpp"
#include "polyad/comm/runtime.hpp"
#include "polyad/io/bytes/byte_stream.hpp"
#include "polyad/io/bytes/paths.hpp"
#include "polyad/io/bytes/standard_input.hpp"
#include "polyad/io/models/kruskal.hpp"

namespace polyad::tasks {
namespace {

namespace fs = std::filesystem;

// x.mode-1-team.map.gz as well as mode-1.map.
bool is_named_like_labels(const fs::path& name) {
  const auto text = name.string();
  return text.ends_with(".map") || text.ends_with(".map.gz");
}

// Whether a file has no bytes, or none inside gzip. Others that cannot be read are left to their reader.
bool holds_nothing(const fs::path& path) {
  if (io::is_standard_input(path)) return false;
  try {
    const io::InputFile file(path);
    if (file.size() == 0 || !file.is_gzip()) return file.size() == 0;
    io::ByteStream stream(file, 1 << 12);
    std::string bytes;
    while (bytes.empty() && stream.next(bytes)) {
    }
    return bytes.empty();
  } catch (const Error&) {
    return false;
  }
}

void add_folder(const fs::path& folder, SourceFiles& source) {
  if (io::looks_like_kruskal(folder))
    throw Error(Errc::bad_input, "holds the factors of a model, expected files of a tensor",
                {folder.string(), 0});
  std::error_code failed;
  std::vector<fs::path> found;
  Index num_folders = 0;
  for (fs::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed)) {
    const auto name = at->path().filename();
    if (name.string().starts_with('.') || is_named_like_labels(name)) continue;
    std::error_code ignored;
    if (at->is_directory(ignored))
      ++num_folders;
    else
      found.push_back(at->path());
  }
  if (failed) throw Error(Errc::io, "the folder cannot be read: " + failed.message(), {folder.string(), 0});
  if (found.empty()) throw Error(Errc::bad_input, "the folder holds no files to read", {folder.string(), 0});
  std::ranges::sort(found);
  if (num_folders > 0)
    source.notes.push_back(fmt::format("{} in it {} left out: only files are read",
                                       num_folders == 1 ? "a folder" : fmt::format("{} folders", num_folders),
                                       num_folders == 1 ? "was" : "were"));
  source.files.insert(source.files.end(), found.begin(), found.end());
}

}  // namespace

SourceFiles source_files(const TensorFiles& given) {
  const auto& paths = given.paths;
  if (paths.empty()) throw Error(Errc::bad_option, "a tensor is read from at least one file");
  SourceFiles source{paths, {}, paths[0].string(), {}};
  for (const auto& path : paths) {
    if (io::is_folder(path))
      add_folder(path, source);
    else
      source.files.push_back(path);
  }
  // Empty files add nothing to others; one alone is a fault.
  const auto first = source.files[0];
  if (source.files.size() > 1) std::erase_if(source.files, holds_nothing);
  if (source.files.empty()) source.files.push_back(first);
  if (paths.size() > 1)
    source.name += fmt::format(" and {} other{}", paths.size() - 1, paths.size() == 2 ? " file" : " files");
  else if (io::is_folder(paths[0]))
    source.folder = paths[0];
  return source;
}

void share_standard_input(const Comm& comm, const TensorFiles& given) {
  const auto is_read = std::ranges::any_of(given.paths, io::is_standard_input);
  if (!is_read || comm.size() == 1) return;
  constexpr Index step = Index(1) << 24;
  const OneProcessWorks patience;  // whoever writes to it may take a while
  Index size = 0;
  collectively(comm, [&] {
    if (comm.rank() == 0) size = io::open_input("-").size();
  });
  size = comm.broadcast(size, 0);
  collectively(comm, [&] {
    if (comm.rank() != 0) io::receive_standard_input("");
  });
  std::vector<char> part;
  for (Index from = 0; from < size; from += step) {
    part.resize(std::size_t(std::min(step, size - from)));
    collectively(comm, [&] {
      if (comm.rank() == 0) io::open_input("-").read(from, part);
    });
    comm.broadcast(std::span(part), 0);
    collectively(comm, [&] {
      if (comm.rank() != 0) io::receive_standard_input({part.data(), part.size()});
    });
  }
}

}  // namespace polyad::tasks
