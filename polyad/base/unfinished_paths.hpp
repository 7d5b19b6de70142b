#pragma once

#include <atomic>
#include <string>

namespace polyad {

// A temporary file, or a temporary directory of files, that is removed when a signal ends the process. The
// destructor takes it off the list again and removes nothing.
class UnfinishedPath {
 public:
  enum class Kind { file, directory };

  UnfinishedPath(Kind kind, const std::string& path);
  ~UnfinishedPath();
  UnfinishedPath(const UnfinishedPath&) = delete;
  UnfinishedPath& operator=(const UnfinishedPath&) = delete;

 private:
  std::atomic<char*>* slot_;
};

// While one of these exists, a signal that remove_unfinished_on_signals handles waits until the last of them
// is gone: for steps that belong together. Not for steps that can take long.
class DelayedSignals {
 public:
  DelayedSignals();
  ~DelayedSignals();
  DelayedSignals(const DelayedSignals&) = delete;
  DelayedSignals& operator=(const DelayedSignals&) = delete;
};

// What a program says when a signal ends it at once.
inline constexpr const char* sentence_on_signals =
    "polyad: a signal ended the command; files that it had completed are kept, unfinished ones were "
    "removed\n";

// From now on SIGINT, SIGTERM and SIGHUP, unless they are ignored, remove all unfinished paths before they
// end the process as they would have, and write `sentence`, which is not copied, to standard error; null:
// none. For programs; the library itself installs no handler.
void remove_unfinished_on_signals(const char* sentence = nullptr);

// While one of these exists, the first of those signals is a request to stop, which the work looks for
// between its steps; a second one ends the process at once.
class StoppableWork {
 public:
  StoppableWork();
  ~StoppableWork();
  StoppableWork(const StoppableWork&) = delete;
  StoppableWork& operator=(const StoppableWork&) = delete;

  // Whether this process handles signals so.
  static bool is_supported();
  // The signal that asked the work under way to stop; 0: none, or there is no such work.
  static int stop_signal();
};

// From now on SIGUSR1 and SIGXCPU are requests to save the state of the work. For programs.
void save_on_signals();
// Whether there was such a request since the last call.
bool take_save_request();

}  // namespace polyad
