#include "polyad/tasks/file_plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "polyad/base/error.hpp"
#include "polyad/base/suggestion.hpp"
#include "polyad/io/bytes/output_file.hpp"
#include "polyad/io/bytes/paths.hpp"
#include "polyad/io/bytes/standard_input.hpp"
#include "polyad/io/checkpoints/checkpoint_directory.hpp"
#include "polyad/io/models/kruskal.hpp"
#include "polyad/io/models/label_files.hpp"
#include "polyad/io/models/rating_model_file.hpp"
#include "polyad/tasks/detail/machine_file.hpp"
#include "polyad/tasks/detail/output/model_output.hpp"
#include "polyad/tasks/detail/source_files.hpp"
#include "polyad/tasks/detail/stored_partition.hpp"
#include "polyad/tasks/detail/task_checks.hpp"

namespace polyad {
namespace {

namespace fs = std::filesystem;

// Absolute first: a relative path of which nothing exists would stay relative.
fs::path resolved(const fs::path& path) {
  std::error_code error;
  const auto absolute = fs::absolute(path, error);
  auto whole = fs::weakly_canonical(absolute, error);
  if (error) whole = absolute.lexically_normal();
  return whole.has_filename() ? whole : whole.parent_path();
}

// By device and inode where both exist, so that hard links and mounts are seen too.
bool is_same_file(const fs::path& a, const fs::path& b) {
  if (a.empty() || b.empty()) return false;
  struct stat left {
  }, right{};
  if (stat(a.c_str(), &left) == 0 && stat(b.c_str(), &right) == 0)
    return left.st_dev == right.st_dev && left.st_ino == right.st_ino;
  return resolved(a) == resolved(b);
}

// Streams keep nothing that could be overwritten; but one may lead to a file.
bool is_stream(const fs::path& path) {
  std::error_code ignored;
  const auto status = fs::status(path, ignored);
  return fs::is_character_file(status) || fs::is_fifo(status) || fs::is_socket(status);
}

bool is_part_name(const fs::path& name) {
  return io::is_part_of_splatt_model(name) || io::is_part_of_rating_model(name) || io::is_label_file(name) ||
         name == "summary.json";
}

// Whether a path names, or would add, a part of the model in a directory, or is a link to one.
bool is_part_of_model(const fs::path& path, const fs::path& directory) {
  std::error_code error;
  const auto whole = resolved(path);
  if (is_same_file(whole.parent_path(), directory) && is_part_name(whole.filename())) return true;
  for (fs::directory_iterator entries(directory, error), end; !error && entries != end;
       entries.increment(error))
    if (is_part_name(entries->path().filename()) && is_same_file(path, entries->path())) return true;
  return false;
}

// Whether a path would be found as labels of another file.
bool is_label_of(const fs::path& path, const fs::path& labelled) {
  const auto whole = resolved(path);
  return io::may_be_labels(io::labels_of_tensor(labelled), whole.filename()) &&
         is_same_file(whole.parent_path(), resolved(labelled).parent_path());
}

// In a folder like /tmp only the owner of a file may replace it.
bool is_kept_by_another(const struct stat& folder, const struct stat& file) {
  return (folder.st_mode & S_ISVTX) != 0 && geteuid() != 0 && file.st_uid != geteuid() &&
         folder.st_uid != geteuid();
}

}  // namespace

FilePlan& FilePlan::reads(const std::string& name, const fs::path& path) {
  if (!path.empty())
    inputs_.push_back(Entry{name, path, io::is_folder(path) ? Kind::model : Kind::file, {}, {}, {}});
  return *this;
}

FilePlan& FilePlan::reads_in_place_of(const std::string& name, const fs::path& path,
                                      const std::vector<std::string>& words) {
  struct stat ignored {};
  if (!path.empty() && stat(path.c_str(), &ignored) != 0 && errno == ENOENT)
    throw Error(Errc::bad_option,
                fmt::format("{} {}: expected {}, or a file; there is no such file{}", name, path.string(),
                            fmt::join(words, ", "), suggestion(path.string(), words)));
  return reads("the file that " + name + " names", path);
}

FilePlan& FilePlan::reads_tensor(const std::string& name, const TensorFiles& files) {
  for (const auto& path : files.paths) {
    if (io::is_standard_input(path))
      reads(name, "/dev/stdin");
    else if (io::holds_checkpoints(path))
      reads(name, path);
    else if (io::is_folder(path) && !io::looks_like_kruskal(path))
      for (const auto& file : tasks::source_files(path).files) reads("a file of " + name, file);
    else
      reads_labelled(name, path);
  }
  return *this;
}

FilePlan& FilePlan::reads_labelled(const std::string& name, const fs::path& path) {
  if (path.empty() || io::is_folder(path)) return reads(name, path);
  inputs_.push_back(Entry{name, path, Kind::labelled, {}, {}, {}});
  for (const auto& file : io::label_files_at(io::labels_of_tensor(path)))
    reads("labels that lie beside " + name, file);
  return *this;
}

FilePlan& FilePlan::goes_on_from(const std::string& name, const fs::path& path) {
  reads(name, path);
  if (!path.empty()) inputs_.back().may_be_replaced = true;
  return *this;
}

FilePlan& FilePlan::reads_labels(const std::string& name, const LabelSources& sources) {
  for (const auto& file : sources.files) reads("the file that " + name + " names", file.path);
  if (!sources.folder.empty())
    for (const auto& file : io::label_files_at(io::labels_of_model_folder(sources.folder)))
      reads("a label file in the folder that " + name + " names", file);
  return *this;
}

FilePlan& FilePlan::reads_machine_constants() {
  return reads("the constants of this machine", tasks::machine_file());
}

FilePlan& FilePlan::reads_cached_partitions(const fs::path& cache) {
  for (const auto& file : tasks::stored_partitions(tasks::cache_folder(cache.string())))
    reads("a cached partition", file);
  return *this;
}

FilePlan& FilePlan::writes(const std::string& name, const fs::path& path, Existing existing) {
  if (!path.empty()) outputs_.push_back(Entry{name, path, Kind::file, existing, {}, {}});
  return *this;
}

FilePlan& FilePlan::writes_labelled(const std::string& name, const fs::path& path, Existing existing) {
  if (!path.empty()) outputs_.push_back(Entry{name, path, Kind::labelled, existing, {}, {}});
  return *this;
}

FilePlan& FilePlan::writes_model(const std::string& name, const fs::path& path,
                                 const std::function<void()>& check) {
  if (!path.empty()) outputs_.push_back(Entry{name, path, Kind::model, Existing::replaced, {}, check});
  return *this;
}

FilePlan& FilePlan::writes_cp_model(const std::string& name, const fs::path& path) {
  if (path.empty()) return *this;
  const auto format = tasks::model_format(path);
  const auto check = [path, format] { io::check_kruskal_place(path, format); };
  if (format == io::KruskalFormat::splatt) return writes_model(name, path, check);
  return writes_labelled(name, path).requires_of_last(check);
}

FilePlan& FilePlan::writes_rating_model(const std::string& name, const fs::path& path) {
  return writes_model(name, path, [path] { io::check_rating_model_place(path); });
}

FilePlan& FilePlan::writes_checkpoints(const std::string& name, const fs::path& path) {
  return writes_model(name, path, [path] { io::check_checkpoint_place(path); });
}

FilePlan& FilePlan::writes_unlabelled(const std::string& name, const fs::path& path) {
  if (path.empty()) return *this;
  return writes(name, path).requires_of_last([place = io::labels_of_tensor(path)] {
    io::check_label_files(place, {});
  });
}

FilePlan& FilePlan::requires_of_last(const std::function<void()>& check) {
  outputs_.back().check = check;
  return *this;
}

void FilePlan::check_against_input(const Entry& output, const Entry& input) {
  const bool goes_on = output.kind == Kind::model && input.may_be_replaced;
  if (!goes_on && is_same_file(output.path, input.path))
    tasks::refuse_option(
        fmt::format("{} {} would overwrite {}", output.name, output.path.string(), input.name));
  if (!goes_on && input.kind == Kind::model && is_part_of_model(output.path, input.path))
    tasks::refuse_option(
        fmt::format("{} {} would overwrite a part of {}", output.name, output.path.string(), input.name));
  if (output.kind == Kind::model && is_part_of_model(input.path, output.path))
    tasks::refuse_option(fmt::format("{} {} would overwrite {}, which lies in it", output.name,
                                     output.path.string(), input.name));
}

void FilePlan::check_against_output(const Entry& output, const Entry& other) {
  if (is_same_file(output.path, other.path))
    tasks::refuse_option(
        fmt::format("{} and {} would both write {}", output.name, other.name, output.path.string()));
  if (other.kind == Kind::model && is_part_of_model(output.path, other.path))
    tasks::refuse_option(fmt::format("{} {} would overwrite a part of what {} writes", output.name,
                                     output.path.string(), other.name));
  if (other.kind == Kind::labelled && is_label_of(output.path, other.path))
    tasks::refuse_option(fmt::format("{} {} would be taken for labels of what {} writes", output.name,
                                     output.path.string(), other.name));
}

void FilePlan::check_place(const Entry& output) {
  if (output.check) output.check();
  if (output.kind == Kind::model) return;
  if (io::is_written_directly(output.path)) {
    if (access(output.path.c_str(), W_OK) != 0) io::fail_writing(output.path, errno);
    return;
  }
  if (!output.path.has_filename()) io::fail_writing(output.path, EISDIR);
  const auto target = io::resolve_output(output.path);
  const auto folder = io::folder_of(target);
  struct stat status {
  }, around{};
  if (access((folder / ".").c_str(), W_OK | X_OK) != 0) io::fail_writing(output.path, errno);
  if (lstat(target.c_str(), &status) != 0) {
    if (errno != ENOENT) io::fail_writing(output.path, errno);
    return;
  }
  if (S_ISDIR(status.st_mode)) io::fail_writing(output.path, EISDIR);
  if (stat(folder.c_str(), &around) == 0 && is_kept_by_another(around, status))
    io::fail_writing(output.path, EPERM);
  if (output.existing == Existing::refused) io::refuse_existing(output.path);
}

void FilePlan::check() const {
  for (const auto& output : outputs_)
    if (const auto text = output.path.string(); text.starts_with('-'))
      tasks::refuse_option(
          fmt::format("{} {}: expected a file, found what looks like an option; ./{} is a file of this name",
                      output.name, text, text));
  for (std::size_t a = 0; a < outputs_.size(); ++a) {
    if (is_stream(outputs_[a].path)) continue;
    for (const auto& input : inputs_) check_against_input(outputs_[a], input);
    for (const auto& input : inputs_)
      if (input.kind == Kind::labelled && is_label_of(outputs_[a].path, input.path))
        tasks::refuse_option(fmt::format("{} {} would be taken for labels of {}", outputs_[a].name,
                                         outputs_[a].path.string(), input.name));
    for (std::size_t b = 0; b < outputs_.size(); ++b)
      if (a != b) check_against_output(outputs_[a], outputs_[b]);
  }
  for (const auto& output : outputs_) check_place(output);
}

}  // namespace polyad
