#include "polyad/kernels/dense/block_copy.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "polyad/base/random.hpp"

namespace polyad::kernels {
namespace {

struct CopyProblem {
  std::vector<CopyLoop> loops;
  Index from_size = 1, to_size = 1;
};

// Loops over arrays whose modes stand in different orders here and there, with gaps.
CopyProblem random_problem(std::uint64_t seed) {
  const Random random(seed, 5);
  std::uint64_t draw = 0;
  const auto below = [&](std::uint64_t bound) { return Index(random.below(bound, draw++)); };
  const auto order = std::size_t(below(6));
  const bool is_large = seed % 50 == 0;
  CopyProblem problem;
  for (std::size_t m = 0; m < order; ++m) problem.loops.push_back({1 + below(is_large ? 24 : 6), 0, 0});
  const auto give_strides = [&](Index CopyLoop::*stride, Index& size) {
    std::vector<std::size_t> places(order);
    std::iota(places.begin(), places.end(), 0);
    for (std::size_t m = 0; m < order; ++m) std::swap(places[m], places[std::size_t(below(m + 1))]);
    for (const std::size_t m : places) {
      problem.loops[m].*stride = size * (1 + (below(3) == 0 ? below(3) : 0));
      size = problem.loops[m].*stride * problem.loops[m].extent;
    }
  };
  give_strides(&CopyLoop::from_stride, problem.from_size);
  give_strides(&CopyLoop::to_stride, problem.to_size);
  return problem;
}

template <class Real>
void naive_copy(std::span<const CopyLoop> loops, const Real* from, Real* to, CopyMode mode) {
  if (loops.empty()) {
    *to = mode == CopyMode::add ? *to + *from : *from;
    return;
  }
  for (Index i = 0; i < loops[0].extent; ++i)
    naive_copy(loops.subspan(1), from + i * loops[0].from_stride, to + i * loops[0].to_stride, mode);
}

template <class Real>
void expect_the_naive_result(std::uint64_t seed) {
  const auto problem = random_problem(seed);
  std::vector<Real> from(std::size_t(problem.from_size)), to(std::size_t(problem.to_size));
  std::iota(from.begin(), from.end(), Real(1));
  std::iota(to.begin(), to.end(), Real(1000));
  for (const auto mode : {CopyMode::replace, CopyMode::add}) {
    auto expected = to, actual = to;
    naive_copy<Real>(problem.loops, from.data(), expected.data(), mode);

    copy_block<Real>(problem.loops, from.data(), actual.data(), mode);

    EXPECT_EQ(actual, expected) << "seed " << seed;
  }
}

TEST(BlockCopy, strided_arrays_of_any_order_are_copied_and_added) {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    expect_the_naive_result<double>(seed);
    expect_the_naive_result<float>(seed);
  }
}

TEST(BlockCopy, a_loop_without_steps_copies_nothing) {
  double to = 7;
  const double from = 1;
  copy_block<double>({{3, 1, 1}, {0, 3, 3}}, &from, &to);
  EXPECT_EQ(to, 7);
}

}  // namespace
}  // namespace polyad::kernels
