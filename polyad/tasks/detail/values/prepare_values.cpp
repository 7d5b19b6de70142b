#include "polyad/tasks/detail/values/prepare_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "polyad/base/error.hpp"
#include "polyad/base/parallel.hpp"
#include "polyad/comm/collective.hpp"
#include "polyad/distributed/prepared_values.hpp"
#include "polyad/report/statistics_report.hpp"
#include "polyad/tasks/detail/task_checks.hpp"

namespace polyad::tasks {
namespace {

std::vector<Index> minima(const Tensor& x, const std::vector<Index>& min_count) {
  const auto order = std::size_t(x.tensor.order());
  if (min_count.size() == 1) return std::vector<Index>(order, min_count[0]);
  if (min_count.size() == order) return min_count;
  throw Error(Errc::bad_option,
              fmt::format("{} has {} numbers: expected one, or one for each of the {} modes",
                          option_name("min_count"), min_count.size(), order));
}

// Removes the indices of a mode that have labels and no nonzeros, so that its labels are those that occur.
void remove_empty(Tensor& x, int mode, const std::vector<Index>& counts) {
  auto& labels = x.labels[mode].labels;
  if (std::ssize(labels) != x.tensor.extent(mode)) return;
  std::vector<Index> new_index(counts.size(), 0);
  std::vector<std::string> kept;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    new_index[i] = Index(kept.size());
    if (counts[i] > 0) kept.push_back(std::move(labels[i]));
  }
  labels = std::move(kept);
  const auto indices = x.tensor.indices(mode);
  parallel_for(x.tensor.num_nonzeros(), [&](Index z) { indices[z] = new_index[indices[z]]; });
}

void keep_frequent(const Context& context, Tensor& x, const std::vector<Index>& min_count) {
  const auto minimum = collectively(context.comm(), [&] { return minima(x, min_count); });
  const auto counts = keep_frequent_slices(context.comm(), x.tensor, minimum);
  for (int m = 0; m < x.tensor.order(); ++m) remove_empty(x, m, counts[m]);
  auto extents = x.tensor.extents();
  for (std::size_t m = 0; m < extents.size(); ++m)
    if (!x.labels[m].labels.empty()) extents[m] = std::min(extents[m], std::ssize(x.labels[m].labels));
  if (std::ranges::all_of(counts[0], [](Index count) { return count == 0; }))
    throw Error(Errc::bad_input,
                fmt::format("{} {} leaves no nonzeros", option_name("min_count"), minimum[0]), {x.path, 0});
  auto arrays = std::move(x.tensor).take();
  x.tensor = SparseTensor<double>(std::move(extents), std::move(arrays.indices), std::move(arrays.values));
}

}  // namespace

void refuse_duplicates(Index count, const std::string& path) {
  if (count > 0)
    throw Error(Errc::bad_input,
                fmt::format("has {}, which {} refuse does not allow",
                            report::counted(count, "duplicate coordinate"), option_name("duplicates")),
                {path, 0});
}

void transform_all(std::span<double> values, Transform transform, const std::string& path) {
  const Index fault = transform_values(values, transform);
  if (fault < 0) return;
  const double value = values[fault];
  if (!std::isfinite(value))
    throw Error(Errc::bad_input, "duplicate coordinates add up to more than double precision holds",
                {path, 0});
  throw Error(
      Errc::bad_input,
      fmt::format("the value {} has no {}", value, transform == Transform::sqrt ? "square root" : "log1p"),
      {path, 0});
}

void check_value_options(const LoadOptions& options) {
  if (options.duplicates) require_enumerator("duplicates", *options.duplicates, Duplicates::refuse);
  require_enumerator("transform", options.transform, Transform::binary);
  for (const Index minimum : options.min_count)
    if (minimum < 0)
      throw Error(Errc::bad_option,
                  fmt::format("{} {}: expected numbers from 0 on", option_name("min_count"), minimum));
}

LoadOptions rating_options(LoadOptions options) {
  if (!options.duplicates && prepares_values(options)) options.duplicates = Duplicates::last;
  return options;
}

bool prepares_values(const LoadOptions& options) {
  return options.duplicates || options.transform != Transform::none || !options.min_count.empty();
}

Index prepare_values(const Context& context, Tensor& x, const LoadOptions& options) {
  const Comm& comm = context.comm();
  const auto rule = options.duplicates.value_or(Duplicates::sum);
  const Index duplicates = combine_duplicates(comm, x.tensor, rule);
  if (rule == Duplicates::refuse) refuse_duplicates(duplicates, x.path);
  collectively(comm, [&] { transform_all(x.tensor.values(), options.transform, x.path); });
  if (!options.min_count.empty()) keep_frequent(context, x, options.min_count);
  return duplicates;
}

void prepare_local_values(SparseTensor<double>& x, const LoadOptions& options, const std::string& path) {
  const auto rule = options.duplicates.value_or(Duplicates::sum);
  const Index duplicates = combine_local_duplicates(x, rule);
  if (rule == Duplicates::refuse) refuse_duplicates(duplicates, path);
  transform_all(x.values(), options.transform, path);
}

}  // namespace polyad::tasks
