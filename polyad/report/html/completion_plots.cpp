#include "polyad/report/html/completion_plots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "polyad/base/progress.hpp"
#include "polyad/report/html/plot_parts.hpp"
#include "polyad/report/plan_report.hpp"
#include "polyad/report/statistics_report.hpp"

namespace polyad::report {
namespace {

constexpr Index max_points = 500, max_dots = 60;

// Horizontal position of number i of `count`.
class NumberScale {
 public:
  NumberScale(Index first, Index last) : first_(first), last_(last) {}

  double at(Index number) const {
    return last_ > first_ ? double(number - first_) / double(last_ - first_) : 0.5;
  }
  std::string marks(const std::string& name) const {
    std::string svg;
    for (const Index n : round_numbers(last_ - first_ + 1, 6))
      svg += mark_below(at(first_ + n - 1), std::to_string(first_ + n - 1));
    return svg + name_below(name);
  }

 private:
  Index first_, last_;
};

// Calls fn(i) for at most max_points numbers below count, the last among them.
template <class Fn>
void for_each_point(Index count, Fn fn) {
  const Index stride = std::max<Index>(1, (count + max_points - 1) / max_points);
  for (Index i = 0; i < count - 1; i += stride) fn(i);
  fn(count - 1);
}

// A curve through y(i) at x(i) for i below count, with dots if there is enough space for them.
template <class X, class Y>
std::string curve_of(Index count, X x, Y y, const std::string& style) {
  Curve curve;
  for_each_point(count, [&](Index i) { curve.add(x(i), y(i)); });
  auto svg = curve.svg(style);
  if (count <= max_dots)
    for (Index i = 0; i < count; ++i) svg += dot(x(i), y(i), style);
  return svg;
}

std::vector<EpochRecord> sound_ones(std::span<const EpochRecord> epochs) {
  std::vector<EpochRecord> sound;
  for (const auto& record : epochs)
    if (!record.was_undone) sound.push_back(record);
  return sound;
}

Axis error_axis(std::span<const EpochRecord> epochs) {
  double low = epochs[0].train.rmse, high = low;
  for (const auto& record : epochs) {
    const double test = record.test ? record.test->rmse : record.train.rmse;
    low = std::min({low, record.train.rmse, test});
    high = std::max({high, record.train.rmse, test});
  }
  return round_axis(low, high, 4, high > 0 ? 1e-3 * high : 1e-3);
}

// Marks of errors of any size: ratings may be of any.
std::string error_mark(const Axis& axis, double value) {
  const bool is_handy = axis.decimals <= 4 && axis.high < 1e5;
  return is_handy ? axis.mark(value) : fmt::format("{:.3g}", value);
}

std::string undone_marks(std::span<const EpochRecord> epochs, const NumberScale& scale) {
  std::string svg;
  int last = -1;
  for (const auto& record : epochs)
    if (record.was_undone && std::exchange(last, record.epoch) != record.epoch)
      svg += line_down(scale.at(record.epoch), "undone", "undone", 2);
  return svg;
}

// The text at the point of an epoch.
std::string error_text(const EpochRecord& record) {
  auto text = fmt::format("epoch {}: training RMSE {:.5g}", record.epoch, record.train.rmse);
  return record.test ? text + fmt::format(", {} RMSE {:.5g}", record.validates ? "validation" : "test",
                                          record.test->rmse)
                     : text;
}

std::string count_mark(double count) {
  return with_prefix(count, "");
}

}  // namespace

std::string error_plot(std::span<const EpochRecord> epochs, int best_epoch) {
  const auto sound = sound_ones(epochs);
  if (sound.empty()) return "";
  const auto axis = error_axis(sound);
  const NumberScale scale(epochs.front().epoch, epochs.back().epoch);
  const bool has_test = sound[0].test.has_value();
  auto svg = fmt::format(
      "<svg class=\"chart epochs\" role=\"img\"><title>Errors after each epoch</title><desc>The RMSE of "
      "training begins at {:.6g} and ends at {:.6g}, epoch {}.</desc>",
      sound.front().train.rmse, sound.back().train.rmse, sound.back().epoch);
  svg += horizontal_grid(axis, "RMSE (unit of the ratings)",
                         [&](double value) { return error_mark(axis, value); });
  svg += scale.marks("epoch") + undone_marks(epochs, scale);
  if (has_test && best_epoch >= epochs.front().epoch) svg += line_down(scale.at(best_epoch), "kept", "kept");
  const auto x = [&](Index i) { return scale.at(sound[i].epoch); };
  std::vector<std::string> names{"training, as ratings were met"};
  svg += curve_of(
      std::ssize(sound), x, [&](Index i) { return 1 - axis.position(sound[i].train.rmse); }, series_style(0));
  if (has_test) {
    names.emplace_back(sound[0].validates ? "validation" : "test");
    svg += curve_of(
        std::ssize(sound), x, [&](Index i) { return 1 - axis.position(sound[i].test->rmse); },
        series_style(1));
  }
  PointTexts texts;
  for_each_point(std::ssize(sound), [&](Index i) { texts.add(x(i), error_text(sound[i])); });
  return svg + texts.svg() + "</svg>" + legend(names);
}

std::string sync_plot(std::span<const SyncWords> words, int chosen) {
  const Index count = std::ssize(words);
  double high = 1;
  for (const auto& one : words) high = std::max({high, double(one.volume), double(one.staleness)});
  const auto axis = round_axis(0, high, 4, 1);
  const NumberScale scale(1, count);
  auto svg = fmt::format(
      "<svg class=\"chart sub-epochs\" role=\"img\"><title>Volume and staleness over sub-epochs</title><desc>"
      "With one sub-epoch {} words are sent and {} are stale, with {} it is {} and {}.</desc>",
      words.front().volume, words.front().staleness, count, words.back().volume, words.back().staleness);
  svg += horizontal_grid(axis, "words per epoch", count_mark) + scale.marks("sub-epochs per epoch");
  svg += line_down(scale.at(chosen), "chosen", "kept");
  const auto x = [&](Index i) { return scale.at(i + 1); };
  svg += curve_of(
      count, x, [&](Index i) { return 1 - axis.position(double(words[i].volume)); }, series_style(0));
  svg += curve_of(
      count, x, [&](Index i) { return 1 - axis.position(double(words[i].staleness)); }, series_style(1));
  PointTexts texts;
  for_each_point(count, [&](Index i) {
    texts.add(x(i), fmt::format("{}: {} words sent, {} stale", counted(i + 1, "sub-epoch"),
                                with_commas(words[i].volume), with_commas(words[i].staleness)));
  });
  return svg + texts.svg() + "</svg>" + legend(std::vector<std::string>{"volume", "staleness"});
}

std::string connectivity_plot(std::span<const Index> rows_by_connectivity, RatingSide side) {
  const auto name = to_string(side);
  const Index count = std::ssize(rows_by_connectivity);
  const Index maximum = std::ranges::max(rows_by_connectivity);
  const auto axis = round_axis(0, double(std::max<Index>(maximum, 1)), 4, 1);
  const double slot = 1 / double(count), bar = std::min(0.72 * slot, 0.05);
  auto svg = fmt::format(
      "<svg class=\"chart sub-epochs\" role=\"img\"><title>How widely {}s are shared</title><desc>{} "
      "bars; the highest is of {} {}s.</desc>",
      name, count, maximum, name);
  svg += horizontal_grid(axis, "number of " + name + "s", count_mark);
  const auto middle = [&](Index k) { return (double(k) + 0.5) * slot; };
  for (Index k = 0; k < count; ++k) {
    const double height = axis.position(double(rows_by_connectivity[k]));
    svg += with_text(
        fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>", percent(middle(k) - bar / 2),
                    percent(1 - height), percent(bar), percent(height)),
        fmt::format("{} on {}", counted(rows_by_connectivity[k], name), processes_text(int(k))));
  }
  svg += mark_below(middle(0), "0");
  for (const Index n : round_numbers(count - 1, count <= 12 ? 12 : 5))
    if (n < count) svg += mark_below(middle(n), std::to_string(n));
  return svg + name_below("λ: processes with ratings of the " + name) + "</svg>";
}

}  // namespace polyad::report
