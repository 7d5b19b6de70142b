#include "polyad/distributed/ratings/rotation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "polyad/base/random.hpp"
#include "polyad/distributed/ratings/rotation_costs.hpp"
#include "polyad/distributed/ratings/row_messages.hpp"

namespace polyad {
namespace {

constexpr RowSize row{8, 9, 4};

ColumnShares random_shares(int num_parts, Index num_columns, std::uint64_t seed) {
  const Random random(seed, 1);
  ColumnShares shares;
  shares.num_parts = num_parts;
  std::uint64_t next = 0;
  for (Index j = 0; j < num_columns; ++j) {
    const double density = random.uniform(++next);  // some columns are nearly everywhere, some nowhere
    for (int part = 0; part < num_parts; ++part)
      if (random.uniform(++next) < density * density) {
        shares.parts.push_back(part);
        shares.ratings.push_back(1 + Index(random.below(20, ++next)));
      }
    shares.begin.push_back(std::ssize(shares.parts));
  }
  return shares;
}

// One column that all parts rate.
ColumnShares one_column(int num_parts) {
  ColumnShares shares;
  shares.num_parts = num_parts;
  for (int part = 0; part < num_parts; ++part) {
    shares.parts.push_back(part);
    shares.ratings.push_back(1 + part % 3);
  }
  shares.begin.push_back(num_parts);
  return shares;
}

TEST(Rotation, has_the_volume_and_staleness_of_the_seeds_example) {
  const auto once = costs_of(plan_rotation(one_column(7), 1), row, {});
  EXPECT_EQ(once.volume_rows, 12);
  EXPECT_EQ(once.staleness_rows, 6);
  const auto four_times = costs_of(plan_rotation(one_column(7), 4), row, {});
  EXPECT_EQ(four_times.volume_rows, 10);
  EXPECT_EQ(four_times.staleness_rows, 3);
}

TEST(Rotation, spreads_the_parts_of_a_column_evenly_over_sub_epochs) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const int parts = 1 + int(seed % 9);
    for (int n = 1; n <= parts + 2; ++n) {
      const auto owners_by = seed % 2 == 0 ? ColumnOwners::random : ColumnOwners::balanced;
      const auto rotation = plan_rotation(random_shares(parts, 25, seed), n, owners_by, seed);
      for (Index j = 0; j < rotation.columns.num_columns(); ++j) {
        std::map<int, Index> count, owners;
        for (Index s = rotation.columns.begin[j]; s < rotation.columns.begin[j + 1]; ++s) {
          ++count[rotation.sub_epoch[s]];
          owners[rotation.sub_epoch[s]] += rotation.owned[s];
        }
        const Index lambda = rotation.columns.connectivity(j);
        ASSERT_EQ(std::ssize(count), std::min(lambda, Index(n)));
        for (const auto& [t, in_t] : count) {
          ASSERT_GE(t, 0);
          ASSERT_LT(t, n);
          ASSERT_GE(in_t, lambda / n);
          ASSERT_LE(in_t, (lambda + n - 1) / n);
          ASSERT_EQ(owners[t], 1) << "one of those that learn from a column owns it";
        }
      }
    }
  }
}

TEST(Rotation, moves_as_many_rows_as_the_identities_say_for_every_number_of_sub_epochs) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const int parts = 1 + int(seed % 11);
    const auto shares = random_shares(parts, 40, seed);
    Index last_volume = -1, last_staleness = -1;
    for (int n = 1; n <= parts; ++n) {
      const auto costs = costs_of(plan_rotation(shares, n), row, {});
      EXPECT_EQ(costs.volume_rows, rotation_volume(shares, n)) << parts << " parts, " << n;
      EXPECT_EQ(costs.staleness_rows, rotation_staleness(shares, n));
      if (n > 1) {
        EXPECT_LE(costs.volume_rows, last_volume) << "it does not grow";
        EXPECT_LE(costs.staleness_rows, last_staleness);
      }
      last_volume = costs.volume_rows;
      last_staleness = costs.staleness_rows;
    }
    EXPECT_EQ(rotation_staleness(shares, shares.max_connectivity()), 0);
  }
}

