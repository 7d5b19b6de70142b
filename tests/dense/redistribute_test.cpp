#include "polyad/dense/redistribute.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "polyad/base/error.hpp"
#include "polyad/dense/distribution_text.hpp"
#include "tests/support/random_distribution.hpp"

namespace polyad::dense {
namespace {

// A number that identifies the coordinate, exact in both precisions.
double value_at(std::span<const Index> index) {
  double value = 1;
  for (const Index i : index) value = value * 13 + double(i);
  return value;
}

// The part that each process along the summed grid modes has of it.
double partial_value(const DenseLayout& layout, int rank, std::span<const Index> index) {
  double parts = 1, number = 0;
  for (const int h : layout.distribution.summed_over) {
    number = number * layout.grid.dim(h) + layout.grid.coord(rank, h);
    parts *= layout.grid.dim(h);
  }
  return number == 0 ? value_at(index) - (parts - 1) * parts / 2 : number;
}

template <class Real>
void expect_right_elements(const DenseTensor<Real>& x, const std::string& story) {
  Index wrong = 0;
  if (!x.local().empty())
    for_each_element(x.share(), [&](std::span<const Index> index, Index offset) {
      wrong += x.local()[std::size_t(offset)] != Real(value_at(index)) ? 1 : 0;
    });
  EXPECT_EQ(wrong, 0) << story;
  EXPECT_EQ(std::ssize(x.local()), local_size(x.layout(), x.grid().comm().rank()));
}

template <class Real>
void redistribute_and_check(const ProcessGrid& grid, const std::vector<Index>& extents,
                            const TensorDistribution& from, const TensorDistribution& to) {
  const auto plan = plan_redistribution(grid.shape(), extents, from, to);
  const int rank = grid.comm().rank();
  DenseTensor<Real> x(grid, extents, from);
  fill(x, [&](std::span<const Index> index) { return partial_value(x.layout(), rank, index); });
  DenseTally tally;

  const auto moved = redistribute(x, plan, tally);

  const auto story =
      to_string(grid.shape()) + " " + to_string(from) + " -> " + to_string(to) + "\n" + describe(plan);
  EXPECT_EQ(moved.distribution(), to);
  expect_right_elements(moved, story);
  EXPECT_EQ(tally.words, planned_words(plan, rank)) << story;
  EXPECT_EQ(tally.elements, std::ssize(moved.local())) << story;
  if (!plan.steps.empty()) {
    EXPECT_LE(tally.max_elements, working_elements(plan)) << story;
  }
}

TEST(Redistribute, sampled_pairs_of_distributions_bring_every_element_to_its_place) {
  const auto world = Comm::world();
  std::uint64_t seed = 0;
  for (const auto& shape : test::some_grids(world.size(), 4)) {
    const ProcessGrid grid(world, shape);
    for (int order = 1; order <= 4; ++order)
      for (int repetition = 0; repetition < 10; ++repetition) {
        seed += 2;
        const auto extents = test::random_extents(order, seed, order == 4 ? 6 : 11);
        const auto from = test::random_distribution(shape, order, seed);
        const auto to = test::random_distribution(shape, order, seed + 1);
        if (repetition % 2 == 0)
          redistribute_and_check<double>(grid, extents, from, to);
        else
          redistribute_and_check<float>(grid, extents, from, to);
      }
  }
}

TEST(Redistribute, sums_are_made_on_the_way) {
  const auto world = Comm::world();
  std::uint64_t seed = 1000;
  for (const auto& shape : test::some_grids(world.size(), 4)) {
    const ProcessGrid grid(world, shape);
    for (int order = 0; order <= 3; ++order)
      for (int repetition = 0; repetition < 3; ++repetition) {
        seed += 2;
        auto from = test::random_distribution(shape, order, seed, test::Places::whole_grid);
        const auto used = used_grid_modes(from);
        for (int h = 0; h < shape.order(); ++h)
          if (std::ranges::find(used, h) == used.end() && (seed + std::uint64_t(h)) % 3 != 0)
            from.summed_over.push_back(h);
        redistribute_and_check<double>(grid, test::random_extents(order, seed), from,
                                       test::random_distribution(shape, order, seed + 1));
      }
  }
}

TEST(Redistribute, messages_beyond_the_limit_are_split) {
  const auto world = Comm::world().with_message_limit(5);
  const GridShape shape({world.size(), 1});
  const ProcessGrid grid(world, shape);
  const std::vector<std::string> texts{"(<0>,<>)", "(<>,<0>)", "(<>,<>)", "(<0,1>,<>) ", "(<>,<>) at 0=0"};
  for (const auto& from : texts)
    for (const auto& to : texts)
      redistribute_and_check<double>(grid, {7, 9}, parse_distribution(from).distribution,
                                     parse_distribution(to).distribution);
  redistribute_and_check<double>(grid, {7, 9}, parse_distribution("(<>,<>) sum 0").distribution,
                                 parse_distribution("(<0>,<>)").distribution);
}

// As a redistribution and a permutation of the modes after it.
TEST(Redistribute, the_last_step_puts_modes_in_any_order_where_it_unpacks) {
  const auto world = Comm::world();
  std::uint64_t seed = 3000;
  Index num_reordered = 0;
  for (const auto& shape : test::some_grids(world.size(), 4)) {
    const ProcessGrid grid(world, shape);
    for (int repetition = 0; repetition < 8; ++repetition) {
      ++seed;
      const auto extents = test::random_extents(3, seed, 8);
      const auto plan = plan_redistribution(shape, extents, test::random_distribution(shape, 3, seed),
                                            test::random_distribution(shape, 3, seed + 5000));
      DenseTensor<double> x(grid, extents, plan.from);
      fill(x, value_at);
      DenseTally tally;
      const std::vector<int> modes = seed % 2 == 0 ? std::vector<int>{2, 0, 1} : std::vector<int>{1, 2, 0};
      if (!can_reorder(plan)) {
        EXPECT_THROW(redistribute_reordered(x, plan, modes, tally), Error);
        continue;
      }
      ++num_reordered;
      const auto moved = redistribute(x, plan, tally);
      const Index words = tally.words;
      const auto local = redistribute_reordered(x, plan, modes, tally);
      EXPECT_EQ(tally.words, 2 * words);
      EXPECT_EQ(local.size(), moved.local().size());
      std::vector<Index> strides(3), counts = extents_of(moved.share());
      for (Index stride = 1; const int m : modes) {
        strides[std::size_t(m)] = stride;
        stride *= counts[std::size_t(m)];
      }
      Index offset = 0, wrong = 0;
      for (Index k = 0; k < counts[2]; ++k)
        for (Index j = 0; j < counts[1]; ++j)
          for (Index i = 0; i < counts[0]; ++i) {
            const auto place = std::size_t(i * strides[0] + j * strides[1] + k * strides[2]);
            wrong += local[place] != moved.local()[std::size_t(offset++)] ? 1 : 0;
          }
      EXPECT_EQ(wrong, 0) << describe(plan);
    }
  }
  if (world.size() > 1) {
    EXPECT_GT(num_reordered, 0);
  }
}

TEST(Redistribute, a_tensor_must_be_as_the_plan_begins) {
  const auto world = Comm::world();
  const ProcessGrid grid(world, GridShape({world.size()}));
  const DenseTensor<double> x(grid, {5}, parse_distribution("(<>)").distribution);
  const auto plan = plan_redistribution(grid.shape(), {5}, parse_distribution("(<0>)").distribution,
                                        parse_distribution("(<>)").distribution);
  DenseTally tally;
  EXPECT_THROW(redistribute(x, plan, tally), Error);
}

}  // namespace
}  // namespace polyad::dense
