#include "polyad/distributed/routed_exchange.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>

#include "polyad/base/random.hpp"
#include "polyad/distributed/cp/greedy_owners.hpp"
#include "polyad/distributed/cp/routed_plan.hpp"
#include "tests/support/all_routes.hpp"
#include "tests/support/fold_and_expand.hpp"

namespace polyad {
namespace {

struct RoutedShape {
  Index num_rows, columns, components;
  unsigned percent_touched;
};
constexpr std::array<RoutedShape, 5> routed_shapes{
    {{1, 4, 4, 100}, {7, 1, 1, 60}, {40, 8, 5, 30}, {500, 4, 4, 50}, {2000, 40, 37, 40}}};

bool is_touched(const RoutedShape& shape, std::uint64_t seed, int rank, Index row) {
  return Random(seed, std::uint64_t(rank) + 1).below(100, std::uint64_t(row)) < shape.percent_touched;
}

Array<Index> touched_by(const RoutedShape& shape, std::uint64_t seed, int rank) {
  Array<Index> touched;
  for (Index row = 0; row < shape.num_rows; ++row)
    if (is_touched(shape, seed, rank, row)) touched.push_back(row);
  return touched;
}

double number_of(std::uint64_t seed, int rank, Index row, Index column) {
  return double(
      Random(seed, 1000)
          .below(17, (std::uint64_t(rank) * 4001 + std::uint64_t(row)) * 101 + std::uint64_t(column)));
}

double routed_sum(const Comm& comm, const RoutedShape& shape, std::uint64_t seed, Index row, Index column,
                  double added) {
  double sum = 0;
  for (int rank = 0; rank < comm.size(); ++rank)
    if (is_touched(shape, seed, rank, row)) sum += number_of(seed, rank, row, column) + added;
  return sum;
}

// What every process works out for itself is what one works out for all.
void expect_plan_of_all(const Comm& comm, const RoutedShape& shape, std::uint64_t seed,
                        const VirtualTopology& topology, const ExchangePlan& plan) {
  Array<Index> all;
  std::vector<Index> counts;
  for (int rank = 0; rank < comm.size(); ++rank) {
    const auto touched = touched_by(shape, seed, rank);
    all.insert(all.end(), touched.begin(), touched.end());
    counts.push_back(std::ssize(touched));
  }
  const auto rows = invert_touched(all, counts);
  const ShuffledParts owners(shape.num_rows, comm.size(), seed);
  std::vector<int> owner;
  for (const Index row : rows.rows) owner.push_back(owners(row));
  ASSERT_EQ(plan, test::plan_all_routes(rows, owner, topology)[comm.rank()]);
}

template <class Real>
void expect_right_exchange(const Comm& comm, const RoutedShape& shape, int num_stages,
                           SharedArray<Real>* buffer, const ExchangePlan& plan, std::uint64_t seed) {
  const auto own = touched_by(shape, seed, comm.rank());
  Matrix<Real> partial(plan.num_local(), shape.columns), factor(plan.num_local(), shape.columns);
  RoutedExchange<Real> exchange(comm, plan, {partial, factor, shape.components, 0, buffer}, 3);
  for (int round = 0; round < 3; ++round) {
    for (Index i = 0; i < plan.num_local(); ++i)
      for (Index c = 0; c < shape.components; ++c)
        partial(i, c) = std::ranges::binary_search(own, plan.rows[i])
                            ? Real(number_of(seed, comm.rank(), plan.rows[i], c) + round)
                            : 0;
    test::fold_and_expand(exchange, plan, partial, factor, shape.components);
    for (Index i = 0; i < plan.num_local(); i += 1 + plan.num_local() / 100)
      for (const Index c : {Index(0), shape.components - 1})
        ASSERT_EQ(factor(i, c), Real(routed_sum(comm, shape, seed, plan.rows[i], c, round)))
            << "row " << plan.rows[i] << ", column " << c << ", round " << round;
    const auto sent = exchange.sent_by_stage();
    ASSERT_EQ(std::ssize(sent), num_stages);
    for (int s = 0; s < num_stages; ++s) {
      const auto& stage = plan.stages[s];
      ASSERT_EQ(sent[s],
                (Traffic{(round + 1) * (stage.rows_folded() + stage.rows_expanded()) * shape.components,
                         (round + 1) * stage.messages_sent(), 0}));
    }
  }
}

template <class Real>
void expect_right_in_stages(const char* shared_memory) {
  setenv("POLYAD_SHARED_MEMORY", shared_memory, 1);
  const Comm comm = Comm::world();
  for (int num_stages = 1; num_stages <= max_stages(comm.size()); ++num_stages)
    for (const auto& shape : routed_shapes) {
      SCOPED_TRACE(std::to_string(shape.num_rows) + " rows, " + std::to_string(num_stages) + " stages");
      const auto seed = 10 + std::uint64_t(num_stages);
      const VirtualTopology topology(comm.size(), num_stages, {}, {});
      const auto plan = plan_routes(comm, touched_by(shape, seed, comm.rank()),
                                    ShuffledParts(shape.num_rows, comm.size(), seed), topology);
      expect_plan_of_all(comm, shape, seed, topology, plan);
      expect_right_exchange<Real>(comm, shape, num_stages, nullptr, plan, seed);
      SharedArray<Real> buffer(comm, RoutedExchange<Real>::num_words_under_way(
                                         plan, shape.components, sent_rows(shape.components, shape.columns)));
      expect_right_exchange<Real>(comm, shape, num_stages, &buffer, plan, seed);
    }
}

TEST(RoutedExchange, adds_up_and_lends_rows_in_stages_by_messages_and_in_shared_memory) {
  for (const char* const shared_memory : {"0", "1"}) {
    expect_right_in_stages<double>(shared_memory);
    expect_right_in_stages<float>(shared_memory);
  }
}

// Without an expansion nothing else says that rows were read.
TEST(RoutedExchange, folds_that_follow_each_other_do_not_overtake) {
  setenv("POLYAD_SHARED_MEMORY", "1", 1);
  const Comm comm = Comm::world();
  const RoutedShape shape{1000, 4, 4, 70};
  const auto own = touched_by(shape, 5, comm.rank());
  const VirtualTopology topology(comm.size(), max_stages(comm.size()), {}, {});
  const auto plan = plan_routes(comm, own, ShuffledParts(shape.num_rows, comm.size(), 5), topology);
  Matrix<double> partial(plan.num_local(), shape.columns);
  RoutedExchange<double> exchange(
      comm, plan, {.partial = partial, .factor = partial, .num_components = 4, .expands = false}, 0);
  for (int round = 0; round < 20; ++round) {
    for (Index i = 0; i < plan.num_local(); ++i)
      for (Index c = 0; c < 4; ++c)
        partial(i, c) = std::ranges::binary_search(own, plan.rows[i])
                            ? number_of(5, comm.rank(), plan.rows[i], c) + round
                            : 0;
    exchange.fold();
    for (Index i = 0; i < plan.num_owned; i += 37)
      ASSERT_EQ(partial(i, 2), routed_sum(comm, shape, 5, plan.rows[i], 2, round)) << "round " << round;
  }
}

}  // namespace
}  // namespace polyad
