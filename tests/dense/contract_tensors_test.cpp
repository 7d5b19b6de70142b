#include "polyad/dense/contract_tensors.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "polyad/base/error.hpp"
#include "polyad/dense/contraction_terms.hpp"
#include "polyad/dense/distribution_text.hpp"
#include "tests/support/naive_contraction.hpp"
#include "tests/support/random_distribution.hpp"

namespace polyad::dense {
namespace {

IndexNames names(const kernels::LabelledShape& shape) {
  IndexNames result;
  for (const int label : shape.labels) result.emplace_back(1, char('a' + label));
  return result;
}

// Whole arrays that every process knows, and the answer.
struct Case {
  ContractionExpression expression;
  test::WholeArray a, b, c, expected;

  explicit Case(std::uint64_t seed, const test::Contraction& shapes)
      : a(test::whole_array(shapes.a, seed, 1)),
        b(test::whole_array(shapes.b, seed, 2)),
        c(test::whole_array(shapes.c, seed, 3)),
        expected(c) {
    expression.a = names(shapes.a);
    expression.b = names(shapes.b);
    expression.c = names(shapes.c);
    test::naive_contract(expected, a, b);
  }
};

double element(const test::WholeArray& array, std::span<const Index> index) {
  Index offset = 0, stride = 1;
  for (std::size_t m = 0; m < index.size(); ++m) {
    offset += index[m] * stride;
    stride *= array.shape.extents[m];
  }
  return array.elements[std::size_t(offset)];
}

template <class Real>
DenseTensor<Real> distributed(const test::WholeArray& array, const ProcessGrid& grid,
                              const TensorDistribution& distribution) {
  DenseTensor<Real> x(grid, array.shape.extents, distribution);
  fill(x, [&](std::span<const Index> index) { return element(array, index); });
  return x;
}

template <class Real>
Index num_wrong(const DenseTensor<Real>& x, const test::WholeArray& expected) {
  Index wrong = 0;
  if (!x.local().empty())
    for_each_element(x.share(), [&](std::span<const Index> index, Index offset) {
      wrong += x.local()[std::size_t(offset)] != Real(element(expected, index)) ? 1 : 0;
    });
  return wrong;
}

template <class Real>
void contract_and_check(const Case& test, const ProcessGrid& grid, const BlockedContraction& plan,
                        const std::string& story) {
  const auto a = distributed<Real>(test.a, grid, plan.problem.a),
             b = distributed<Real>(test.b, grid, plan.problem.b);
  auto c = distributed<Real>(test.c, grid, plan.problem.c);
  DenseTally tally;

  contract(c, a, b, plan, tally);

  const auto text = story + " blocks of " + plan.block_index + "\n" + explain(plan.plan);
  EXPECT_EQ(num_wrong(c, test.expected), 0) << text;
  EXPECT_EQ(tally.words, planned_words(plan, grid.comm().rank())) << text;
  EXPECT_EQ(tally.elements, 0) << text;
  EXPECT_LE(tally.max_elements, working_elements(plan)) << text;
}

constexpr auto all_variants = {Stationary::a, Stationary::b, Stationary::c};

// On every grid some of the seeds; all of them on one process.
TEST(ContractTensors, random_contractions_are_those_of_the_definition) {
  const auto world = Comm::world();
  const std::uint64_t per_grid = world.size() == 1 ? 100 : world.size() <= 4 ? 15 : 6;
  std::uint64_t seed = 0;
  for (const auto& shape : test::some_grids(world.size(), 3)) {
    const ProcessGrid grid(world, shape);
    for (std::uint64_t i = 0; i < per_grid; ++i) {
      ++seed;
      const Case test(seed, test::random_contraction(seed, 5, seed % 4 == 0 ? 9 : 4));
      const auto problem =
          canonical_problem(test.expression, shape, test.a.shape.extents, test.b.shape.extents);
      for (const auto stationary : all_variants) {
        const BlockedContraction plan{derive_contraction(problem, stationary), problem, "", 0};
        if (seed % 2 == 0)
          contract_and_check<double>(test, grid, plan, "seed " + std::to_string(seed));
        else
          contract_and_check<float>(test, grid, plan, "seed " + std::to_string(seed));
      }
    }
  }
}

TEST(ContractTensors, any_distributions_may_be_given) {
  const auto world = Comm::world();
  std::uint64_t seed = 5000;
  for (const auto& shape : test::some_grids(world.size(), 3)) {
    const ProcessGrid grid(world, shape);
    for (int i = 0; i < 4; ++i) {
      ++seed;
      const Case test(seed, test::random_contraction(seed, 4, 6));
      auto problem = canonical_problem(test.expression, shape, test.a.shape.extents, test.b.shape.extents);
      problem.a = test::random_distribution(shape, problem.a.order(), seed);
      problem.b = test::random_distribution(shape, problem.b.order(), seed + 10000);
      problem.c = test::random_distribution(shape, problem.c.order(), seed + 20000);
      for (const auto stationary : all_variants)
        contract_and_check<double>(test, grid, {derive_contraction(problem, stationary), problem, "", 0},
                                   "seed " + std::to_string(seed));
    }
  }
}

// Large enough that the product needs another order of modes, which moved inputs then have.
TEST(ContractTensors, moved_inputs_lie_as_the_product_wants_them) {
  const auto world = Comm::world();
  const kernels::LabelledShape a{{12, 9, 11, 10}, {0, 2, 3, 5}}, b{{13, 9, 8, 10}, {1, 2, 4, 5}},
      c{{12, 13, 8, 11}, {0, 1, 4, 3}};
  const Case test(3, {a, b, c});
  Index num_reordered = 0;
  for (const auto& shape : test::some_grids(world.size(), 3)) {
    const ProcessGrid grid(world, shape);
    const auto problem = canonical_problem(test.expression, shape, a.extents, b.extents);
    for (const auto stationary : all_variants) {
      const auto plan = derive_contraction(problem, stationary);
      const std::vector<int> as_it_is{0, 1, 2, 3};
      const auto layout = product_layout(plan);
      num_reordered += (layout.a != as_it_is ? 1 : 0) + (layout.b != as_it_is ? 1 : 0);
      contract_and_check<double>(test, grid, {plan, problem, "", 0}, "reordered");
    }
  }
  EXPECT_EQ(num_reordered > 0, world.size() > 1);
}

TEST(ContractTensors, blocks_give_the_same_result_under_a_limit) {
  const auto world = Comm::world();
  const auto expression = parse_contraction("acik,bcjk->abji");
  test::Contraction shapes;
  const std::map<std::string, Index> extents{{"a", 7}, {"b", 6}, {"c", 9}, {"i", 5}, {"j", 4}, {"k", 8}};
  const auto shape_of = [&](const IndexNames& indices) {
    kernels::LabelledShape shape;
    for (const auto& index : indices) {
      shape.labels.push_back(index[0] - 'a');
      shape.extents.push_back(extents.at(index));
    }
    return shape;
  };
  shapes = {shape_of(expression.a), shape_of(expression.b), shape_of(expression.c)};
  const Case test(1, shapes);
  Index blocked_runs = 0;
  for (const auto& shape : test::some_grids(world.size(), 3)) {
    const ProcessGrid grid(world, shape);
    const auto problem =
        canonical_problem(test.expression, shape, test.a.shape.extents, test.b.shape.extents);
    for (const auto stationary : all_variants) {
      const Index whole = working_elements(derive_contraction(problem, stationary));
      const ContractionChoice choice{
          stationary, Index(sizeof(double)) * (resident_elements(problem) + whole * 2 / 3), {}};
      try {
        const auto plan = choose_contraction(problem, choice);
        blocked_runs += plan.num_blocks() > 1 ? 1 : 0;
        EXPECT_LE(working_elements(plan), whole * 2 / 3);
        contract_and_check<double>(test, grid, plan, "under a limit");
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), Errc::resource);  // a few grids are larger than the tensor
      }
    }
  }
  EXPECT_GT(blocked_runs, 0);
}

