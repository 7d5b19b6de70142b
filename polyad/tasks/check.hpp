#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "polyad/io/bytes/existing.hpp"
#include "polyad/tasks/load.hpp"
#include "polyad/tasks/task_result.hpp"

namespace polyad {

// A fault in a file.
struct FileFault {
  Index line = 0;  // from 1; 0: in no particular line
  std::string message;
  std::string file = {};
};
// "x.tns:3: what is wrong".
std::string to_text(const FileFault& fault);

struct CheckOptions {
  LoadOptions load = {};
  // Where what is sound is written, sorted and with duplicates added up (default: nowhere). The extension
  // selects the format.
  std::filesystem::path fix = {};
  // What happens to a file that exists at `fix` (default: Error{bad_option}).
  Existing existing = Existing::refused;
  // Called with the faults before duplicates are added up and `fix` is written, which may fail.
  std::function<void(const std::vector<FileFault>&)> on_faults = {};
};

// What the check of a file found.
class CheckedFile : public TaskResult {
 public:
  CheckedFile(TaskResult texts, std::vector<FileFault> faults, std::string verdict, Tensor sound,
              Index num_duplicates)
      : TaskResult(std::move(texts)),
        faults_(std::move(faults)),
        verdict_(std::move(verdict)),
        sound_(std::move(sound)),
        num_duplicates_(num_duplicates) {}

  // In the order of the lines. Empty: the file is sound.
  const std::vector<FileFault>& faults() const { return faults_; }
  // "no faults", "1 fault", "1,234 faults".
  const std::string& verdict() const { return verdict_; }
  // The nonzeros without faults, sorted by coordinates, with duplicates added up.
  const Tensor& sound() const { return sound_; }
  // Nonzeros that were added to others with the same coordinates. They are no fault.
  Index num_duplicates() const { return num_duplicates_; }

 private:
  std::vector<FileFault> faults_;
  std::string verdict_;
  Tensor sound_;
  Index num_duplicates_;
};

// Throws Error{bad_option} for options that make no sense whatever the file.
void validate(const CheckOptions& options);

// Reads all of a tensor and reports every fault with its line, where load throws at the first one. Of a
// directory of checkpoints (CheckpointOptions), or one of them, it says what they hold; CheckedFile::sound()
// has no nonzeros then.
// Requires a context of one process. Throws Error{bad_input} for a file of which no tensor can be made, and
// what load and save throw.
CheckedFile check(const Context& context, const TensorFiles& files, const CheckOptions& options = {});

}  // namespace polyad
