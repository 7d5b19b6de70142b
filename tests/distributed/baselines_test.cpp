#include "polyad/distributed/ratings/baselines.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "tests/support/random_ratings.hpp"
#include "tests/support/shares.hpp"

namespace polyad {
namespace {

// The mean of what `residual` says of the ratings of each row, damped; by the definition.
template <class Residual>
std::map<Index, double> offsets(const SparseTensor<double>& x, int mode, double damping, Residual residual) {
  std::map<Index, double> sums, counts;
  for (Index z = 0; z < x.num_nonzeros(); ++z) {
    sums[x.indices(mode)[z]] += residual(z);
    counts[x.indices(mode)[z]] += 1;
  }
  for (auto& [row, sum] : sums) sum /= counts[row] + damping;
  return sums;
}

template <class Predict>
double rmse(const SparseTensor<double>& x, Predict predict) {
  double squares = 0;
  for (Index z = 0; z < x.num_nonzeros(); ++z) squares += std::pow(x.values()[z] - predict(z), 2);
  return std::sqrt(squares / double(x.num_nonzeros()));
}

double at(const std::map<Index, double>& offsets, Index row) {
  const auto found = offsets.find(row);
  return found == offsets.end() ? 0 : found->second;
}

TEST(Baselines, are_those_of_their_definition) {
  const Comm comm = Comm::world();
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto train = test::random_ratings({12, 9, 1, 40}, seed),
               test = polyad::test::random_ratings({12, 9, 1, 15}, seed + 100);
    double mean = 0;
    for (const double value : train.values()) mean += value / double(train.num_nonzeros());
    const auto from_mean = [&](Index z) { return train.values()[z] - mean; };
    const auto user_means = offsets(train, 0, 0, from_mean), item_means = offsets(train, 1, 0, from_mean);
    const auto items = offsets(train, 1, 5, from_mean);
    const auto users =
        offsets(train, 0, 5, [&](Index z) { return from_mean(z) - at(items, train.indices(1)[z]); });
    const SplitRatings own{polyad::test::share_of(train, comm), polyad::test::share_of(test, comm)};
    const auto found = measure_baselines(comm, own, RatingSide::user);
    EXPECT_NEAR(found.mean, rmse(test, [&](Index) { return mean; }), 1e-12);
    EXPECT_NEAR(found.user_means,
                rmse(test, [&](Index z) { return mean + at(user_means, test.indices(0)[z]); }), 1e-12);
    EXPECT_NEAR(found.item_means,
                rmse(test, [&](Index z) { return mean + at(item_means, test.indices(1)[z]); }), 1e-12);
    EXPECT_NEAR(
        found.biases,
        rmse(test,
             [&](Index z) { return mean + at(items, test.indices(1)[z]) + at(users, test.indices(0)[z]); }),
        1e-12);

    const auto other = measure_baselines(comm, transposed(own, RatingSide::item), RatingSide::item);
    EXPECT_NEAR(other.user_means, found.user_means, 1e-12) << "whichever side comes first";
    EXPECT_NEAR(other.biases, found.biases, 1e-12);
  }
}

TEST(Baselines, are_zero_without_test_ratings) {
  const auto found = measure_baselines(
      Comm::world(), {test::random_ratings({3, 4, 1, 9}, 1), SparseTensor<double>({3, 4})}, RatingSide::user);
  EXPECT_EQ(found.mean + found.user_means + found.item_means + found.biases, 0);
}

}  // namespace
}  // namespace polyad