TEST(ContractTensors, grids_are_chosen_for_the_processes) {
  const auto world = Comm::world();
  for (std::uint64_t seed = 100; seed < 120; ++seed) {
    const Case test(seed, test::random_contraction(seed, 3, 9));
    const auto plan =
        choose_contraction(test.expression, test.a.shape.extents, test.b.shape.extents, world.size(), {});
    const ProcessGrid grid(world, plan.problem.grid);
    contract_and_check<double>(test, grid, plan, "chosen");
  }
}

TEST(ContractTensors, it_reads_like_the_mathematics) {
  const auto world = Comm::world();
  const ProcessGrid grid(world, GridShape({world.size(), 1}));
  const Case test(7, {{{5, 4}, {0, 2}}, {{4, 6}, {2, 1}}, {{5, 6}, {0, 1}}});
  const auto a = distributed<double>(test.a, grid, canonical_distribution(2, 2));
  const auto b = distributed<double>(test.b, grid, parse_distribution("(<>,<0>)").distribution);
  auto c = distributed<double>(test.c, grid, canonical_distribution(2, 2));

  indexed(c, "ij") += indexed(a, "ik") * indexed(b, "kj");

  EXPECT_EQ(num_wrong(c, test.expected), 0);
  EXPECT_THROW((indexed(c, "ji") += indexed(a, "ik") * indexed(b, "kj")), Error);

  DenseTensor<double> square(grid, {4, 4}, canonical_distribution(2, 2));
  EXPECT_THROW((indexed(square, "ij") += indexed(square, "ik") * indexed(square, "kj")), Error);
}

