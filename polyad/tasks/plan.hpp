#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "polyad/distributed/cp/distribution_options.hpp"
#include "polyad/tasks/context.hpp"
#include "polyad/tasks/tensor.hpp"

namespace polyad {

struct PlanOptions {
  Index rank = 16;                  // number of components of the decomposition, from 1 to 100000
  std::vector<int> processes = {};  // numbers of processes to plan for, each from 1 to 1048576; required
  int threads_per_process = 1;      // that predicted times and memory are for, from 1 to 65536
  // Number of processes, with consecutive ranks, on each machine, from 1 to 1048576: where rows go in stages,
  // the first stage does not leave the machine. 0: all on one machine.
  int processes_per_machine = 0;
  // What is set here is kept, and every choice that is left open is tried. Partition::file adds the partition
  // in partition_file to the candidates; Partition::hypergraph is refused: set with_hypergraph.
  DistributionOptions distribution = {};
  // Also try partitions of the tensor's hypergraph, which take time to make and are cached (default: no).
  bool with_hypergraph = false;
  double time_limit_seconds = 60;  // for each of these partitions
  Index max_memory_bytes = 0;      // per process; candidates that need more are not recommended. 0: no limit
  // How `polyad cpd` reads the tensor, as in {"--dims", "30x24x659"}: repeated in the commands that summary
  // and report show.
  std::vector<std::string> input_arguments = {};
};

// Throws Error{bad_option} for options that make no sense whatever the tensor.
void validate(const PlanOptions& options);

// One way to distribute a tensor over a number of processes, with what an iteration of CP-ALS is predicted to
// take. Words are of 8 bytes.
struct PlanCandidate {
  int processes = 1;
  std::string name;                  // "medium 4x4x1 nnz", "fine random", "one process"
  double seconds_per_iteration = 0;  // multiply + update + communicate
  double multiply_seconds = 0, update_seconds = 0, communicate_seconds = 0;
  Index memory_bytes = 0;                        // of the process that needs most
  bool fits = true;                              // into PlanOptions::max_memory_bytes
  Index volume_words = 0, max_volume_words = 0;  // sent by all processes, and by the one that sends most
  Index messages = 0, max_messages = 0;          // likewise
  Index all_reduced_words = 0;                   // rows of replicated modes, on each process
  double partition_seconds = 0;                  // to make the distribution, as measured here
  // The number of iterations after which the time to make it is gained back, against the fastest candidate on
  // as many processes that needs no partitioning; nothing: never.
  std::optional<Index> break_even_iterations = {};
  // For DecomposeOptions::distribution, to run it on as many processes.
  DistributionOptions distribution = {};
};

// The candidates of a plan. Copies share the same.
class Plan {
 public:
  struct State;  // private to the library
  explicit Plan(std::shared_ptr<const State> state) : state_(std::move(state)) {}

  // By number of processes, then by predicted time.
  const std::vector<PlanCandidate>& candidates() const;
  // The fastest that fits, of all and on one number of processes; null where none fits.
  const PlanCandidate* recommended() const;
  const PlanCandidate* recommended_on(int processes) const;
  // Why it is recommended, or why there is none: a sentence.
  const std::string& reason() const;

  // A table for each number of processes as text for people.
  std::string summary() const;
  // All figures as one JSON object; docs/json.md describes its keys.
  std::string json() const;

  const State& state() const { return *state_; }

 private:
  std::shared_ptr<const State> state_;
};

// Compares the ways to distribute a tensor over any numbers of processes, without running any of them. Words
// and messages are exactly those that a run has; times are predicted by the constants of machine_file(). Runs
// on one process: throws Error{bad_option} for a context of several.
Plan plan(const Context& context, const Tensor& x, const PlanOptions& options);

// Writes an HTML report that needs nothing else: no network, no script.
void save_report(const Context& context, const Plan& plan, const std::filesystem::path& path);

}  // namespace polyad
