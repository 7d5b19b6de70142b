#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "polyad/base/error.hpp"
#include "polyad/base/progress.hpp"
#include "polyad/base/types.hpp"
#include "polyad/comm/comm.hpp"

namespace polyad {

// What a task noticed that is worth showing to a person.
struct Message {
  enum class Kind {
    warning,  // the result may not be what was meant
    note      // something was done that the user may not expect and need not change
  };
  Kind kind = Kind::warning;
  std::string text;
};

struct ContextOptions {
  // Threads per process; 0: as many as OpenMP has, by OMP_NUM_THREADS or the number of cores.
  int threads = 0;
  // Called on process 0 only, by the thread that runs the task. Without it, messages are dropped.
  std::function<void(const Message&)> on_message = {};
  // Called on process 0 only, by a thread of its own.
  ProgressFn on_progress = {};
  // How messages call the fields of options structs; by default by their C++ names.
  OptionNames option_names = {};
  // The command line that the tasks are run by, word by word, for reports to show; empty: there is none.
  std::vector<std::string> command = {};
};

// Where tasks run and what they report to: processes, threads and callbacks. Every task takes a context
// first. A context is used by one thread at a time; copies share it. Several contexts may be used at once by
// several threads with polyad::serial; with MPI, which is started for one thread, only one after the other.
//
// Exceptions of callbacks come out of the task as they are on the process whose callback threw, and as an
// Error with the same message on all others. What an observer throws ends the task. What on_message or
// on_progress throws does not: neither is called again, and the exception is thrown when the task has ended,
// unless the task ends in an error of its own.
class Context {
 public:
  // The processes of a communicator; see polyad/comm/mpi_comm.hpp for one of MPI. Tasks are then collective:
  // all processes call them, with the same arguments.
  explicit Context(Comm comm, ContextOptions options = {});
  // With the given display of progress in place of on_progress.
  Context(Comm comm, ContextOptions options, std::shared_ptr<Progress> progress);
  // This process alone.
  static Context serial(ContextOptions options = {});
  // Moving copies, so that a context can be used after it was moved from.
  Context(const Context&) = default;
  Context& operator=(const Context&) = default;
  ~Context() = default;

  const Comm& comm() const { return comm_; }
  int threads() const { return options_.threads; }
  const std::vector<std::string>& command() const { return options_.command; }
  // Without output on processes other than the first.
  Progress& progress() const { return *progress_; }
  void warn(const std::string& text) const { tell({Message::Kind::warning, text}); }
  void note(const std::string& text) const { tell({Message::Kind::note, text}); }
  // A text with the names of options as option_names calls them.
  std::string shown(const std::string& text) const;

  // Forgets what on_message or on_progress threw and returns it; null: nothing. For the end of a task.
  std::exception_ptr take_callback_failure() const;

 private:
  class CallbackFailure;

  void tell(const Message& message) const;

  Comm comm_;
  ContextOptions options_;
  std::shared_ptr<CallbackFailure> failure_;
  std::shared_ptr<Progress> progress_;
};

// Warns when a process took more memory than the option max_memory_bytes of a task allows, although the task
// was predicted to fit. Both in bytes; a limit of 0 is none.
void warn_of_memory(const Context& context, Index peak_bytes, Index max_bytes);

}  // namespace polyad
