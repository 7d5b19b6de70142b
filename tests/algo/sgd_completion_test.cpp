#include "polyad/algo/ratings/sgd_completion.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "polyad/base/error.hpp"
#include "polyad/distributed/ratings/distribute_ratings.hpp"
#include "polyad/kernels/ratings/rating_start.hpp"
#include "polyad/kernels/ratings/sgd_sweep.hpp"
#include "polyad/tensor/generate/generate.hpp"
#include "tests/support/generated.hpp"
#include "tests/support/random_ratings.hpp"
#include "tests/support/shares.hpp"

namespace polyad {
namespace {

// Ratings with structure, of which every process has a share.
SparseTensor<double> some_ratings(Index users, Index items, Index count, std::uint64_t seed) {
  RatingsOptions options;
  options.num_users = users;
  options.num_items = items;
  options.num_ratings = count;
  options.num_factors = 2;
  options.test_fraction = 0;
  options.seed = seed;
  return generate_ratings(options).train;
}

RowOwners random_users(const Comm& comm, const SparseTensor<double>& whole, std::uint64_t seed) {
  return ShuffledParts(whole.extent(0), comm.size(), seed);
}

struct Case {
  CompletionOptions options;
  RatingLayout layout;
  RatingSplit split;
  RatingSide by = RatingSide::user;
};

Case some_case(std::uint64_t n) {
  Case c;
  const auto schedules = all_step_schedules();
  c.options.step.kind = schedules[n % schedules.size()];
  c.options.step.size = default_step(c.options.step.kind);
  c.options.num_factors = std::array<Index, 4>{1, 8, 5, 37}[n % 4];
  c.options.has_biases = n % 3 != 0;
  c.options.max_epochs = 3;
  c.options.patience = 0;
  c.options.seed = c.layout.seed = c.split.seed = n;
  c.layout.centres = c.options.has_biases;
  c.layout.row = {c.options.num_factors, travelling_words(c.options).per_row(), 4};
  if (n % 2 == 0) c.split = {RatingSplit::Kind::fraction, 0.2, n};
  return c;
}

// With users at random, or items, of which the case says that they are distributed.
template <class Real>
DistRatings<Real> lay_out(const Comm& comm, SplitRatings of_users, const Case& c) {
  const int num_parts = places_of(comm, c.layout.num_parts).num_parts;
  const RowOwners any = ShuffledParts(of_users.train.extent(mode_of(c.by)), num_parts, c.options.seed);
  SideOwners owners;
  (c.by == RatingSide::user ? owners.users : owners.items) = any;
  auto distributed = distribute(comm, std::move(of_users), owners, c.layout);
  return lay_out_ratings<Real>(comm, distributed.split, distributed.owners, std::move(distributed.rotation),
                               c.layout);
}

template <class Real>
DistRatings<Real> lay_out(const Comm& comm, const SparseTensor<double>& whole, const Case& c) {
  auto own =
      move_to_users(comm, test::share_of(whole, comm), random_users(comm, whole, c.options.seed), c.split);
  return lay_out<Real>(comm, std::move(own.split), c);
}

// All ratings in the order in which an epoch learns from them, under global numbers: sub-epoch, process,
// rating. On every process.
template <class Real>
Array<LocalRating<Real>> serial_order(const DistRatings<Real>& x) {
  Array<LocalRating<Real>> all;
  for (std::size_t t = 0; t < x.steps.size(); ++t) {
    Array<LocalRating<Real>> own;
    for (const auto& part : x.parts)
      for (auto rating :
           kernels::arrange_ratings(part.sub_epochs[t], std::ssize(part.users), std::ssize(part.items))
               .ratings) {
        rating.user = LocalIndex(part.users[rating.user]);
        rating.item = LocalIndex(part.items[rating.item]);
        own.push_back(rating);
      }
    const auto gathered = x.comm.all_gather_varying(std::span<const LocalRating<Real>>(own)).items;
    all.insert(all.end(), gathered.begin(), gathered.end());
  }
  return all;
}

// One block: so in this order.
template <class Real>
kernels::RatingBlocks<Real> in_order(Array<LocalRating<Real>> ratings) {
  const Index count = std::ssize(ratings);
  return {1, std::move(ratings), {0, count}};
}

// The start of all rows that have ratings.
template <class Real>
RatingRows<Real> global_start(const Case& c, RatingSide side, Index num_rows,
                              std::span<const LocalRating<Real>> ratings) {
  std::vector<Index> all(static_cast<std::size_t>(num_rows));
  std::iota(all.begin(), all.end(), Index(0));
  const bool is_adaptive = c.options.step.kind == StepSchedule::Kind::adagrad;
  auto rows = kernels::start_rows<Real>(
      {c.options.num_factors, c.options.has_biases, is_adaptive, c.options.seed}, side, all, num_rows);
  std::vector<bool> is_rated(all.size(), false);
  for (const auto& rating : ratings) is_rated[side == RatingSide::user ? rating.user : rating.item] = true;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (!is_rated[i]) std::ranges::fill(rows.factors.row(Index(i)), Real(0));
  return rows;
}

template <class Real>
RatingPulls<Real> global_pulls(const Case& c, const std::array<Index, 2>& extents,
                               std::span<const LocalRating<Real>> ratings) {
  std::vector<Index> of_users(std::size_t(extents[0]), 0), of_items(std::size_t(extents[1]), 0);
  for (const auto& rating : ratings) {
    ++of_users[rating.user];
    ++of_items[rating.item];
  }
  return {kernels::row_pulls<Real>(c.options.shrinkage, of_users),
          kernels::row_pulls<Real>(c.options.shrinkage, of_items)};
}

// Bit for bit what the model of a serial replay is.
template <class Real>
void expect_same_rows(const Matrix<Real>& found, const Matrix<Real>& replayed, double scale) {
  const Real unit = Real(std::sqrt(scale));
  for (Index i = 0; i < found.num_rows(); ++i)
    for (Index c = 0; c < found.num_cols(); ++c)
      ASSERT_EQ(found(i, c), unit * replayed(i, c)) << "row " << i << ", factor " << c;
}

template <class Real>
void expect_serial_replay(const Comm& comm, std::uint64_t n, RatingSide by) {
  const auto whole = some_ratings(40, 25, 500, n);
  auto c = some_case(n);
  c.by = by;
  c.layout.is_stale_free = true;
  auto x = lay_out<Real>(comm, whole, c);
  ASSERT_EQ(x.rotation.num_sub_epochs, x.rotation.columns.max_connectivity());
  const auto blocks = in_order(serial_order(x));
  ASSERT_EQ(x.num_users, by == RatingSide::user ? 40 : 25);
  auto users = global_start<Real>(c, RatingSide::user, x.num_users, blocks.ratings),
       items = global_start<Real>(c, RatingSide::item, x.num_items, blocks.ratings);
  const auto pulls = global_pulls<Real>(c, {x.num_users, x.num_items}, blocks.ratings);
  StepSizes sizes(c.options.step);
  for (int epoch = 0; epoch < c.options.max_epochs; ++epoch) {
    const auto errors =
        sgd_sweep(blocks, users, items, pulls,
                  {sizes.of_epoch(epoch), c.options.has_biases,
                   c.options.step.kind == StepSchedule::Kind::adagrad, c.options.num_factors});
    sizes.after_epoch(x.scale * std::sqrt(errors.squares / double(errors.count)));
  }

  const auto result = sgd_completion(x, c.options);

  const auto found = gather_model<Real>(x, result.users, result.items, travelling_words(c.options));
  ASSERT_EQ(std::ssize(result.epochs), c.options.max_epochs) << "no epoch was undone";
  if (comm.rank() != 0) return;
  expect_same_rows(found.model.users, users.factors, x.scale);
  expect_same_rows(found.model.items, items.factors, x.scale);
  ASSERT_EQ(found.model.has_biases(), c.options.has_biases);
  for (std::size_t i = 0; i < found.model.item_biases.size(); ++i)
    ASSERT_EQ(found.model.item_biases[i], Real(x.scale) * items.biases[i]);
  for (std::size_t i = 0; i < found.model.user_biases.size(); ++i)
    ASSERT_EQ(found.model.user_biases[i], Real(x.scale) * users.biases[i]);
  EXPECT_EQ(found.user_squares, users.squares);
  EXPECT_EQ(found.item_squares, items.squares);
}

TEST(SgdCompletion, without_staleness_equals_a_serial_replay_bit_for_bit) {
  for (std::uint64_t n = 1; n <= 12; ++n) {
    SCOPED_TRACE("case " + std::to_string(n));
    for (const auto by : {RatingSide::user, RatingSide::item}) {
      expect_serial_replay<float>(Comm::world(), n, by);
      expect_serial_replay<double>(Comm::world(), n, by);
    }
  }
}

// What a run leaves behind, on every process.
template <class Real>
struct Trained {
  TrainedRows<Real> rows;
  std::vector<double> errors;  // of training and test, epoch by epoch, then of the result
  Traffic training;
};

template <class Real>
Trained<Real> train_with_parts(const Comm& comm, const SparseTensor<double>& whole, Case c, int num_parts) {
  c.layout.num_parts = num_parts;
  const RowOwners users = ShuffledParts(whole.extent(0), num_parts, 77);
  auto own = move_to_users(comm, test::share_of(whole, comm), users, c.split, places_of(comm, num_parts));
  SideOwners owners;
  if (c.by == RatingSide::user)
    owners.users = users;
  else
    owners.items = ShuffledParts(whole.extent(1), num_parts, 78);
  auto distributed = distribute(comm, std::move(own.split), owners, c.layout);
  auto x = lay_out_ratings<Real>(comm, distributed.split, distributed.owners, std::move(distributed.rotation),
                                 c.layout);
  const auto result = sgd_completion(x, c.options);
  Trained<Real> trained;
  for (const auto& record : result.epochs)
    for (const double error : {record.train.rmse, record.train.mae, record.test ? record.test->rmse : 0.0})
      trained.errors.push_back(error);
  trained.errors.push_back(result.train.rmse);
  trained.training = {comm.all_reduce(result.training.words), comm.all_reduce(result.training.messages), 0};
  trained.rows = gather_model<Real>(x, result.users, result.items, travelling_words(c.options));
  return trained;
}

template <class Real>
void expect_same(const Trained<Real>& found, const Trained<Real>& expected) {
  EXPECT_EQ(found.rows.model, expected.rows.model);
  EXPECT_EQ(found.rows.user_squares, expected.rows.user_squares);
  EXPECT_EQ(found.rows.item_squares, expected.rows.item_squares);
  EXPECT_EQ(found.errors, expected.errors);
  EXPECT_EQ(found.training, expected.training);
}

// With a part for each process, and with all parts, or some, on one: bit for bit the same, stale or not.
TEST(SgdCompletion, does_not_depend_on_which_process_has_which_parts) {
  const Comm comm = Comm::world(), alone = Comm::self();
  const Comm half = comm.split(comm.rank() % 2, comm.rank());
  for (std::uint64_t n = 1; n <= 4; ++n)
    for (const int sub_epochs : {1, int(n) + 1, comm.size() + 1})
      for (const auto by : {RatingSide::user, RatingSide::item}) {
        SCOPED_TRACE("case " + std::to_string(n) + ", " + std::to_string(sub_epochs) + " sub-epochs by " +
                     to_string(by));
        const auto whole = some_ratings(40, 25, 500, n);
        auto c = some_case(n);
        c.by = by;
        // As many parts as processes, and more, some of them without ratings.
        for (const int num_parts : {comm.size(), n == 4 ? 50 : comm.size() + 3}) {
          c.layout.num_sub_epochs = std::min(sub_epochs, num_parts);
          const auto expected = train_with_parts<float>(alone, whole, c, num_parts);
          const auto by_all = train_with_parts<float>(comm, whole, c, num_parts);
          if (comm.rank() == 0) expect_same(by_all, expected);
          const auto by_half = train_with_parts<float>(half, whole, c, num_parts);
          if (half.rank() == 0) expect_same(by_half, expected);
        }
      }
}

void expect_identities(const Comm& comm, int sub_epochs, RatingSide by) {
  auto c = some_case(std::uint64_t(sub_epochs));
  c.by = by;
  c.layout.num_sub_epochs = sub_epochs;
  auto x = lay_out<float>(comm, some_ratings(30, 20, 240, std::uint64_t(sub_epochs)), c);
  const auto predicted = costs_of(x.rotation, c.layout.row, {});
  EXPECT_EQ(predicted.staleness_rows, rotation_staleness(x.rotation.columns, sub_epochs));
  const auto result = sgd_completion(x, c.options);
  const Index epochs = std::ssize(result.epochs);
  EXPECT_EQ(comm.all_reduce(result.training.words),
            epochs * rotation_volume(x.rotation.columns, sub_epochs) * c.layout.row.num_words);
  EXPECT_EQ(comm.all_reduce(result.training.messages), epochs * predicted.messages);
  if (comm.size() == 1) {
    EXPECT_EQ(result.evaluation.words, 0);
  }
}

TEST(SgdCompletion, sends_what_the_identities_say_for_every_number_of_sub_epochs) {
  const Comm comm = Comm::world();
  for (int sub_epochs = 1; sub_epochs <= comm.size(); ++sub_epochs)
    for (const auto by : {RatingSide::user, RatingSide::item}) {
      SCOPED_TRACE(std::to_string(sub_epochs) + " by " + to_string(by));
      expect_identities(comm, sub_epochs, by);
    }
}

TEST(SgdCompletion, by_items_is_by_users_of_the_transpose) {
  const Comm comm = Comm::world();
  for (std::uint64_t n = 1; n <= 6; ++n) {
    auto c = some_case(n);
    c.split = {};
    const auto whole = some_ratings(30, 45, 600, n);
    const auto train = [&](const SparseTensor<double>& ratings, RatingSide by) {
      c.by = by;
      auto x = lay_out<float>(comm, ratings, c);
      const auto result = sgd_completion(x, c.options);
      return transposed(gather_model<float>(x, result.users, result.items, travelling_words(c.options)), by);
    };
    const auto by_items = train(whole, RatingSide::item);
    const auto of_transpose = train(transposed(whole, RatingSide::item), RatingSide::user);
    EXPECT_EQ(transposed(by_items, RatingSide::item).model, of_transpose.model);
    EXPECT_EQ(by_items.item_squares, of_transpose.user_squares);
    if (comm.rank() == 0) {
      EXPECT_EQ(by_items.model.num_users(), 30);
    }
  }
}

TEST(SgdCompletion, gives_the_same_bits_for_any_number_of_threads_and_on_every_run) {
  const Comm comm = Comm::world();
  const auto whole = some_ratings(300, 200, 12000, 4);
  auto c = some_case(4);
  c.options.num_factors = 8;
  const auto train_with = [&](int threads) {
    const test::Threads use(threads);
    auto x = lay_out<float>(comm, whole, c);
    const auto result = sgd_completion(x, c.options);
    return std::pair(result.users, result.items);
  };
  const auto alone = train_with(1);
  EXPECT_EQ(train_with(1), alone);
  EXPECT_EQ(train_with(3), alone);
}

TEST(SgdCompletion, comes_near_the_noise) {
  const Comm comm = Comm::world();
  RatingsOptions made;
  made.num_users = 400;
  made.num_items = 200;
  made.num_ratings = 30000;
  made.num_factors = 2;
  const auto ratings = generate_ratings(made);
  Case c = some_case(3);
  c.options = {};
  c.options.num_factors = 4;
  c.layout.centres = true;
  c.layout.is_stale_free = true;
  c.by = comm.size() % 2 == 0 ? RatingSide::item : RatingSide::user;
  const auto owners = random_users(comm, ratings.train, 1);
  auto own = move_to_users(comm, test::share_of(ratings.train, comm), owners, {});
  own.split.test = move_to_users(comm, test::share_of(ratings.test, comm), owners, {}).split.train;
  auto x = lay_out<float>(comm, own.split, c);
  const auto result = sgd_completion(x, c.options);
  ASSERT_TRUE(result.test);
  EXPECT_LT(result.test->rmse, 1.12 * ratings.noise_floor);
  EXPECT_GT(result.test->rmse, 0.95 * ratings.noise_floor);
  EXPECT_GT(x.scale, 1.3 * ratings.noise_floor) << "the mean alone would be far off";
  EXPECT_EQ(result.stop, CompletionStop::test_error);
  EXPECT_LT(result.train.rmse, result.test->rmse);
}

TEST(SgdCompletion, halves_a_step_that_diverges) {
  const Comm comm = Comm::world();
  for (const auto kind : {StepSchedule::Kind::constant, StepSchedule::Kind::bold}) {
    auto c = some_case(1);
    c.options.step = {kind, 40, 0.1};
    auto x = lay_out<float>(comm, some_ratings(60, 30, 900, 2), c);
    int told = 0;
    const auto result = sgd_completion(x, c.options, [&](const EpochRecord& record) {
      told += record.was_undone ? 1 : 0;
      return true;
    });
    EXPECT_GT(told, 0);
    EXPECT_LT(result.epochs.back().step, 40);
    EXPECT_FALSE(result.epochs.back().was_undone);
    EXPECT_LT(result.train.rmse, 1.5 * x.scale);
  }
}

// An epoch may end astray without having met large errors: then no step is small enough for the next.
TEST(SgdCompletion, begins_anew_where_halving_does_not_help) {
  const Comm comm = Comm::world();
  SparseTensor<double> whole({3, 3});
  whole.append(std::vector<Index>{0, 0}, 5);
  whole.append(std::vector<Index>{1, 1}, 3);
  whole.append(std::vector<Index>{2, 2}, 4);
  for (const bool has_biases : {true, false})
    for (double step = 1; step < 2000; step *= 1.7) {
      auto c = some_case(1);
      c.options.has_biases = c.layout.centres = has_biases;
      c.options.step = {StepSchedule::Kind::constant, step, 0.1};
      auto x = lay_out<float>(comm, whole, c);
      const auto result = sgd_completion(x, c.options);
      EXPECT_LT(result.train.rmse, 2 * x.scale) << step;
    }
}

TEST(SgdCompletion, learns_a_constant_from_equal_ratings) {
  const Comm comm = Comm::world();
  SparseTensor<double> whole({7, 5});
  for (Index i = 0; i < 7; ++i)
    for (Index j = i % 2; j < 5; j += 2) whole.append(std::vector{i, j}, 1e6 + 0.1);
  const auto c = some_case(1);
  auto x = lay_out<double>(comm, whole, c);
  EXPECT_EQ(x.scale, 1);
  const auto result = sgd_completion(x, c.options);
  EXPECT_LT(result.train.rmse, 1e-2);
  EXPECT_NEAR(x.mean, 1e6 + 0.1, 1e-6);
}

TEST(SgdCompletion, takes_ratings_of_any_scale) {
  const Comm comm = Comm::world();
  const auto whole = some_ratings(40, 30, 600, 9);
  const auto c = some_case(1);
  const auto rmse_of = [&](double factor, double shift) {
    auto scaled = whole;
    for (double& value : scaled.values()) value = factor * value + shift;
    auto x = lay_out<double>(comm, scaled, c);
    return sgd_completion(x, c.options).train.rmse;
  };
  const double plain = rmse_of(1, 0);
  EXPECT_NEAR(rmse_of(1e5, -3e5), 1e5 * plain, 1e-8 * 1e5);
  EXPECT_NEAR(rmse_of(1e-4, 7), 1e-4 * plain, 1e-8 * 1e-4);
  EXPECT_NEAR(rmse_of(1e-90, 0), 1e-90 * plain, 1e-8 * 1e-90);
}

TEST(SgdCompletion, lives_with_users_and_items_that_nothing_is_known_of) {
  const Comm comm = Comm::world();
  SparseTensor<double> train({6, 9}), tested({6, 9});
  train.append(std::vector<Index>{1, 2}, 4);  // one rating, and most processes have none
  train.append(std::vector<Index>{1, 3}, 2);
  tested.append(std::vector<Index>{5, 8}, 3);  // neither is in the training
  tested.append(std::vector<Index>{1, 8}, 3);
  tested.append(std::vector<Index>{4, 2}, 3);
  const auto owners = random_users(comm, train, 1);
  auto own = move_to_users(comm, test::share_of(train, comm), owners, {});
  own.split.test = move_to_users(comm, test::share_of(tested, comm), owners, {}).split.train;
  for (const int n : {0, 1, 2, 3}) {
    auto c = some_case(1);
    c.layout.is_stale_free = n % 2 == 0;
    c.by = n < 2 ? RatingSide::user : RatingSide::item;
    auto x = lay_out<float>(comm, own.split, c);
    const auto result = sgd_completion(x, c.options);
    ASSERT_TRUE(result.test);
    EXPECT_LT(result.test->rmse, 1);
    const auto found =
        transposed(gather_model<float>(x, result.users, result.items, travelling_words(c.options)), c.by);
    if (comm.rank() != 0) continue;
    for (const float factor : found.model.items.row(8)) EXPECT_EQ(factor, 0);
    for (const float factor : found.model.users.row(5)) EXPECT_EQ(factor, 0);
  }
}

TEST(SgdCompletion, of_no_ratings_at_all_is_nothing) {
  const Comm comm = Comm::world();
  const auto c = some_case(1);
  auto x = lay_out<float>(comm, SparseTensor<double>({3, 2}), c);
  const auto result = sgd_completion(x, c.options);
  EXPECT_EQ(result.train.rmse, 0);
  EXPECT_EQ(result.training.words, 0);
}

TEST(SgdCompletion, goes_on_where_it_stopped) {
  const Comm comm = Comm::world();
  const auto whole = some_ratings(50, 30, 900, 5);
  for (const auto kind : {StepSchedule::Kind::adagrad, StepSchedule::Kind::inverse}) {
    auto c = some_case(1);
    c.options.step = {kind, default_step(kind), 0.1};
    const auto train_for = [&](int epochs, const EarlierTraining<double>* earlier) {
      auto x = lay_out<double>(comm, whole, c);
      auto options = c.options;
      options.max_epochs = epochs;
      auto result = sgd_completion(x, options, {}, earlier);
      const auto rows = gather_model<double>(x, result.users, result.items, travelling_words(options));
      EarlierTraining<double> trained{rows.model, {}};
      trained.training = {std::int64_t(result.best_epoch), result.last_step, options.shrinkage,
                          rows.user_squares, rows.item_squares};
      return std::pair(std::move(result), std::move(trained));
    };
    const auto at_once = train_for(6, nullptr).first;
    auto half = train_for(3, nullptr).second;
    if (comm.size() > 1) continue;  // only the first process has the model
    const auto resumed = train_for(3, &half).first;
    EXPECT_EQ(resumed.epochs.back().epoch, 6);
    EXPECT_EQ(resumed.epochs.back().step, at_once.epochs.back().step);
    EXPECT_NEAR(resumed.train.rmse, at_once.train.rmse, 1e-9);
  }
}

TEST(SgdCompletion, stops_when_the_observer_says_so) {
  auto c = some_case(1);
  auto x = lay_out<float>(Comm::world(), some_ratings(50, 30, 900, 5), c);
  const auto result = sgd_completion(x, c.options, [](const EpochRecord&) { return false; });
  EXPECT_EQ(std::ssize(result.epochs), 1);
  EXPECT_EQ(result.stop, CompletionStop::observer);
}

}  // namespace
}  // namespace polyad
