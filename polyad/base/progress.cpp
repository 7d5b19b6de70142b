#include "polyad/base/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace polyad {
namespace {

constexpr double first_show = 1.0;  // seconds: shorter phases are not worth a word
constexpr double terminal_interval = 0.1, log_interval = 5.0;
constexpr int bar_width = 24;

std::string duration(double seconds) {
  const auto s = Index(seconds + 0.5);
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
  const double rate = seconds > 0 ? double(done) / seconds : 0;
  std::string line = phase + ": ";
  line += total > 0 ? fmt::format("{:.0f} % of {}", 100.0 * double(done) / double(total),
                                  with_prefix(double(total), unit))
                    : with_prefix(double(done), unit);
  line += fmt::format(", {}/s", with_prefix(rate, unit));
  if (total > done && rate > 0) line += fmt::format(", {} left", duration(double(total - done) / rate));
  return line;
}

Progress::Style Progress::style_for(std::FILE* out) {
  return isatty(fileno(out)) != 0 ? Style::terminal : Style::log;
}

void Progress::begin(const std::string& phase, Index total, const std::string& unit) {
  finish();
  phase_ = phase;
  unit_ = unit;
  total_ = total;
  done_ = 0;
  next_show_ = first_show;
  watch_.lap();
  active_ = true;
}

void Progress::advance(Index steps) {
  done_ += steps;
  if (style_ == Style::silent || !active_ || watch_.seconds() < next_show_) return;
  const std::unique_lock lock(drawing_, std::try_to_lock);
  if (lock) show();
}

void Progress::show() {
  const double now = watch_.seconds();
  if (now < next_show_) return;
  next_show_ = now + (style_ == Style::terminal ? terminal_interval : log_interval);
  const std::string line = progress_line(phase_, done_, total_, unit_, now);
  if (style_ == Style::log) {
    fmt::print(out_, "{}\n", line);
  } else {
    const double fraction = total_ > 0 ? double(done_) / double(total_) : 0;
    fmt::print(out_, "\r{}{}\x1b[K", total_ > 0 ? bar(fraction) : "", line);
  }
  std::fflush(out_);
  shown_ = true;
}

void Progress::finish() {
  if (!active_) return;
  if (shown_ && style_ == Style::terminal) fmt::print(out_, "\r\x1b[K");
  if (shown_)
    fmt::print(out_, "{}: {} in {}\n", phase_, with_prefix(double(done_), unit_), duration(watch_.seconds()));
  std::fflush(out_);
  active_ = shown_ = false;
}

}  // namespace polyad