// Who learns from a column next has its row: followed share by share, without for_each_move.
TEST(Rotation, brings_every_row_to_those_who_need_it_next) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const int parts = 2 + int(seed % 7), n = 1 + int(seed % 5);
    const auto rotation = plan_rotation(random_shares(parts, 20, seed), n);
    const auto part_of = [&](Index share) { return rotation.columns.parts[share]; };
    std::map<std::pair<Index, int>, std::set<int>> arrives;  // (column, sub-epoch): parts
    std::map<std::pair<Index, int>, std::set<int>> reduced;
    for_each_move(
        rotation,
        [&](const RowMove& move) {
          EXPECT_EQ(rotation.owned[move.to], 1);
          EXPECT_EQ(rotation.sub_epoch[move.from], move.sub_epoch);
          EXPECT_TRUE((reduced[{move.column, move.sub_epoch}].insert(part_of(move.from)).second));
        },
        [&](const RowMove& move) {
          EXPECT_EQ(rotation.owned[move.from], 1);
          EXPECT_TRUE((arrives[{move.column, move.sub_epoch}].insert(part_of(move.to)).second));
        });
    for (Index j = 0; j < rotation.columns.num_columns(); ++j) {
      if (rotation.columns.connectivity(j) < 2) continue;
      std::map<int, std::set<int>> learners;
      for (Index s = rotation.columns.begin[j]; s < rotation.columns.begin[j + 1]; ++s)
        learners[rotation.sub_epoch[s]].insert(part_of(s));
      for (auto t = learners.begin(); t != learners.end(); ++t) {
        auto next = std::next(t) == learners.end() ? learners.begin() : std::next(t);
        auto has_it = arrives[{j, t->first}];
        EXPECT_EQ(std::ssize(reduced[{j, t->first}]), std::ssize(t->second) - 1);
        for (const int part : next->second) {
          const bool kept_it = next == t && has_it.size() + 1 == next->second.size();
          EXPECT_TRUE(has_it.contains(part) || kept_it) << "column " << j << ", part " << part;
        }
      }
    }
  }
}

TEST(Rotation, counts_messages_as_a_plain_count_does) {
  const auto rotation = plan_rotation(random_shares(6, 30, 3), 3);
  std::set<std::array<int, 4>> ways;
  const auto note = [&](int kind) {
    return [&ways, &rotation, kind](const RowMove& move) {
      ways.insert({kind, move.sub_epoch, rotation.columns.parts[move.from], rotation.columns.parts[move.to]});
    };
  };
  for_each_move(rotation, note(0), note(1));
  const auto costs = costs_of(rotation, row, {});
  EXPECT_EQ(costs.messages, std::ssize(ways));
  Index most = 0;
  for (int part = 0; part < 6; ++part)
    most =
        std::max(most, Index(std::ranges::count_if(ways, [&](const auto& way) { return way[2] == part; })));
  EXPECT_EQ(costs.max_messages, most);

  // What processes exchange, seen from each of them.
  std::vector<LocalIndex> rows;  // of shares
  for (Index j = 0; j < 30; ++j)
    rows.insert(rows.end(), std::size_t(rotation.columns.connectivity(j)), LocalIndex(j));
  Index messages = 0, sent = 0, received = 0;
  const auto of_all = rotation_steps(rotation, 0, 6, rows);
  for (int part = 0; part < 6; ++part) {
    const auto steps = rotation_steps(rotation, part, 1, rows);
    for (std::size_t t = 0; t < steps.size(); ++t) {
      const auto &step = steps[t].front(), &same = of_all[t][std::size_t(part)];
      EXPECT_EQ(step.reduce.sent, same.reduce.sent);
      EXPECT_EQ(step.expand.received, same.expand.received);
      for (const auto* kind : {&step.reduce, &step.expand}) {
        messages += std::ssize(kind->to);
        sent += std::ssize(kind->sent);
        received += std::ssize(kind->received);
      }
    }
  }
  EXPECT_EQ(messages, costs.messages);
  EXPECT_EQ(sent, costs.volume_rows);
  EXPECT_EQ(received, costs.volume_rows);
}

