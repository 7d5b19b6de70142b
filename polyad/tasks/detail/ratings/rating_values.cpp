#include "polyad/tasks/detail/ratings/rating_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "polyad/base/error.hpp"
#include "polyad/base/printable.hpp"

namespace polyad::tasks {
namespace {

constexpr Index largest_scale = 10;  // of whole numbers: beyond it there are hardly any stars

struct ValueCounts {
  Index count = 0;
  double least = std::numeric_limits<double>::infinity(), largest = -least;
  Index num_fractions = 0;                           // that are no whole numbers
  std::array<Index, largest_scale + 2> num_whole{};  // [number]; the last: of larger ones
};

ValueCounts count_values(const Comm& comm, std::span<const double> own) {
  ValueCounts counts;
  for (const double value : own) {
    counts.least = std::min(counts.least, value);
    counts.largest = std::max(counts.largest, value);
    if (value != std::floor(value))
      ++counts.num_fractions;
    else if (value >= 0)
      ++counts.num_whole[std::size_t(std::min(value, double(largest_scale + 1)))];
  }
  counts.count = comm.all_reduce(std::ssize(own));
  counts.least = comm.all_reduce(counts.least, Reduce::min);
  counts.largest = comm.all_reduce(counts.largest, Reduce::max);
  counts.num_fractions = comm.all_reduce(counts.num_fractions);
  comm.all_reduce(std::span<Index>(counts.num_whole));
  return counts;
}

// Whole numbers from 0 on, of which 1 is the most frequent, and some are larger than any scale of ratings.
bool look_like_counts(const ValueCounts& values) {
  constexpr double some = 0.01;
  if (values.num_fractions > 0 || values.least < 0) return false;
  const auto& whole = values.num_whole;
  const bool is_mode_one = std::ranges::max_element(whole.begin(), whole.end() - 1) == whole.begin() + 1;
  return is_mode_one && double(whole.back()) >= some * double(values.count);
}

// What to do about either.
std::string implicit_hint() {
  return option_name("implicit") + " learns from what users chose instead";
}

}  // namespace

void warn_of_values(const Context& context, std::span<const double> own, const std::string& path) {
  const auto values = count_values(context.comm(), own);
  const auto of = path.empty() ? "" : path + ": ";
  if (values.count > 1 && values.least == values.largest)
    context.warn(
        fmt::format("{}all ratings are {:.6g}: they tell nothing about what users like more or less, "
                    "and predictions of them are arbitrary; {}",
                    of, values.least, implicit_hint()));
  else if (look_like_counts(values))
    context.warn(fmt::format(
        "{}the ratings look like counts: {:.0f} % are 1, the largest is {}; {}, with "
        "counts as confidence",
        of, 100 * double(values.num_whole[1]) / double(values.count),
        values.largest < 1e15 ? with_commas(Index(values.largest)) : fmt::format("{:.6g}", values.largest),
        implicit_hint()));
}

}  // namespace polyad::tasks
