#include "polyad/base/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>

#include "polyad/base/log.hpp"
#include "polyad/base/printable.hpp"

namespace polyad {
namespace {

constexpr double first_show = 1.0;  // seconds: shorter phases are not worth a word
constexpr double quick_interval = 0.1, log_interval = 5.0;
constexpr int bar_width = 24;

std::string duration(double seconds) {
  const Index s = std::lround(seconds);
  if (s < 60) return fmt::format("{} s", s);
  if (s < 3600) return fmt::format("{} min {:02} s", s / 60, s % 60);
  return fmt::format("{} h {:02} min", s / 3600, s % 3600 / 60);
}

std::string bar(double fraction) {
  const int full = int(std::clamp(fraction, 0.0, 1.0) * bar_width);
  return "[" + std::string(std::size_t(full), '#') + std::string(std::size_t(bar_width - full), '.') + "] ";
}

}  // namespace

std::string with_prefix(double amount, const std::string& unit) {
  constexpr std::array prefixes{"", "k", "M", "G", "T", "P", "E"};
  std::size_t p = 0;
  while (amount >= 999.5 && p + 1 < prefixes.size()) {
    amount /= 1000;
    ++p;
  }
  const std::string number = p == 0 ? fmt::format("{:.0f}", amount) : fmt::format("{:.3g}", amount);
  return fmt::format("{} {}{}", number, prefixes[p], unit);
}

std::string progress_line(const std::string& phase, Index done, Index total, const std::string& unit,
                          double seconds) {
  if (total == 0 && done == 0) return fmt::format("{}: {}", phase, duration(seconds));
  const double rate = seconds > 0 ? double(done) / seconds : 0;
  std::string line = phase + ": ";
  line += total > 0 ? fmt::format("{:.0f} % of {}", 100.0 * double(done) / double(total),
                                  with_prefix(double(total), unit))
                    : with_prefix(double(done), unit);
  line += fmt::format(", {}/s", with_prefix(rate, unit));
  if (total > done && rate > 0) line += fmt::format(", {} left", duration(double(total - done) / rate));
  return line;
}

Progress::Progress(ProgressFn show)
    : style_(show ? Style::callback : Style::silent), callback_(std::move(show)) {}

Progress::Style Progress::style_for(std::FILE* out) {
  return isatty(fileno(out)) != 0 ? Style::terminal : Style::log;
}

void Progress::begin(const std::string& phase, Index total, const std::string& unit) {
  finish();
  phase_ = printable(phase);  // it may hold the name of a file
  unit_ = unit;
  total_ = total;
  done_ = 0;
  show_figure("");
  watch_.lap();
  if (style_ == Style::silent) return;
  try {
    teller_ = std::jthread([this](const std::stop_token& stop) noexcept { keep_showing(stop); });
  } catch (const std::system_error&) {  // no thread is available: the phase runs without progress
  }
}

void Progress::keep_showing(const std::stop_token& stop) noexcept try {
  std::mutex mutex;
  std::condition_variable_any wake;
  std::unique_lock lock(mutex);
  double wait = style_ == Style::callback ? quick_interval : first_show;
  while (!wake.wait_for(lock, stop, std::chrono::duration<double>(wait),
                        [&] { return stop.stop_requested(); })) {
    show();
    wait = style_ == Style::log ? log_interval : quick_interval;
  }
} catch (const std::exception&) {  // as when memory runs out: progress ends, the work does not
}

void Progress::show_figure(const std::string& figure) {
  const std::lock_guard lock(mutex_);
  figure_ = figure;
}

std::string Progress::figure() const {
  const std::lock_guard lock(mutex_);
  return figure_;
}

void Progress::show() {
  if (style_ == Style::callback) {
    callback_({phase_, done_, total_, unit_, watch_.seconds(), figure()});
    return;
  }
  std::string line = progress_line(phase_, done_, total_, unit_, watch_.seconds());
  if (const auto reached = figure(); !reached.empty()) line += ", " + reached;
  if (style_ == Style::log) {
    write_log(out_, line + "\n");
  } else {
    const double fraction = total_ > 0 ? double(done_) / double(total_) : 0;
    write_log(out_, fmt::format("\r{}{}\x1b[K", total_ > 0 ? bar(fraction) : "", line));
  }
  shown_ = true;
}

void Progress::finish() {
  if (!teller_.joinable()) return;
  teller_.request_stop();
  teller_.join();
  if (!shown_) return;
  const std::string amount = done_ > 0 ? with_prefix(double(done_), unit_) + " " : "";
  const auto reached = figure();
  write_log(out_, fmt::format("{}{}: {}in {}{}{}\n", style_ == Style::terminal ? "\r\x1b[K" : "", phase_,
                              amount, duration(watch_.seconds()), reached.empty() ? "" : ", ", reached));
  shown_ = false;
}

}  // namespace polyad
