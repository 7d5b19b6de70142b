#include "polyad/kernels/dense/local_contraction.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/naive_contraction.hpp"

namespace polyad::kernels {
namespace {

template <class Real>
std::vector<Real> as(const std::vector<double>& elements) {
  return {elements.begin(), elements.end()};
}

template <class Real>
void expect_the_naive_result(const test::Contraction& shapes, std::uint64_t seed) {
  auto a = test::whole_array(shapes.a, seed, 1), b = test::whole_array(shapes.b, seed, 2),
       c = test::whole_array(shapes.c, seed, 3);
  const auto left = as<Real>(a.elements), right = as<Real>(b.elements);
  auto actual = as<Real>(c.elements);

  contract<Real>({actual.data(), shapes.c}, {left.data(), shapes.a}, {right.data(), shapes.b});

  test::naive_contract(c, a, b);
  EXPECT_EQ(actual, as<Real>(c.elements)) << "seed " << seed;
}

// "abc" with these extents, by letter.
LabelledShape shape(const std::string& letters, const std::vector<Index>& extents) {
  LabelledShape result;
  for (const char letter : letters) {
    result.labels.push_back(letter);
    result.extents.push_back(extents[std::size_t(letter - 'a')]);
  }
  return result;
}

TEST(LocalContraction, random_ones_are_those_of_the_definition) {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    expect_the_naive_result<double>(test::random_contraction(seed, 5, 9), seed);
    expect_the_naive_result<float>(test::random_contraction(seed, 5, 4), seed);
  }
}

TEST(LocalContraction, every_transposition_of_a_matrix_product_needs_no_copy) {
  const std::vector<Index> extents{17, 23, 19};
  for (const std::string a : {"ac", "ca"})
    for (const std::string b : {"bc", "cb"})
      for (const std::string c : {"ab", "ba"}) {
        const test::Contraction shapes{shape(a, extents), shape(b, extents), shape(c, extents)};
        expect_the_naive_result<double>(shapes, 1);
        EXPECT_EQ(contraction_workspace(shapes.c, shapes.a, shapes.b), 0) << a << "," << b << "->" << c;
      }
}

TEST(LocalContraction, what_is_a_batched_or_strided_product_already_is_not_copied) {
  const std::vector<Index> extents{19, 18, 17, 16};
  const auto copied = [&](const std::string& a, const std::string& b, const std::string& c) {
    const test::Contraction shapes{shape(a, extents), shape(b, extents), shape(c, extents)};
    expect_the_naive_result<double>(shapes, 2);
    return contraction_workspace(shapes.c, shapes.a, shapes.b);
  };
  EXPECT_EQ(copied("abc", "cd", "abd"), 0);                                    // joined rows
  EXPECT_EQ(copied("acd", "bcd", "abd"), 0);                                   // a batch outside
  EXPECT_EQ(copied("abcd", "dabc", "b"), 0);                                   // inner products
  EXPECT_EQ(copied("acd", "bdc", "ab"), 18 * 16 * 17);                         // one of them must turn
  EXPECT_EQ(copied("dac", "dbc", "dab"), 16 * (19 * 17 + 18 * 17 + 19 * 18));  // a batch inside: all of them
}

TEST(LocalContraction, inputs_in_the_order_that_is_wanted_are_not_copied) {
  Index num_copies_saved = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const auto shapes = test::random_contraction(seed, 5, 9);
    const auto orders = orders_for_product(shapes.c, shapes.a, shapes.b);
    const auto in_order = [](const LabelledShape& before, const std::vector<int>& labels) {
      std::vector<int> modes;
      for (const int label : labels)
        modes.push_back(int(std::ranges::find(before.labels, label) - before.labels.begin()));
      EXPECT_EQ(modes.size(), before.labels.size());
      return reordered(before, modes);
    };
    const test::Contraction wanted{in_order(shapes.a, orders.a), in_order(shapes.b, orders.b), shapes.c};
    expect_the_naive_result<double>(wanted, seed);
    const Index before = contraction_workspace(shapes.c, shapes.a, shapes.b),
                after = contraction_workspace(wanted.c, wanted.a, wanted.b);
    EXPECT_LE(after, before) << seed;
    num_copies_saved += after < before ? 1 : 0;
    if (orders.a == shapes.a.labels && orders.b == shapes.b.labels) {
      EXPECT_EQ(after, before);
    }
  }
  EXPECT_GT(num_copies_saved, 5);
  const std::vector<Index> extents(11, 8);
  const auto c = shape("abji", extents);
  const auto orders = orders_for_product(c, shape("acik", extents), shape("bcjk", extents));
  const auto letters = [&](const std::vector<int>& labels) {
    return std::string(labels.begin(), labels.end());
  };
  EXPECT_EQ(contraction_workspace(c, shape(letters(orders.a), extents), shape(letters(orders.b), extents)),
            8 * 8 * 8 * 8);  // the result is not theirs to order
}

TEST(LocalContraction, the_contraction_of_the_note) {
  for (const Index n : {5, 8}) {
    const std::vector<Index> extents(11, n);
    expect_the_naive_result<double>({shape("acik", extents), shape("bcjk", extents), shape("abji", extents)},
                                    3);
  }
}

TEST(LocalContraction, scalars_vectors_and_extents_of_one_and_none) {
  expect_the_naive_result<double>({{}, {}, {}}, 4);
  expect_the_naive_result<double>({shape("a", {9000}), shape("a", {9000}), {}}, 5);
  expect_the_naive_result<double>({shape("a", {70}), shape("b", {1, 80}), shape("ba", {70, 80})}, 6);
  expect_the_naive_result<double>({shape("ab", {70, 80}), {}, shape("b", {70, 80})}, 7);
  expect_the_naive_result<double>({shape("abc", {1, 80, 1}), shape("bc", {1, 80, 1}), shape("a", {1})}, 8);
  expect_the_naive_result<double>({shape("ab", {3, 0}), shape("bc", {3, 0, 2}), shape("ac", {3, 0, 2})}, 9);
  expect_the_naive_result<double>({shape("a", {9000}), shape("a", {9000}), shape("a", {9000})}, 10);
}

}  // namespace
}  // namespace polyad::kernels
