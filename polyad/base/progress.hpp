#pragma once

#include <atomic>
#include <cstdio>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "polyad/base/timings.hpp"
#include "polyad/base/types.hpp"

namespace polyad {

// State of a phase of the computation.
struct ProgressState {
  std::string phase;          // name of the phase: "reading x.tns"
  Index done = 0, total = 0;  // number of steps done and in total; 0: the total is unknown
  std::string unit;           // unit of the steps: "B", "iterations"
  double seconds = 0;         // elapsed time since the phase began
  std::string figure = {};    // what the steps so far have come to: "fit 0.4312"; may be empty
};
// Called every 0.1 s, on a thread of its own, during phases that take longer than that.
using ProgressFn = std::function<void(const ProgressState&)>;

// Shows progress: on a terminal a bar with rate and remaining time, redrawn in place; in
// a log a line every few seconds. Phases shorter than a second are not shown. A separate
// thread writes, so that phases without counted steps are shown too. advance() and show_figure() are
// thread-safe; the other functions are not. Output errors are ignored: see write_log.
class Progress {
 public:
  enum class Style { silent, terminal, log, callback };

  explicit Progress(Style style = Style::silent, std::FILE* out = stderr) : style_(style), out_(out) {}
  // Calls `show` instead of writing; an empty function: silent.
  explicit Progress(ProgressFn show);
  ~Progress() { finish(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // The style for a stream: terminal if it is an interactive terminal, otherwise log.
  static Style style_for(std::FILE* out);

  // Begins a phase of `total` steps (0: unknown), counted in `unit`, e.g. begin("reading x.tns", n, "B").
  void begin(const std::string& phase, Index total = 0, const std::string& unit = "");
  void advance(Index steps) { done_ += steps; }
  // What the steps so far have come to, shown at the end of the line: "fit 0.4312".
  void show_figure(const std::string& figure);
  void finish();

  // Runs fn as a phase without counted steps.
  template <class Fn>
  auto during(const std::string& phase, Fn fn) {
    begin(phase);
    auto result = fn();
    finish();
    return result;
  }

 private:
  void keep_showing(const std::stop_token& stop) noexcept;
  void show();
  std::string figure() const;

  Style style_;
  std::FILE* out_ = stderr;
  ProgressFn callback_;
  std::string phase_, unit_;
  Index total_ = 0;
  std::atomic<Index> done_ = 0;
  mutable std::mutex mutex_;  // of the next
  std::string figure_;
  Stopwatch watch_;
  bool shown_ = false;
  std::jthread teller_;
};

// A line of a log: "reading x.tns: 45 % of 1.2 GB, 310 MB/s, 2 s left", or "sorting: 12 s".
std::string progress_line(const std::string& phase, Index done, Index total, const std::string& unit,
                          double seconds);
// A number with a decimal prefix: 1234567 -> "1.23 M"; 1 MB is 10^6 B.
std::string with_prefix(double amount, const std::string& unit);

}  // namespace polyad
