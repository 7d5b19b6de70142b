#include "polyad/distributed/ratings/baselines.hpp"

#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "polyad/comm/collective.hpp"

namespace polyad {
namespace {

constexpr double damping = 5;

// [row]: the sum of what `residual` says of its ratings, over their number plus `damped_by`. Collective.
template <class Residual>
std::vector<double> offsets_of(const Comm& comm, const SparseTensor<double>& ratings, int mode,
                               double damped_by, Residual residual) {
  const auto rows = ratings.indices(mode);
  const auto num_rows = std::size_t(ratings.extent(mode));
  auto [sums, counts] = collectively(comm, [&] {
    return std::pair(std::vector<double>(num_rows), std::vector<double>(num_rows, damped_by / comm.size()));
  });
  for (Index z = 0; z < ratings.num_nonzeros(); ++z) {
    sums[rows[z]] += residual(z);
    ++counts[rows[z]];
  }
  comm.all_reduce(std::span<double>(sums));
  comm.all_reduce(std::span<double>(counts));
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = counts[i] > 0 ? sums[i] / counts[i] : 0;
  return sums;
}

// Collective.
template <class Predict>
double rmse(const Comm& comm, const SparseTensor<double>& ratings, Predict predict) {
  double squares = 0;
  for (Index z = 0; z < ratings.num_nonzeros(); ++z) {
    const double error = ratings.values()[z] - predict(z);
    squares += error * error;
  }
  squares = comm.all_reduce(squares);
  const Index count = comm.all_reduce(ratings.num_nonzeros());
  return count > 0 ? std::sqrt(squares / double(count)) : 0;
}

double mean_of(const Comm& comm, const SparseTensor<double>& ratings) {
  double sum = 0;
  for (const double value : ratings.values()) sum += value;
  sum = comm.all_reduce(sum);
  const Index count = comm.all_reduce(ratings.num_nonzeros());
  return count > 0 ? sum / double(count) : 0;
}

}  // namespace

BaselineErrors measure_baselines(const Comm& comm, const SplitRatings& own, RatingSide first) {
  const auto &train = own.train, &test = own.test;
  const int user = first == RatingSide::user ? 0 : 1, item = 1 - user;
  const double mean = mean_of(comm, train);
  const auto from_mean = [&](Index z) { return train.values()[z] - mean; };
  // Test ratings have the extents of the training ratings, or are none.
  const auto by_row = [&](const std::vector<double>& offsets, int mode) {
    return rmse(comm, test, [&](Index z) { return mean + offsets[test.indices(mode)[z]]; });
  };

  BaselineErrors errors;
  errors.mean = rmse(comm, test, [&](Index) { return mean; });
  errors.user_means = by_row(offsets_of(comm, train, user, 0, from_mean), user);
  errors.item_means = by_row(offsets_of(comm, train, item, 0, from_mean), item);
  const auto items = offsets_of(comm, train, item, damping, from_mean);
  const auto users = offsets_of(comm, train, user, damping,
                                [&](Index z) { return from_mean(z) - items[train.indices(item)[z]]; });
  errors.biases = rmse(comm, test, [&](Index z) {
    return mean + items[test.indices(item)[z]] + users[test.indices(user)[z]];
  });
  return errors;
}

}  // namespace polyad
