#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace polyad {

// Elapsed seconds since construction or the last lap.
class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  double lap() {
    const double elapsed = seconds();
    start_ = Clock::now();
    return elapsed;
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

// Elapsed seconds of the phases of a run, in the order in which
// they first began. Part of a result; there is no global timer.
class Timings {
 public:
  void add(const std::string& phase, double seconds) {
    for (auto& [name, total] : phases_)
      if (name == phase) {
        total += seconds;
        return;
      }
    phases_.emplace_back(phase, seconds);
  }

  // Runs fn and adds the elapsed time to the phase.
  template <class Fn>
  decltype(auto) measure(const std::string& phase, Fn fn) {
    const Lap lap{*this, phase, {}};
    return fn();
  }

  double seconds(const std::string& phase) const {
    for (const auto& [name, total] : phases_)
      if (name == phase) return total;
    return 0;
  }
  const std::vector<std::pair<std::string, double>>& phases() const { return phases_; }

 private:
  struct Lap {
    Timings& timings;
    const std::string& phase;
    Stopwatch watch;
    ~Lap() { timings.add(phase, watch.seconds()); }
  };

  std::vector<std::pair<std::string, double>> phases_;
};

}  // namespace polyad
