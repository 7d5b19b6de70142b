#include "polyad/kernels/ratings/sgd_sweep.hpp"
#include "polyad/kernels/ratings/block_scheduler.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "polyad/base/random.hpp"
#include "polyad/kernels/cp/factor.hpp"
#include "polyad/kernels/ratings/rating_start.hpp"
#include "tests/support/generated.hpp"
#include "tests/support/random_ratings.hpp"

namespace polyad::kernels {
namespace {

template <class Real>
Array<LocalRating<Real>> distinct_ratings(const test::RatingShape& shape, std::uint64_t seed) {
  const auto drawn = test::random_ratings(shape, seed);
  std::set<std::pair<Index, Index>> seen;
  Array<LocalRating<Real>> ratings;
  for (Index z = 0; z < drawn.num_nonzeros(); ++z) {
    const Index user = drawn.indices(0)[z], item = drawn.indices(1)[z];
    if (seen.emplace(user, item).second)
      ratings.push_back({LocalIndex(user), LocalIndex(item), Real(drawn.values()[z] - 2)});
  }
  return ratings;
}

// Shapes with one block, and with many.
std::vector<test::RatingShape> sweep_shapes() {
  auto shapes = test::rating_shapes();
  for (const Index factors : {8, 16, 24, 32, 48, 64, 70})
    shapes.push_back({Index(50 + factors), Index(90 - factors), factors, 500});
  shapes.push_back({900, 400, 16, 60000});
  return shapes;
}

template <class Real>
RatingRows<Real> random_rows(Index num_rows, Index num_factors, std::uint64_t seed) {
  RatingRows<Real> rows{Matrix<Real>(num_rows, padded_components(num_factors)), {}, {}};
  const Random random(seed, 11);
  for (Index i = 0; i < num_rows; ++i) {
    for (Index c = 0; c < num_factors; ++c)
      rows.factors(i, c) = Real(0.3 * random.normal(std::uint64_t(i * 100 + c)));
    rows.biases.push_back(Real(0.1 * random.normal(std::uint64_t(-1 - i))));
    rows.squares.push_back(Real(random.uniform(std::uint64_t(-1 - num_rows - i))));
  }
  return rows;
}

// Some are strong.
template <class Real>
RatingPulls<Real> random_pulls(const test::RatingShape& shape, std::uint64_t seed) {
  const Random random(seed, 12);
  std::uint64_t draw = 0;
  const auto pulls = [&](Index num_rows) {
    Array<RowPull<Real>> result;
    for (Index i = 0; i < num_rows; ++i) {
      const double strength = random.below(10, draw++) == 0 ? 5 : 0.2;
      result.push_back({Real(strength * random.uniform(draw++)), Real(strength * random.uniform(draw++))});
    }
    return result;
  };
  auto of_users = pulls(shape.users);
  return {std::move(of_users), pulls(shape.items)};
}

template <class Real>
double largest_difference(const RatingRows<Real>& a, const RatingRows<Real>& b) {
  double most = 0;
  const auto compare = [&](std::span<const Real> x, std::span<const Real> y) {
    for (std::size_t i = 0; i < x.size(); ++i) most = std::max(most, std::abs(double(x[i]) - double(y[i])));
  };
  compare(a.factors.flat(), b.factors.flat());
  compare(a.biases, b.biases);
  compare(a.squares, b.squares);
  return most;
}

template <class Real>
void expect_sweeps_equal_the_definition(double tolerance) {
  std::uint64_t seed = 0;
  for (const auto& shape : sweep_shapes())
    for (const bool moves_biases : {true, false})
      for (const auto& [is_adaptive, is_explicit] :
           {std::pair(true, false), std::pair(false, false), std::pair(true, true), std::pair(false, true)}) {
        SCOPED_TRACE(::testing::Message() << shape.users << " users, " << shape.factors << " factors");
        const auto blocks = arrange_ratings(distinct_ratings<Real>(shape, ++seed), shape.users, shape.items);
        auto users = random_rows<Real>(shape.users, shape.factors, seed),
             items = random_rows<Real>(shape.items, shape.factors, seed + 1);
        auto users_by_definition = users, items_by_definition = items;
        const SgdStep step{0.02, moves_biases, is_adaptive, shape.factors, is_explicit};
        const auto pulls = random_pulls<Real>(shape, seed);

        const auto errors = sgd_sweep(blocks, users, items, pulls, step);

        const auto expected =
            ref::sgd_sweep<Real>(blocks.ratings, users_by_definition, items_by_definition, pulls, step);
        EXPECT_LT(largest_difference(users, users_by_definition), tolerance);
        EXPECT_LT(largest_difference(items, items_by_definition), tolerance);
        EXPECT_EQ(errors.count, std::ssize(blocks.ratings));
        EXPECT_NEAR(errors.squares, expected.squares, tolerance * (1 + expected.squares));
        EXPECT_NEAR(errors.magnitudes, expected.magnitudes, tolerance * (1 + expected.magnitudes));
      }
}

TEST(SgdSweep, equals_its_definition) {
  expect_sweeps_equal_the_definition<double>(1e-12);
}

TEST(SgdSweep, equals_its_definition_in_single_precision) {
  expect_sweeps_equal_the_definition<float>(2e-4);
}

TEST(SgdSweep, gives_the_same_bits_for_any_number_of_threads) {
  const test::RatingShape shape{900, 400, 16, 60000};
  const auto blocks = arrange_ratings(distinct_ratings<float>(shape, 5), shape.users, shape.items);
  ASSERT_GT(blocks.num_bands, 2);
  const auto sweep_with = [&](int threads) {
    const test::Threads use(threads);
    auto users = random_rows<float>(shape.users, shape.factors, 1),
         items = random_rows<float>(shape.items, shape.factors, 2);
    const auto errors =
        sgd_sweep(blocks, users, items, random_pulls<float>(shape, 3), {0.02, true, true, shape.factors});
    return std::tuple(users, items, errors);
  };
  const auto alone = sweep_with(1);
  for (const int threads : {2, 3, 5, 8}) EXPECT_EQ(sweep_with(threads), alone) << threads << " threads";
}

TEST(SgdSweep, leaves_padding_at_zero) {
  const test::RatingShape shape{40, 30, 5, 300};
  const auto blocks = arrange_ratings(distinct_ratings<float>(shape, 5), shape.users, shape.items);
  auto users = random_rows<float>(shape.users, shape.factors, 1),
       items = random_rows<float>(shape.items, shape.factors, 2);
  ASSERT_GT(users.factors.num_cols(), shape.factors);
  sgd_sweep(blocks, users, items, random_pulls<float>(shape, 3), {0.02, true, true, shape.factors});
  for (Index i = 0; i < shape.users; ++i)
    for (Index c = shape.factors; c < users.factors.num_cols(); ++c) EXPECT_EQ(users.factors(i, c), 0);
}

TEST(BlockScheduler, come_to_each_band_in_the_order_of_the_rounds_and_one_at_a_time) {
  for (const int threads : {1, 2, 3, 8})
    for (const Index n : {1, 2, 8, 32})
      for (int again = 0; again < 20; ++again) {
        const test::Threads use(threads);
        BlockScheduler turns(n);
        std::vector<Index> of_user(std::size_t(n), 0),
            of_item(of_user);  // not atomic: that is what turns are for
        Index num_late = 0;
#pragma omp parallel reduction(+ : num_late)
        while (const auto square = turns.take()) {
          const auto user = std::size_t(square->user_band), item = std::size_t(square->round) ^ user;
          if (of_user[user]++ != square->round || of_item[item]++ != square->round) ++num_late;
          turns.finish(*square);
        }
        EXPECT_EQ(num_late, 0) << threads << " threads, " << n << " bands";
        EXPECT_EQ(of_user, std::vector<Index>(std::size_t(n), n));
        EXPECT_EQ(of_item, of_user);
      }
}

TEST(RatingErrors, are_those_of_the_definition_for_any_number_of_threads) {
  const test::RatingShape shape{300, 200, 37, 20000};
  const auto ratings = distinct_ratings<double>(shape, 3);
  const auto users = random_rows<double>(shape.users, shape.factors, 1),
             items = random_rows<double>(shape.items, shape.factors, 2);
  double squares = 0, magnitudes = 0;
  for (const auto& [user, item, value] : ratings) {
    double e = value - users.biases[user] - items.biases[item];
    for (Index c = 0; c < shape.factors; ++c) e -= users.factors(user, c) * items.factors(item, c);
    squares += e * e;
    magnitudes += std::abs(e);
  }
  const auto errors_with = [&](int threads) {
    const test::Threads use(threads);
    return rating_errors<double>(ratings, users, items);
  };
  const auto errors = errors_with(1);
  EXPECT_NEAR(errors.squares, squares, 1e-10 * squares);
  EXPECT_NEAR(errors.magnitudes, magnitudes, 1e-10 * magnitudes);
  EXPECT_EQ(errors.count, std::ssize(ratings));
  EXPECT_EQ(errors_with(3), errors);
}

TEST(RatingBlocks, hold_every_rating_once) {
  for (const auto& shape : sweep_shapes()) {
    auto ratings = distinct_ratings<float>(shape, 7);
    auto blocks = arrange_ratings(ratings, shape.users, shape.items);
    const auto by_place = [](const auto& a, const auto& b) {
      return std::pair(a.user, a.item) < std::pair(b.user, b.item);
    };
    std::ranges::sort(ratings, by_place);
    std::ranges::sort(blocks.ratings, by_place);
    EXPECT_EQ(blocks.ratings, ratings);
  }
}

// What threads rely on: of any cut into squares, those of one step share no row.
TEST(RatingBlocks, share_no_row_within_a_step) {
  const test::RatingShape shape{900, 400, 1, 60000};
  const auto blocks = arrange_ratings(distinct_ratings<float>(shape, 7), shape.users, shape.items);
  ASSERT_EQ(blocks.num_bands, 4);
  for (Index n = 1; n <= blocks.num_bands; n *= 2) {
    const Index in_square = blocks.num_bands * blocks.num_bands / (n * n);
    for (Index step = 0; step < n; ++step) {
      std::vector<Index> user_of(900, -1), item_of(400, -1);
      for (Index band = 0; band < n; ++band)
        for (Index i = 0; i < in_square; ++i)
          for (const auto& rating : blocks.block(block_place(step, band) * in_square + i)) {
            EXPECT_TRUE(user_of[rating.user] == -1 || user_of[rating.user] == band);
            EXPECT_TRUE(item_of[rating.item] == -1 || item_of[rating.item] == band);
            user_of[rating.user] = item_of[rating.item] = band;
          }
    }
  }
}

TEST(RatingBlocks, place_blocks_as_a_bijection) {
  for (const Index n : {1, 2, 8}) {
    std::set<Index> places;
    for (Index step = 0; step < n; ++step)
      for (Index band = 0; band < n; ++band) places.insert(block_place(step, band));
    EXPECT_EQ(std::ssize(places), n * n);
    EXPECT_EQ(*places.rbegin(), n * n - 1);
  }
}

TEST(RatingStart, depends_on_the_global_row_only) {
  const RatingStart start{5, true, true, 3};
  const std::vector<Index> all{0, 1, 2, 3, 4, 5}, some{4, 1, 9};
  const auto whole = start_rows<double>(start, RatingSide::item, all, 6);
  const auto part = start_rows<double>(start, RatingSide::item, some, 2);
  EXPECT_TRUE(std::ranges::equal(part.factors.row(0), whole.factors.row(4)));
  EXPECT_TRUE(std::ranges::equal(part.factors.row(1), whole.factors.row(1)));
  for (const double x : part.factors.row(2)) EXPECT_EQ(x, 0) << "nothing is learned about this row";
  EXPECT_FALSE(std::ranges::equal(start_rows<double>(start, RatingSide::user, all, 6).factors.row(0),
                                  whole.factors.row(0)));
}

TEST(RatingStart, notices_rows_that_are_no_numbers) {
  auto rows = random_rows<float>(4, 3, 1);
  EXPECT_TRUE(are_bounded(rows));
  rows.factors(2, 1) = std::nanf("");
  EXPECT_FALSE(are_bounded(rows));
  rows.factors(2, 1) = 1e30F;
  EXPECT_FALSE(are_bounded(rows));
}

}  // namespace
}  // namespace polyad::kernels
