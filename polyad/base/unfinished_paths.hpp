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

// From now on SIGINT, SIGTERM and SIGHUP, unless they are ignored, remove all unfinished paths before they
// end the process as they would have. For programs; the library itself installs no handler.
void remove_unfinished_on_signals();

}  // namespace polyad
