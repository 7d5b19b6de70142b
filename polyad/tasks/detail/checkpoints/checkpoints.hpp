#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "polyad/algo/run_state.hpp"
#include "polyad/io/checkpoints/checkpoint_directory.hpp"
#include "polyad/io/checkpoints/checkpoint_manifest.hpp"
#include "polyad/report/checkpoint_use.hpp"
#include "polyad/tasks/checkpoint.hpp"
#include "polyad/tasks/context.hpp"

namespace polyad::tasks {

// Throws Error{interrupted}: a signal, or the time limit, has ended a run after `where`.
[[noreturn]] void refuse_unfinished(bool is_time_limit, const std::string& where,
                                    const std::optional<report::CheckpointUse>& checkpoint);

// The checkpoints of a run. Functions are collective but for accessors.
class Checkpoints {
 public:
  // Finds the newest. Throws Error{bad_input} if it is damaged or of another run, and Error{io} where none
  // can be written.
  Checkpoints(const Context& context, const CheckpointOptions& options, io::CheckpointManifest identity);

  const CheckpointOptions& options() const { return options_; }
  // What the run goes on from, if there is one.
  const std::optional<io::CheckpointManifest>& found() const { return found_; }
  // Its state, to be taken once; it refers to this object.
  template <class Real>
  RunRestart<Real> restart() const;
  // From now on nothing was found: the run begins anew, and its checkpoints come after those that are there.
  void forget() { found_.reset(); }
  // Of the newest checkpoint that was there when the run began.
  Index last_sequence() const { return last_sequence_; }

  // Writes the state of a run. If that fails, it warns, and earlier checkpoints stay as they were.
  template <class Real>
  void write(const RunPause<Real>& pause, Index sequence, const std::vector<int>& mode_order);

  report::CheckpointUse use() const;  // so far

 private:
  template <class Real>
  void fill(const OwnRows<Real>& own, Index num_vectors, Index num_columns) const;
  template <class Real>
  void write_parts(const RunState<Real>& state, io::CheckpointManifest manifest);

  const Context& context_;
  CheckpointOptions options_;
  io::CheckpointManifest identity_;
  Comm machine_;                                        // the processes of this machine
  int part_ = 0;                                        // number of the part that the first of them writes
  std::unique_ptr<io::CheckpointDirectory> directory_;  // on process 0
  std::filesystem::path newest_;
  std::optional<io::CheckpointManifest> found_;
  Index last_sequence_ = 0;
  int num_written_ = 0;
  double seconds_ = 0;
};

}  // namespace polyad::tasks
