#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "polyad/io/bytes/staged_file.hpp"

namespace polyad::cli {

// All files that a command reads and writes, checked in one place before any work: Console, without which no
// command runs, takes the plan, adds --json and checks it. An empty path is no file.
class FilePlan {
 public:
  // `name` is what messages call it: "the input", "--out". A directory stands for the model in it.
  FilePlan& reads(const std::string& name, const std::filesystem::path& path);
  // A file with labels beside it: no output may be taken for one of them.
  FilePlan& reads_labelled(const std::string& name, const std::filesystem::path& path);
  // A model that --out may replace when it has been read.
  FilePlan& goes_on_from(const std::string& name, const std::filesystem::path& path);

  FilePlan& writes(const std::string& name, const std::filesystem::path& path,
                   io::Existing existing = io::Existing::replaced);
  // The same for a file that gets labels beside it.
  FilePlan& writes_labelled(const std::string& name, const std::filesystem::path& path,
                            io::Existing existing = io::Existing::replaced);
  // A model that is a directory; `check` throws where it cannot be put there.
  FilePlan& writes_model(const std::string& name, const std::filesystem::path& path,
                         const std::function<void()>& check);

  // What else must hold of the output that was named last; `check` throws where it does not.
  FilePlan& requires_of_last(const std::function<void()>& check);

  // All that is read, for those who compare it between processes.
  std::vector<std::string> input_paths() const;

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
    io::Existing existing = io::Existing::replaced;
    bool may_be_replaced = false;  // by a model
    std::function<void()> check;
  };

  static void check_against_input(const Entry& output, const Entry& input);
  static void check_against_output(const Entry& output, const Entry& other);
  static void check_place(const Entry& output);

  std::vector<Entry> inputs_, outputs_;
};

}  // namespace polyad::cli
