#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "polyad/algo/cp/cp_state.hpp"
#include "polyad/distributed/cp/dist_tensor.hpp"
#include "polyad/io/checkpoints/checkpoint_directory.hpp"
#include "polyad/io/checkpoints/checkpoint_manifest.hpp"
#include "polyad/tasks/checkpoint.hpp"
#include "polyad/tasks/context.hpp"
#include "polyad/tasks/decompose.hpp"

namespace polyad::tasks {

// What the state of a decomposition depends on: the tensor, and the options that change its course.
// Collective.
io::CheckpointManifest checkpoint_identity(const Context& context, const Tensor& x,
                                           const DecomposeOptions& options);

// The checkpoints of a run. Functions are collective but for accessors.
class Checkpoints {
 public:
  // Finds the newest. Throws Error{bad_input} if it is damaged or of another run, and Error{io} where none
  // can be written.
  Checkpoints(const Context& context, const CheckpointOptions& options, io::CheckpointManifest identity);

  const CheckpointOptions& options() const { return options_; }
  // What the run goes on from, if there is one.
  const std::optional<io::CheckpointManifest>& found() const { return found_; }
  template <class Real>
  CpRestart<Real> restart(const DistTensor<Real>& x) const;

  // Writes the state of a run. If that fails, it warns, and earlier checkpoints stay as they were.
  template <class Real>
  void write(const DistTensor<Real>& x, const CpPause<Real>& pause, Index sequence,
             const std::vector<int>& mode_order);

  int num_written() const { return num_written_; }
  double seconds() const { return seconds_; }  // that writing took

 private:
  template <class Real>
  void write_parts(const DistTensor<Real>& x, const CpState<Real>& state, io::CheckpointManifest manifest);

  const Context& context_;
  CheckpointOptions options_;
  io::CheckpointManifest identity_;
  Comm machine_;                                        // the processes of this machine
  int part_ = 0;                                        // number of the part that the first of them writes
  std::unique_ptr<io::CheckpointDirectory> directory_;  // on process 0
  std::filesystem::path newest_;
  std::optional<io::CheckpointManifest> found_;
  int num_written_ = 0;
  double seconds_ = 0;
};

}  // namespace polyad::tasks
