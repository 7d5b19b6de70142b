#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "polyad/io/bytes/existing.hpp"
#include "polyad/tasks/load.hpp"

namespace polyad {

// The files that a run will read and write, for checking before any work that no output would overwrite an
// input or another output, and that every output can be written. An empty path is no file.
class FilePlan {
 public:
  // A file, or a directory that holds a model. `name` is what messages call it: "the input", "--out".
  FilePlan& reads(const std::string& name, const std::filesystem::path& path);
  // A file that the option `name` takes where its text is none of these words. Throws Error{bad_option} where
  // there is no such file, because the text may be one of the words misspelt.
  FilePlan& reads_in_place_of(const std::string& name, const std::filesystem::path& path,
                              const std::vector<std::string>& words);
  // The files of a tensor, with label files beside them.
  FilePlan& reads_tensor(const std::string& name, const TensorFiles& files);
  // A tensor or model with label files beside it. No output may have a name that makes it one of them.
  FilePlan& reads_labelled(const std::string& name, const std::filesystem::path& path);
  // A model that an output may replace, because it has been read before that is written.
  FilePlan& goes_on_from(const std::string& name, const std::filesystem::path& path);
  // The label files that an option names; `name` is that of the option, as in "--labels".
  FilePlan& reads_labels(const std::string& name, const LabelSources& sources);
  // The file of machine constants that `polyad doctor --calibrate` writes, which predictions of time use.
  FilePlan& reads_machine_constants();
  // All partitions in the cache; empty: in the default cache of the user.
  FilePlan& reads_cached_partitions(const std::filesystem::path& cache);

  // A file. An existing one is replaced or is an error, as `existing` says.
  FilePlan& writes(const std::string& name, const std::filesystem::path& path,
                   Existing existing = Existing::replaced);
  // A tensor or model in a file, with label files beside it.
  FilePlan& writes_labelled(const std::string& name, const std::filesystem::path& path,
                            Existing existing = Existing::replaced);
  // A tensor in a file without labels: no label files of an earlier tensor of this name may lie beside it.
  FilePlan& writes_unlabelled(const std::string& name, const std::filesystem::path& path);
  // What save() writes for a CP model: a directory, or a .ktensor or .npz file with label files. Throws
  // Error{bad_option} for any other name.
  FilePlan& writes_cp_model(const std::string& name, const std::filesystem::path& path);
  // A model of ratings, which is a directory.
  FilePlan& writes_rating_model(const std::string& name, const std::filesystem::path& path);
  // A directory of checkpoints, from which a run may also go on.
  FilePlan& writes_checkpoints(const std::string& name, const std::filesystem::path& path);
  // A model that is a directory; `check` throws where it cannot be written there.
  FilePlan& writes_model(const std::string& name, const std::filesystem::path& path,
                         const std::function<void()>& check);

  // Throws Error{bad_option} when an output is also an input or another output, or a part of a model or a
  // label file that belongs to one, by whatever links and spellings, or when it exists and may not be
  // replaced; and Error{io} when an output cannot be written.
  void check() const;

 private:
  enum class Kind { file, labelled, model };
  struct Entry {
    std::string name;
    std::filesystem::path path;
    Kind kind = Kind::file;
    Existing existing = Existing::replaced;
    bool may_be_replaced = false;  // by a model
    std::function<void()> check;
  };

  FilePlan& requires_of_last(const std::function<void()>& check);
  static void check_against_input(const Entry& output, const Entry& input);
  static void check_against_output(const Entry& output, const Entry& other);
  static void check_place(const Entry& output);

  std::vector<Entry> inputs_, outputs_;
};

}  // namespace polyad