// X = U[abcd] T[cdij] + V[acik] T[bcjk] + W[ijkl] T[abkl], the last term twice.
TEST(ContractTensors, sums_of_contractions_move_a_tensor_once_for_several_terms) {
  const auto world = Comm::world();
  const ProcessGrid grid(world, GridShape({world.size(), 1, 1, 1}));
  const auto make = [&](std::uint64_t stream, const std::vector<Index>& extents) {
    DenseTensor<double> x(grid, extents, canonical_distribution(4, 4));
    fill(x, [&](std::span<const Index> i) {
      return double(Random(2, stream).below(7, std::uint64_t(((i[0] * 9 + i[1]) * 9 + i[2]) * 9 + i[3]))) - 3;
    });
    return x;
  };
  const auto t = make(1, {6, 6, 5, 5}), u = make(2, {6, 6, 6, 6}), v = make(3, {6, 6, 5, 5}),
             w = make(4, {5, 5, 5, 5});
  auto x = make(5, {6, 6, 5, 5}), y = make(5, {6, 6, 5, 5});
  ContractionTerms<double> terms;
  Index words_apart = 0;
  const auto add = [&](const IndexedProduct<double>& product) {
    terms.add(indexed(x, "abij"), product);
    const auto plan = choose_contraction(problem_of(indexed(y, "abij"), product), {});
    words_apart += planned_words(plan, world.rank());
    indexed(y, "abij") += product;
  };

  add(indexed(u, "abcd") * indexed(t, "cdij"));
  add(indexed(v, "acik") * indexed(t, "bcjk"));
  add(indexed(w, "ijkl") * indexed(t, "abkl"));
  add(indexed(w, "ijkl") * indexed(t, "abkl"));

  EXPECT_TRUE(std::ranges::equal(x.local(), y.local()));
  if (world.size() > 1) {
    EXPECT_GT(terms.num_copies(), 0);
    EXPECT_LT(world.all_reduce(terms.tally().words), world.all_reduce(words_apart));
  }
}

TEST(ContractTensors, repeated_runs_have_the_same_bits) {
  const auto world = Comm::world();
  const auto grids = test::some_grids(world.size(), 3);
  const ProcessGrid grid(world, grids.back());
  const int order = 3;
  const auto make = [&](std::uint64_t stream) {
    DenseTensor<double> x(grid, {9, 8, 7}, canonical_distribution(order, grid.shape().order()));
    fill(x, [&](std::span<const Index> i) {
      return Random(1, stream).normal(std::uint64_t(i[0] + 9 * i[1] + 72 * i[2]));
    });
    return x;
  };
  const auto a = make(1), b = make(2);
  std::vector<double> first;
  for (int repetition = 0; repetition < 3; ++repetition) {
    DenseTensor<double> c(grid, {9, 9}, canonical_distribution(2, grid.shape().order()));
    std::ranges::fill(c.local(), 0);
    indexed(c, "ij") += indexed(a, "ikl") * indexed(b, "jkl");
    const std::vector<double> bits(c.local().begin(), c.local().end());
    if (repetition == 0) first = bits;
    EXPECT_EQ(bits, first);
  }
}

}  // namespace
}  // namespace polyad::dense
