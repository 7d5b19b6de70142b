#include "polyad/algo/cp/lbfgs.hpp"

#include <gtest/gtest.h>

#include <deque>

#include "tests/support/factor_problem.hpp"

namespace polyad {
namespace {

using Vector = std::vector<double>;

double dot(const Vector& a, const Vector& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

void add(Vector& to, double scale, const Vector& from) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += scale * from[i];
}

struct Pair {
  Vector s, y;
};

// The two-loop recursion as Nocedal and Wright write it down (algorithm 7.4), on the vectors themselves.
Vector textbook_direction(const std::deque<Pair>& pairs, const Vector& gradient) {
  Vector q = gradient, alpha(pairs.size());
  for (std::size_t i = pairs.size(); i-- > 0;) {
    alpha[i] = dot(pairs[i].s, q) / dot(pairs[i].s, pairs[i].y);
    add(q, -alpha[i], pairs[i].y);
  }
  if (!pairs.empty()) {
    const auto& [s, y] = pairs.back();
    for (double& x : q) x *= dot(s, y) / dot(y, y);
  }
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const double beta = dot(pairs[i].y, q) / dot(pairs[i].s, pairs[i].y);
    add(q, alpha[i] - beta, pairs[i].s);
  }
  for (double& x : q) x = -x;
  return q;
}

// Vectors in two matrices.
struct Stored {
  explicit Stored(const Vector& entries) {
    const Index half = std::ssize(entries) / 2;
    for (int m = 0; m < 2; ++m) {
      matrices.emplace_back(half, 1);
      std::copy_n(entries.begin() + m * half, half, matrices.back().flat().begin());
    }
    view = kernels::first_rows_of<double>(matrices, std::vector<Index>{half, half});
  }
  Vector entries() const {
    Vector result;
    for (const auto& part : view) result.insert(result.end(), part.begin(), part.end());
    return result;
  }
  std::vector<Matrix<double>> matrices;
  kernels::FactorVector<double> view;
};

// A walk with steps at random over a bowl, whose curvature differs from entry to entry.
TEST(Lbfgs, has_the_direction_of_the_textbook) {
  constexpr int size = 20, max_pairs = 4;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    LbfgsMemory<double> memory(Comm::self(), max_pairs, {size / 2, size / 2}, 1);
    std::deque<Pair> pairs;
    const auto random = [&](int step) {
      Vector v;
      for (int i = 0; i < size; ++i) v.push_back(Random(seed, std::uint64_t(step)).normal(std::uint64_t(i)));
      return v;
    };
    Vector x = random(0), gradient;
    const auto gradient_at = [](Vector v) {
      for (int i = 0; i < size; ++i) v[i] *= 1 + 3 * i;
      return v;
    };
    gradient = gradient_at(x);
    for (int step = 1; step < 12; ++step) {
      Stored direction((Vector(size)));
      const Stored before(gradient);
      if (step == 7) {
        memory.clear();
        pairs.clear();
      }

      const double slope = memory.find_direction(before.view, direction.view);

      const auto expected = textbook_direction(pairs, gradient);
      for (int i = 0; i < size; ++i)
        EXPECT_NEAR(direction.entries()[i], expected[i], 1e-9 * std::sqrt(dot(expected, expected)));
      EXPECT_NEAR(slope, dot(expected, gradient), 1e-9 * std::abs(slope));
      EXPECT_LT(slope, 0);
      const Stored walk(random(step));
      add(x, 0.1, walk.entries());
      const Stored after(gradient_at(x));
      memory.add(0.1, walk.view, before.view, after.view);
      pairs.push_back({walk.entries(), after.entries()});
      for (double& entry : pairs.back().s) entry *= 0.1;
      add(pairs.back().y, -1, gradient);
      if (pairs.size() > max_pairs) pairs.pop_front();
      gradient = after.entries();
    }
  }
}

TEST(Lbfgs, forgets_a_step_along_which_the_gradient_did_not_rise) {
  LbfgsMemory<double> memory(Comm::self(), 3, {1, 1}, 1);
  const Stored step({1, 2}), before({3, 1}), after({2, 1});
  Stored direction({0, 0});
  memory.add(1, step.view, before.view, after.view);

  const double slope = memory.find_direction(after.view, direction.view);

  EXPECT_TRUE(memory.is_empty());
  EXPECT_EQ(direction.entries(), Vector({-2, -1}));
  EXPECT_EQ(slope, -5);
}

}  // namespace
}  // namespace polyad
