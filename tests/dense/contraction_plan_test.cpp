#include "polyad/dense/contraction_plan.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "polyad/base/error.hpp"
#include "polyad/dense/choose_contraction.hpp"
#include "polyad/dense/distribution_text.hpp"
#include "tests/support/naive_contraction.hpp"

namespace polyad::dense {
namespace {

ContractionProblem problem(const std::string& expression, const std::vector<int>& grid, Index extent) {
  const auto parsed = parse_contraction(expression);
  return canonical_problem(parsed, GridShape(grid), std::vector<Index>(parsed.a.size(), extent),
                           std::vector<Index>(parsed.b.size(), extent));
}

const char* const of_the_note = "C[abji] += A[acik] * B[bcjk]";

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(ContractionPlan, stationary_c_is_derived_as_in_section_5_1) {
  const auto plan = derive_contraction(problem(of_the_note, {2, 2, 2, 2}, 12), Stationary::c);

  EXPECT_EQ(to_string(plan.a.prep.to), "(<0>,<>,<3>,<>)");
  EXPECT_EQ(to_string(plan.b.prep.to), "(<1>,<>,<2>,<>)");
  EXPECT_TRUE(plan.goes_straight_to_c());
  const std::string expected =
      "C[abji] += A[acik] * B[bcjk] on a grid of 2x2x2x2, stationary c\n"
      "\n"
      "1. What is looked for.\n"
      "  Prep     A[a,c,i,k](?,?,?,?) <- A[a,c,i,k](<0>,<1>,<2>,<3>)\n"
      "           B[b,c,j,k](?,?,?,?) <- B[b,c,j,k](<0>,<1>,<2>,<3>)\n"
      "           C[a,b,j,i](?,?,?,?) <- C[a,b,j,i](<0>,<1>,<2>,<3>)\n"
      "  Compute  C[a,b,j,i](?,?,?,?) += A[a,c,i,k](?,?,?,?) * B[b,c,j,k](?,?,?,?)\n"
      "2. C is not moved.\n"
      "  Prep     A[a,c,i,k](?,?,?,?) <- A[a,c,i,k](<0>,<1>,<2>,<3>)\n"
      "           B[b,c,j,k](?,?,?,?) <- B[b,c,j,k](<0>,<1>,<2>,<3>)\n"
      "           C[a,b,j,i](<0>,<1>,<2>,<3>) <- C[a,b,j,i](<0>,<1>,<2>,<3>)\n"
      "  Compute  C[a,b,j,i](<0>,<1>,<2>,<3>) += A[a,c,i,k](?,?,?,?) * B[b,c,j,k](?,?,?,?)\n"
      "3. An index is distributed alike in all tensors of a local computation.\n"
      "  Prep     A[a,c,i,k](<0>,?,<3>,?) <- A[a,c,i,k](<0>,<1>,<2>,<3>)\n"
      "           B[b,c,j,k](<1>,?,<2>,?) <- B[b,c,j,k](<0>,<1>,<2>,<3>)\n"
      "           C[a,b,j,i](<0>,<1>,<2>,<3>) <- C[a,b,j,i](<0>,<1>,<2>,<3>)\n"
      "  Compute  C[a,b,j,i](<0>,<1>,<2>,<3>) += A[a,c,i,k](<0>,?,<3>,?) * B[b,c,j,k](<1>,?,<2>,?)\n"
      "4. The other indices of it are not distributed.\n"
      "  Prep     A[a,c,i,k](<0>,<>,<3>,<>) <- A[a,c,i,k](<0>,<1>,<2>,<3>)\n"
      "           B[b,c,j,k](<1>,<>,<2>,<>) <- B[b,c,j,k](<0>,<1>,<2>,<3>)\n"
      "           C[a,b,j,i](<0>,<1>,<2>,<3>) <- C[a,b,j,i](<0>,<1>,<2>,<3>)\n"
      "  Compute  C[a,b,j,i](<0>,<1>,<2>,<3>) += A[a,c,i,k](<0>,<>,<3>,<>) * B[b,c,j,k](<1>,<>,<2>,<>)\n";
  EXPECT_EQ(explain(plan).substr(0, expected.size()), expected);
}

TEST(ContractionPlan, stationary_a_is_derived_as_in_section_5_2) {
  const auto plan = derive_contraction(problem(of_the_note, {2, 2, 2, 2}, 12), Stationary::a);

  EXPECT_TRUE(plan.a.prep.steps.empty());
  EXPECT_EQ(to_string(plan.b.prep.to), "(<>,<1>,<>,<3>)");
  EXPECT_EQ(to_string(plan.product), "(<0>,<>,<>,<2>) sum 1,3");
  EXPECT_EQ(to_string(plan.reduce.to), "(<0>,<1>,<3>,<2>)");
  const auto text = explain(plan);
  EXPECT_TRUE(
      contains(text,
               "1. What is looked for.\n"
               "  Prep     A[a,c,i,k](?,?,?,?) <- A[a,c,i,k](<0>,<1>,<2>,<3>)\n"
               "           B[b,c,j,k](?,?,?,?) <- B[b,c,j,k](<0>,<1>,<2>,<3>)\n"
               "  Product  T[a,c',i,k',b,j](?,?,?,?,?,?) = A[a,c,i,k](?,?,?,?) * B[b,c,j,k](?,?,?,?)\n"
               "  Reduce   T[a,i,k',b,j](?,?,?,?,?) = sum over <?> of T[a,c',i,k',b,j](?,?,?,?,?,?)\n"
               "           C'[a,b,j,i](?,?,?,?) = sum over <?> of T[a,i,k',b,j](?,?,?,?,?)\n"
               "  Finish   C[a,b,j,i](<0>,<1>,<2>,<3>) += C'[a,b,j,i](?,?,?,?)\n"))
      << text;
  EXPECT_TRUE(
      contains(text,
               "6. Every sum hands its grid modes on.\n"
               "  Prep     A[a,c,i,k](<0>,<1>,<2>,<3>) <- A[a,c,i,k](<0>,<1>,<2>,<3>)\n"
               "           B[b,c,j,k](<>,<1>,<>,<3>) <- B[b,c,j,k](<0>,<1>,<2>,<3>)\n"
               "  Product  T[a,c',i,k',b,j](<0>,<1>,<2>,<3>,<>,<>) = A[a,c,i,k](<0>,<1>,<2>,<3>) * "
               "B[b,c,j,k](<>,<1>,<>,<3>)\n"
               "  Reduce   T[a,i,k',b,j](<0>,<2>,<3>,<1>,<>) = sum over <1> of "
               "T[a,c',i,k',b,j](<0>,<1>,<2>,<3>,<>,<>)\n"
               "           C'[a,b,j,i](<0>,<1>,<3>,<2>) = sum over <3> of T[a,i,k',b,j](<0>,<2>,<3>,<1>,<>)\n"
               "  Finish   C[a,b,j,i](<0>,<1>,<2>,<3>) += C'[a,b,j,i](<0>,<1>,<3>,<2>)\n"))
      << text;
  EXPECT_TRUE(contains(text, "permutation over <2,3>")) << text;
}

TEST(ContractionPlan, stationary_b_mirrors_stationary_a) {
  const auto plan =
      derive_contraction(problem("C[abji] += B[bcjk] * A[acik]", {2, 2, 2, 2}, 12), Stationary::b);

  EXPECT_TRUE(plan.b.prep.steps.empty());
  EXPECT_EQ(to_string(plan.a.prep.to), "(<>,<1>,<>,<3>)");
  EXPECT_EQ(to_string(plan.reduce.to), "(<0>,<1>,<3>,<2>)");
}

TEST(ContractionPlan, batch_indices_are_distributed_alike_in_all_three) {
  for (const auto stationary : {Stationary::a, Stationary::b, Stationary::c}) {
    const auto plan = derive_contraction(problem("C[xij] += A[xik] * B[xkj]", {2, 3, 1}, 12), stationary);
    EXPECT_EQ(plan.a.prep.to.modes[0].grid_modes, std::vector<int>{0});
    EXPECT_EQ(plan.b.prep.to.modes[0].grid_modes, std::vector<int>{0});
    EXPECT_EQ(plan.product.modes[0].grid_modes, std::vector<int>{0});
  }
}

TEST(ContractionPlan, an_index_of_one_input_only_is_summed_where_it_lies) {
  const auto plan = derive_contraction(problem("C[i] += A[ix] * B[i]", {2, 3}, 12), Stationary::c);
  EXPECT_EQ(plan.a.indices, IndexNames{"i"});
  EXPECT_EQ(to_string(plan.a.prep.from), "(<0>) sum 1");
  EXPECT_TRUE(contains(explain(plan), "A[i](<0>) sum 1 = local sums of A[i,x](<0>,<1>)\n")) << explain(plan);
}

TEST(ContractionPlan, matrix_products_of_appendix_a) {
  // y = A x, and the rank-1 update A += y x^T: allgathers of vectors, and a reduce-scatter within rows.
  auto product = problem("Y[i] += A[ik] * X[k]", {2, 3}, 60);
  product.b = parse_distribution("(<1,0>)").distribution;
  product.c = parse_distribution("(<0,1>)").distribution;
  const auto plan = derive_contraction(product, Stationary::a);
  EXPECT_EQ(describe(plan.b.prep), "allgather over <0>: (<1,0>) -> (<1>), 10 words\n");
  ASSERT_EQ(plan.reduce.steps.size(), 1u);
  EXPECT_EQ(plan.reduce.steps[0].move, Move::reduce_scatter);
  EXPECT_EQ(plan.reduce.steps[0].grid_modes, std::vector<int>{1});
  EXPECT_TRUE(plan.finish.steps.empty());

  auto update = problem("A[ij] += Y[i] * X[j]", {2, 3}, 60);
  update.a = parse_distribution("(<0,1>)").distribution;
  update.b = parse_distribution("(<1,0>)").distribution;
  const auto rank_one = derive_contraction(update, Stationary::c);
  EXPECT_EQ(describe(rank_one.a.prep), "allgather over <1>: (<0,1>) -> (<0>), 20 words\n");
  EXPECT_EQ(describe(rank_one.b.prep), "allgather over <0>: (<1,0>) -> (<1>), 10 words\n");
}

TEST(ContractionPlan, the_large_tensor_stays_where_it_is) {
  const auto choose = [](const std::vector<Index>& a, const std::vector<Index>& b) {
    return choose_contraction(parse_contraction("C[ij] += A[ik] * B[kj]"), a, b, 12, {}).plan.stationary;
  };
  EXPECT_EQ(choose({5000, 5000}, {5000, 10}), Stationary::a);
  EXPECT_EQ(choose({10, 5000}, {5000, 5000}), Stationary::b);
  EXPECT_EQ(choose({5000, 10}, {10, 5000}), Stationary::c);
}

TEST(ContractionPlan, blocks_are_taken_when_nothing_else_fits) {
  const auto whole = problem("C[ij] += A[ik] * B[kj]", {2, 2}, 400);
  const auto free = choose_contraction(whole, {});
  EXPECT_EQ(free.num_blocks(), 1);
  const Index needed = resident_elements(whole) + working_elements(free);

  ContractionChoice tight;
  tight.element_bytes = sizeof(float);
  tight.max_bytes = 4 * (resident_elements(whole) + (needed - resident_elements(whole)) / 3);
  const auto blocked = choose_contraction(whole, tight);

  EXPECT_GT(blocked.num_blocks(), 1);
  EXPECT_LE(4 * (resident_elements(whole) + working_elements(blocked)), *tight.max_bytes);
  EXPECT_EQ(blocked.block_extent % 2, 0);

  tight.max_bytes = 4 * resident_elements(whole);
  try {
    choose_contraction(whole, tight);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::resource);
    EXPECT_TRUE(contains(error.what(), "even in blocks; 480000 are allowed")) << error.what();
  }
}

TEST(ContractionPlan, extents_must_agree) {
  const auto expression = parse_contraction("ik,kj->ij");
  const GridShape grid({2, 2});
  EXPECT_THROW(canonical_problem(expression, grid, {3, 4}, {5, 6}), Error);
  EXPECT_THROW(canonical_problem(expression, grid, {3, 4, 5}, {4, 6}), Error);
}

TEST(ContractionPlan, diagonals_are_taken_before) {
  EXPECT_THROW(canonical_problem(parse_contraction("ii,i->"), GridShape({1}), {3, 3}, {3}), Error);
}

TEST(ContractionPlan, every_random_contraction_has_every_derivation) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const auto shapes = test::random_contraction(seed, 5, 9);
    ContractionExpression expression;
    const auto names = [](const kernels::LabelledShape& shape) {
      IndexNames result;
      for (const int label : shape.labels) result.emplace_back(1, char('a' + label));
      return result;
    };
    expression.a = names(shapes.a);
    expression.b = names(shapes.b);
    expression.c = names(shapes.c);
    for (const auto& grid : {std::vector<int>{6}, {2, 3}, {2, 1, 2}, {2, 2, 3, 2}}) {
      const auto all = canonical_problem(expression, GridShape(grid), shapes.a.extents, shapes.b.extents);
      for (const auto stationary : {Stationary::a, Stationary::b, Stationary::c}) {
        const auto plan = derive_contraction(all, stationary);
        EXPECT_EQ(plan.finish.to, all.c);
        EXPECT_TRUE(plan.reduce.to.summed_over.empty());
        EXPECT_FALSE(explain(plan).empty());
      }
    }
  }
}

}  // namespace
}  // namespace polyad::dense
