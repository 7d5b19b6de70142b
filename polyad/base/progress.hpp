#pragma once

#include <atomic>
#include <cstdio>
#include <functional>
#include <string>
#include <thread>

#include "polyad/base/timings.hpp"
#include "polyad/base/types.hpp"

namespace polyad {

// How far a phase of the work has come.
struct ProgressState {
  std::string phase;          // "reading x.tns"
  Index done = 0, total = 0;  // steps; total is 0 where their number is not known
  std::string unit;           // of the steps: "B", "iterations"
  double seconds = 0;         // since the phase began
};
// Called every tenth of a second during phases that take longer, by a thread of its own.
using ProgressFn = std::function<void(const ProgressState&)>;

// Tells a person that work is going on: on a terminal a bar with rate and time left, redrawn in place;
// in a log a plain line every few seconds. Phases under a second stay silent. A thread of its own does
// the telling, so that phases that cannot count their steps are told of too. advance() may be called by
// all threads; the rest by one. What cannot be written or shown is left out: see write_log.
class Progress {
 public:
  enum class Style { silent, terminal, log, callback };

  explicit Progress(Style style = Style::silent, std::FILE* out = stderr) : style_(style), out_(out) {}
  // Calls a function instead of writing; an empty one: silent.
  explicit Progress(ProgressFn show);
  ~Progress() { finish(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // The style that suits a stream: terminal when a person watches it, else log.
  static Style style_for(std::FILE* out);

  // Begins a phase of `total` steps (0: unknown), counted in `unit`, e.g. begin("reading x.tns", n, "B").
  void begin(const std::string& phase, Index total = 0, const std::string& unit = "");
  void advance(Index steps) { done_ += steps; }
  void finish();

  // Runs fn as a phase whose steps are not counted.
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

  Style style_;
  std::FILE* out_ = stderr;
  ProgressFn callback_;
  std::string phase_, unit_;
  Index total_ = 0;
  std::atomic<Index> done_ = 0;
  Stopwatch watch_;
  bool shown_ = false;
  std::jthread teller_;
};

// The line that a log gets: "reading x.tns: 45 % of 1.2 GB, 310 MB/s, 2 s left", or "sorting: 12 s".
std::string progress_line(const std::string& phase, Index done, Index total, const std::string& unit,
                          double seconds);
// 1234567 -> "1.23 M"; bytes with binary meaning are not used: 1 MB = 10^6 B.
std::string with_prefix(double amount, const std::string& unit);

}  // namespace polyad