TEST(Rotation, progresses_by_the_share_of_ratings_that_averages_leave) {
  // Two columns of 30 ratings: one of 3 parts, one of a single part.
  ColumnShares shares;
  shares.num_parts = 3;
  shares.begin = {0, 3, 4};
  shares.parts = {0, 1, 2, 1};
  shares.ratings = {10, 10, 10, 30};
  EXPECT_DOUBLE_EQ(rotation_progress(shares, 1), std::sqrt((30.0 / 3 + 30) / 60));
  EXPECT_DOUBLE_EQ(rotation_progress(shares, 2), std::sqrt((30.0 * 2 / 3 + 30) / 60));
  EXPECT_DOUBLE_EQ(rotation_progress(shares, 3), 1);
  EXPECT_DOUBLE_EQ(rotation_progress(shares, 9), 1);
  EXPECT_DOUBLE_EQ(rotation_progress(ColumnShares{}, 2), 1);
}

TEST(Rotation, has_random_owners_where_they_are_asked_for) {
  ColumnShares shares;
  shares.num_parts = 4;
  for (int j = 0; j < 4000; ++j) {
    for (int part = 0; part < 4; ++part) {
      shares.parts.push_back(part);
      shares.ratings.push_back(1);
    }
    shares.begin.push_back(std::ssize(shares.parts));
  }
  const auto owned_by = [&](std::uint64_t seed) {
    const auto rotation = plan_rotation(shares, 1, ColumnOwners::random, seed);
    std::vector<Index> counts(4, 0);
    for (std::size_t s = 0; s < rotation.owned.size(); ++s)
      counts[std::size_t(shares.parts[s])] += rotation.owned[s];
    return std::pair(counts, rotation.owned);
  };
  // Each of four with a quarter of the columns, up to four standard deviations.
  for (const Index count : owned_by(1).first) EXPECT_NEAR(double(count), 1000, 110);
  EXPECT_EQ(owned_by(1), owned_by(1));
  EXPECT_NE(owned_by(1).second, owned_by(2).second);
}

TEST(Rotation, balances_sub_epochs) {
  // Every part rates every column alike: then each can always have its share.
  ColumnShares shares;
  shares.num_parts = 8;
  for (int j = 0; j < 64; ++j) {
    for (int part = 0; part < 8; ++part) {
      shares.parts.push_back(part);
      shares.ratings.push_back(5);
    }
    shares.begin.push_back(std::ssize(shares.parts));
  }
  EXPECT_DOUBLE_EQ(costs_of(plan_rotation(shares, 8), row, {}).schedule_ratio(), 1);
  for (std::uint64_t seed = 1; seed <= 5; ++seed)
    EXPECT_LT(costs_of(plan_rotation(random_shares(8, 2000, seed), 8), row, {}).schedule_ratio(), 1.1);
}

TEST(Rotation, chooses_the_sub_epochs_that_are_quickest_to_an_error) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const auto shares = random_shares(12, 200, seed);
    const int choice = choose_sub_epochs(shares, row, {});
    EXPECT_GE(rotation_progress(shares, choice), least_progress);
    EXPECT_LE(choice, shares.max_connectivity());
    const auto seconds = [&](int n) {
      return costs_of(plan_rotation(shares, n), row, {}).seconds_of_progress();
    };
    for (const int n : {1, 2, 4, 8, int(shares.max_connectivity())})
      if (rotation_progress(shares, n) >= least_progress) {
        EXPECT_LE(seconds(choice), seconds(n));
      }
  }
  ColumnShares nothing;
  nothing.num_parts = 4;
  EXPECT_EQ(choose_sub_epochs(nothing, row, {}), 1);
}

TEST(ColumnShares, count_as_a_plain_count_does) {
  SparseTensor<double> ratings({5, 4});
  const std::vector<int> parts{1, 0, 1, 2, 0};
  const std::vector<std::pair<Index, Index>> places{{0, 0}, {1, 0}, {2, 0}, {4, 3}, {3, 3}, {2, 2}, {0, 2}};
  for (const auto& [i, j] : places) ratings.append(std::vector{i, j}, 1);
  const auto shares = share_columns(ratings, ListedRows{{}, parts}, 3);
  EXPECT_EQ(shares.begin, (Array<Index>{0, 2, 2, 3, 5}));
  EXPECT_EQ(shares.parts, (Array<int>{0, 1, 1, 0, 2}));
  EXPECT_EQ(shares.ratings, (Array<Index>{1, 2, 2, 1, 1}));
  EXPECT_EQ(shares.max_connectivity(), 2);
  EXPECT_EQ(shares.connectivities(), (std::vector<Index>{1, 1, 2}));
}

}  // namespace
}  // namespace polyad
