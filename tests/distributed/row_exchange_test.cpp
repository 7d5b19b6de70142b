#include "polyad/distributed/row_exchange.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "polyad/base/random.hpp"
#include "tests/support/fold_and_expand.hpp"

namespace polyad {
namespace {

enum class Way { messages, shared_memory, in_place };

// What processes of one machine do from now on.
void choose(Way way) {
  setenv("POLYAD_SHARED_MEMORY", way == Way::messages ? "0" : "1", 1);
}

struct Shape {
  Index num_rows;             // of the whole mode
  Index columns, components;  // of a factor, and those that are no padding
  unsigned percent_touched;   // by each process
};
constexpr std::array<Shape, 6> shapes{
    {{1, 4, 4, 100}, {7, 1, 1, 60}, {40, 8, 5, 30}, {500, 4, 4, 50}, {3000, 16, 16, 20}, {3000, 40, 37, 40}}};

// Small whole numbers: sums are exact in any order.
double number(std::uint64_t seed, int rank, Index row, Index column) {
  const auto at = (std::uint64_t(rank) * 4001 + std::uint64_t(row)) * 101 + std::uint64_t(column);
  return double(Random(seed, 0).below(17, at));
}

bool touches(const Shape& shape, std::uint64_t seed, int rank, Index row) {
  return Random(seed, std::uint64_t(rank) + 1).below(100, std::uint64_t(row)) < shape.percent_touched;
}

ExchangePlan make_plan(const Comm& comm, const Shape& shape, std::uint64_t seed) {
  std::vector<Index> touched;
  for (Index row = 0; row < shape.num_rows; ++row)
    if (touches(shape, seed, comm.rank(), row)) touched.push_back(row);
  return plan_exchange(comm, touched, ShuffledParts(shape.num_rows, comm.size(), seed));
}

double sum_of_all(const Comm& comm, const Shape& shape, std::uint64_t seed, Index row, Index column) {
  double sum = 0;
  for (int rank = 0; rank < comm.size(); ++rank)
    if (touches(shape, seed, rank, row)) sum += number(seed, rank, row, column);
  return sum;
}

// Folds and expands several times. Every process knows what the others do, and so what must come of it.
template <class Real>
void expect_right_rows(const Comm& comm, const Shape& shape, std::uint64_t seed, SharedArray<Real>* buffer,
                       bool is_in_place = false) {
  const auto plan = make_plan(comm, shape, seed);
  const Index size = plan.num_local() * shape.columns;
  SharedArray<Real> pages;
  Matrix<Real> partial, factor(plan.num_local(), shape.columns);
  if (is_in_place) {
    pages = SharedArray<Real>(comm, size);
    partial = Matrix<Real>(plan.num_local(), shape.columns, pages.mine());
  } else {
    partial = Matrix<Real>(plan.num_local(), shape.columns);
  }
  RowExchange<Real> exchange(comm, plan,
                             {.partial = partial,
                              .factor = factor,
                              .num_components = shape.components,
                              .buffer = buffer,
                              .partial_pages = is_in_place ? &pages : nullptr},
                             3);
  for (int rank = 0; rank < comm.size(); ++rank)  // all processes of the test are on one machine
    EXPECT_EQ(exchange.is_in_place(rank), is_in_place && plan.folds && pages.of(rank) != nullptr) << rank;
  for (std::uint64_t round = 0; round < 5; ++round) {
    for (Index i = 0; i < plan.num_local(); ++i)
      for (Index c = 0; c < shape.components; ++c)
        partial(i, c) = touches(shape, seed, comm.rank(), plan.rows[i])
                            ? Real(number(seed, comm.rank(), plan.rows[i], c) + double(round))
                            : 0;
    const auto at = is_in_place && round % 2 == 1 ? NewRows::in_both : NewRows::in_factor;
    test::fold_and_expand(exchange, plan, partial, factor, shape.components, at);
    for (Index i = 0; i < plan.num_local(); ++i) {
      int num_touching = 0;
      for (int rank = 0; rank < comm.size(); ++rank)
        num_touching += int(touches(shape, seed, rank, plan.rows[i]));
      for (Index c = 0; c < shape.components; ++c)
        ASSERT_EQ(factor(i, c),
                  Real(sum_of_all(comm, shape, seed, plan.rows[i], c) + double(round) * double(num_touching)))
            << "row " << plan.rows[i] << ", column " << c << ", round " << round;
    }
    const auto rounds = Index(round) + 1;
    ASSERT_EQ(exchange.sent(),
              (Traffic{rounds * (plan.rows_folded() + plan.rows_expanded()) * shape.components,
                       rounds * plan.messages_sent(), 0}));
  }
}

template <class Real>
void expect_right_in_both_ways() {
  const Comm comm = Comm::world();
  for (const auto way : {Way::messages, Way::shared_memory, Way::in_place}) {
    choose(way);
    for (std::uint64_t seed = 0; seed < 2; ++seed)
      for (const auto& shape : shapes) {
        SCOPED_TRACE(std::to_string(shape.num_rows) + " rows, seed " + std::to_string(seed));
        expect_right_rows<Real>(comm, shape, seed, nullptr, way == Way::in_place);
      }
  }
}

TEST(RowExchange, adds_partial_rows_up_and_lends_rows_in_messages_and_in_shared_memory) {
  expect_right_in_both_ways<double>();
  expect_right_in_both_ways<float>();
}

TEST(RowExchange, exchanges_one_after_the_other_share_a_buffer) {
  choose(Way::shared_memory);
  const Comm comm = Comm::world();
  Index num_words = 0;
  for (const auto& shape : shapes)
    num_words = std::max(
        num_words, RowExchange<double>::num_words_under_way(make_plan(comm, shape, 9), shape.components,
                                                            sent_rows(shape.components, shape.columns)));
  SharedArray<double> buffer(comm, num_words);
  for (const auto& shape : shapes) expect_right_rows(comm, shape, 9, &buffer);
}

// Without an expansion nothing else says that the rows were read.
void expect_folds_in_order(bool is_in_place) {
  choose(Way::shared_memory);
  const Comm comm = Comm::world();
  const Shape shape{2000, 4, 4, 70};
  const auto plan = make_plan(comm, shape, 5);
  SharedArray<double> pages(comm, plan.num_local() * shape.columns);
  Matrix<double> partial(plan.num_local(), shape.columns, pages.mine());
  RowExchange<double> exchange(comm, plan,
                               {.partial = partial,
                                .factor = partial,
                                .num_components = 4,
                                .expands = false,
                                .partial_pages = is_in_place ? &pages : nullptr},
                               0);
  for (int round = 0; round < 50; ++round) {
    for (Index i = 0; i < plan.num_local(); ++i)
      for (Index c = 0; c < 4; ++c)
        partial(i, c) = touches(shape, 5, comm.rank(), plan.rows[i])
                            ? number(5, comm.rank() + round, plan.rows[i], c)
                            : 0;
    exchange.fold();
    for (Index i = 0; i < plan.num_owned; ++i) {
      double sum = 0;
      for (int rank = 0; rank < comm.size(); ++rank)
        if (touches(shape, 5, rank, plan.rows[i])) sum += number(5, rank + round, plan.rows[i], 2);
      ASSERT_EQ(partial(i, 2), sum) << "round " << round;
    }
  }
}

TEST(RowExchange, folds_that_follow_each_other_do_not_overtake) {
  expect_folds_in_order(false);
  expect_folds_in_order(true);
}

// Interior rows have no partial ones, as where they are updated by the pass that sums them; then rows are
// expanded that were not folded before.
TEST(RowExchange, partial_rows_in_shared_pages_begin_behind_the_interior_ones) {
  choose(Way::in_place);
  const Comm comm = Comm::world();
  const Shape shape{600, 8, 5, 40};
  const auto plan = make_plan(comm, shape, 2);
  const Index num_partial = plan.num_local() - plan.num_interior;
  SharedArray<double> pages(comm, num_partial * shape.columns);
  Matrix<double> partial(num_partial, shape.columns, pages.mine());
  Matrix<double> factor(plan.num_local(), shape.columns);
  RowExchange<double> exchange(comm, plan,
                               {.partial = partial,
                                .factor = factor,
                                .num_components = shape.components,
                                .first_partial = plan.num_interior,
                                .partial_pages = &pages},
                               1);
  const auto fill = [&](std::uint64_t seed) {
    for (Index i = 0; i < plan.num_owned; ++i)
      for (Index c = 0; c < shape.components; ++c) factor(i, c) = number(seed, 0, plan.rows[i], c);
  };
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    for (Index i = 0; i < num_partial; ++i)
      for (Index c = 0; c < shape.components; ++c) partial(i, c) = 1;
    exchange.fold();
    for (Index i = plan.num_interior; i < plan.num_owned; ++i) {
      Index num_partial_rows = 1;
      for (const LocalIndex lent : plan.lent) num_partial_rows += Index(lent) == i ? 1 : 0;
      ASSERT_EQ(partial(i - plan.num_interior, 0), double(num_partial_rows));
    }
    fill(seed);
    exchange.start_expanding();
    exchange.finish_expanding();
    fill(seed + 100);
    exchange.start_expanding();
    exchange.finish_expanding();
    for (Index i = 0; i < plan.num_local(); ++i)
      for (Index c = 0; c < shape.components; ++c)
        ASSERT_EQ(factor(i, c), number(seed + 100, 0, plan.rows[i], c)) << "row " << plan.rows[i];
  }
}

}  // namespace
}  // namespace polyad
