#include "polyad/distributed/ratings/distribute_ratings.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <tuple>

#include "polyad/distributed/move_nonzeros.hpp"
#include "polyad/distributed/ratings/random_rows.hpp"
#include "tests/support/random_ratings.hpp"
#include "tests/support/shares.hpp"

namespace polyad {
namespace {

constexpr auto both = {RatingSide::user, RatingSide::item};

RowOwners shuffled(const Comm& comm, const SparseTensor<double>& ratings, RatingSide side,
                   std::uint64_t seed) {
  return ShuffledParts(ratings.extent(mode_of(side)), comm.size(), seed);
}

SideOwners owners_of(const Comm& comm, const SparseTensor<double>& whole, std::uint64_t seed) {
  return {shuffled(comm, whole, RatingSide::user, seed), shuffled(comm, whole, RatingSide::item, seed)};
}

SideOwners only(SideOwners owners, RatingSide side) {
  (side == RatingSide::user ? owners.items : owners.users).reset();
  return owners;
}

SplitRatings of_users(const Comm& comm, const SparseTensor<double>& whole, const RatingSplit& split,
                      std::uint64_t seed) {
  return move_to_users(comm, test::share_of(whole, comm), shuffled(comm, whole, RatingSide::user, seed),
                       split)
      .split;
}

using Ratings = std::set<std::tuple<Index, Index, double>>;

// Users first, of all processes.
Ratings all_of(const Comm& comm, const SparseTensor<double>& own, RatingSide first) {
  const auto x = transposed(own, first);
  const auto users = comm.all_gather_varying(x.indices(0)).items,
             items = comm.all_gather_varying(x.indices(1)).items;
  const auto values = comm.all_gather_varying(x.values()).items;
  Ratings all;
  for (std::size_t z = 0; z < values.size(); ++z) all.emplace(users[z], items[z], values[z]);
  EXPECT_EQ(all.size(), values.size()) << "no rating is on two processes";
  return all;
}

TEST(DistributeRatings, gives_the_same_ratings_to_test_on_whoever_is_dealt_out) {
  const Comm comm = Comm::world();
  std::uint64_t seed = 0;
  for (const auto& shape : test::rating_shapes())
    for (const auto kind :
         {RatingSplit::Kind::none, RatingSplit::Kind::fraction, RatingSplit::Kind::leave_one_out}) {
      const auto whole = test::random_ratings(shape, ++seed);
      const RatingSplit split{kind, 0.3, seed};
      const auto alone = move_to_users(Comm::self(), whole, {}, split).split;
      const auto owners = owners_of(comm, whole, seed);
      for (const auto by : both) {
        const auto distributed = distribute(comm, of_users(comm, whole, split, seed), only(owners, by), {});
        EXPECT_EQ(distributed.by, by);
        EXPECT_FALSE(distributed.side_seconds);
        EXPECT_EQ(all_of(comm, distributed.split.train, by),
                  all_of(Comm::self(), alone.train, RatingSide::user));
        EXPECT_EQ(all_of(comm, distributed.split.test, by),
                  all_of(Comm::self(), alone.test, RatingSide::user));
        const auto& rows = by == RatingSide::user ? *owners.users : *owners.items;
        for (const auto* ratings : {&distributed.split.train, &distributed.split.test})
          for (const Index row : ratings->indices(0)) ASSERT_EQ(rows(row), comm.rank());
      }
    }
}

// Counts that know nothing of processes, and the identities by their words.
struct Counted {
  Index volume = 0, staleness = 0;
};
Counted count_rows(const SparseTensor<double>& train, RatingSide by, const RowOwners& owners, Index eta) {
  std::map<Index, std::set<int>> touching;
  const int mode = mode_of(by);
  for (Index z = 0; z < train.num_nonzeros(); ++z)
    touching[train.indices(1 - mode)[z]].insert(owners(train.indices(mode)[z]));
  Counted counted;
  for (const auto& [row, parts] : touching) {
    const Index lambda = std::ssize(parts);
    counted.staleness += std::max(Index(0), lambda - eta);
    if (lambda == 1) continue;
    if (eta == 1)
      counted.volume += 2 * (lambda - 1);
    else
      counted.volume += lambda <= eta ? lambda : 2 * lambda - eta;
  }
  return counted;
}

TEST(DistributeRatings, plans_words_and_staleness_of_the_rows_that_travel) {
  const Comm comm = Comm::world();
  for (std::uint64_t seed = 1; seed <= 6; ++seed)
    for (int eta = 1; eta <= comm.size(); ++eta) {
      const auto whole = test::random_ratings({20 + Index(seed), 33, 1, 150}, seed);
      const auto alone = move_to_users(Comm::self(), whole, {}, {}).split.train;
      const auto owners = owners_of(comm, whole, seed);
      RatingLayout layout;
      layout.num_sub_epochs = eta;
      for (const auto by : both) {
        const auto distributed = distribute(comm, of_users(comm, whole, {}, seed), only(owners, by), layout);
        const auto costs = costs_of(distributed.rotation, layout.row, layout.machine);
        const auto counted =
            count_rows(alone, by, by == RatingSide::user ? *owners.users : *owners.items, eta);
        EXPECT_EQ(costs.volume_rows, counted.volume);
        EXPECT_EQ(costs.staleness_rows, counted.staleness);
        EXPECT_EQ(distributed.rotation.num_sub_epochs, eta);
      }
    }
}

TEST(DistributeRatings, gathers_the_shares_that_one_process_would_count) {
  const Comm comm = Comm::world();
  std::uint64_t seed = 0;
  for (const auto& shape : test::rating_shapes()) {
    const auto whole = test::random_ratings(shape, ++seed);
    for (const auto by : both) {
      const auto rows = shuffled(comm, whole, by, seed);
      EXPECT_EQ(gather_shares(comm, transposed(test::share_of(whole, comm), by), rows, comm.size()),
                share_columns(transposed(whole, by), rows, comm.size()));
    }
  }
}

TEST(DistributeRatings, takes_the_side_that_is_clearly_cheaper) {
  const Comm comm = Comm::world();
  const auto wide = test::random_ratings({12, 2000, 1, 9000}, 3);
  const auto square = test::random_ratings({200, 200, 1, 4000}, 3);
  const auto distributed_by = [&](const SparseTensor<double>& whole) {
    RatingLayout layout;
    layout.row = {8, 10, 4};
    const auto distributed =
        distribute(comm, of_users(comm, whole, {}, 1), owners_of(comm, whole, 1), layout);
    EXPECT_TRUE(distributed.side_seconds);
    const auto chosen = costs_of(distributed.rotation, layout.row, layout.machine).predicted_seconds;
    EXPECT_EQ(chosen, distributed.by == RatingSide::user ? distributed.side_seconds->users
                                                         : distributed.side_seconds->items);
    EXPECT_EQ(distributed.by == RatingSide::item,
              distributed.side_seconds->items < 0.9 * distributed.side_seconds->users);
    return distributed.by;
  };
  EXPECT_EQ(distributed_by(wide), comm.size() == 1 ? RatingSide::user : RatingSide::item);
  EXPECT_EQ(distributed_by(transposed(wide, RatingSide::item)), RatingSide::user);
  EXPECT_EQ(distributed_by(square), RatingSide::user) << "as good is not better";
}

TEST(Transposed, twice_is_as_it_was) {
  const auto ratings = test::random_ratings({4, 9, 1, 20}, 1);
  const auto once = transposed(ratings, RatingSide::item);
  EXPECT_EQ(once.extents(), (std::vector<Index>{9, 4}));
  EXPECT_TRUE(std::ranges::equal(once.indices(0), ratings.indices(1)));
  EXPECT_EQ(transposed(once, RatingSide::item), ratings);
  EXPECT_EQ(transposed(ratings, RatingSide::user), ratings);
  const auto model =
      test::random_rating_model<float>({4, 9, 3, 1}, test::Biases::with, test::Entries::normal, 2);
  const auto other = transposed(model, RatingSide::item);
  EXPECT_EQ(other.users, model.items);
  EXPECT_EQ(other.item_biases, model.user_biases);
  EXPECT_EQ(transposed(other, RatingSide::item), model);
}

TEST(RandomByRatings, balances_ratings_and_does_not_depend_on_processes) {
  const Comm comm = Comm::world();
  std::uint64_t seed = 0;
  for (const auto& shape : test::rating_shapes())
    for (const int num_parts : {1, 2, 5, 40})
      for (const int mode : {0, 1}) {
        const auto whole = test::random_ratings(shape, ++seed);
        const auto owners = random_by_ratings(comm, test::share_of(whole, comm), mode, num_parts, seed);
        EXPECT_EQ(owners, random_by_ratings(Comm::self(), whole, mode, num_parts, seed));
        std::vector<Index> of_rows(std::size_t(whole.extent(mode)), 0), of_parts(std::size_t(num_parts), 0);
        for (const Index row : whole.indices(mode)) {
          ++of_rows[std::size_t(row)];
          ++of_parts[std::size_t(owners(row))];
        }
        // Each row went to the part with the fewest ratings, so that no two parts differ by more than a row.
        if (of_rows.empty()) continue;
        EXPECT_LE(std::ranges::max(of_parts) - std::ranges::min(of_parts), std::ranges::max(of_rows));
      }
}

}  // namespace
}  // namespace polyad
