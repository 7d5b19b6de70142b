#include "polyad/kernels/cp/row_systems.hpp"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <map>
#include <utility>

#include "polyad/kernels/cp/factor.hpp"
#include "polyad/kernels/cp/normal_equations.hpp"
#include "tests/support/factor_problem.hpp"
#include "tests/support/generated.hpp"
#include "tests/support/row_problem.hpp"

namespace polyad::kernels {
namespace {

// The gradient of the loss vanishes at the rows that were solved, in every column that was solved for.
template <class Real>
void expect_minimum(test::RowProblem<Real>& p, int mode, const CellLoss& loss, bool has_weights,
                    double tolerance, double min_ridge = 0.5, int cg_steps = 0) {
  const auto [tree, weights] = p.tree(mode);
  const auto gram = test::gram_of_others<Real>(p.factors(), mode);
  const auto ridge = test::ridges<Real>(p.factors()[mode].num_rows(), min_ridge);
  const auto bias_ridge = test::ridges<Real>(p.factors()[mode].num_rows(), 0.25);
  const RowSystems<Real> systems{
      .tree = &tree,
      .weights = has_weights ? std::span<const Real>(weights) : std::span<const Real>(),
      .loss = loss,
      .offset = has_weights && !loss.has_background() ? 0.5 : 0,
      .num_factors = p.num_factors,
      .ridge = ridge,
      .bias_ridge = bias_ridge,
      .gram = &gram,
      .cg_steps = cg_steps};
  solve_rows<Real>(systems, p.factors());
  const test::RowGradient<Real> gradient(systems, p.factors(), p.cells);
  for (std::size_t i = 0; i < gradient.rows.size(); ++i)
    for (Index r = 0; r < p.factors()[0].num_cols(); ++r)
      if (r < p.num_factors || r == p.num_factors + mode) {
        EXPECT_LE(std::abs(gradient.rows[i][r]), tolerance * (gradient.sizes[i][r] + 1))
            << "mode " << mode << ", row " << i << ", column " << r << " of " << p.num_factors;
      }
}

template <class Real>
void expect_minima_of_squares(double tolerance) {
  std::uint64_t seed = 0;
  for (const auto& shape : test::problem_shapes())
    for (const Index n : {1, 2, 8, 16, 37})
      for (const bool has_biases : {false, true})
        for (const bool has_weights : {false, true}) {
          const test::Threads threads(seed % 2 == 0 ? 1 : 3);
          test::RowProblem<Real> p(shape, n, has_biases, has_weights, ++seed);
          for (int mode = 0; mode < p.problem.tensor().order(); ++mode)
            expect_minimum<Real>(p, mode, {}, has_weights, tolerance);
        }
}

TEST(RowSystems, SolvesWeightedLeastSquares) {
  expect_minima_of_squares<double>(1e-10);
}
TEST(RowSystems, SolvesThemInSinglePrecision) {
  expect_minima_of_squares<float>(2e-3);
}

TEST(RowSystems, CountsEveryCellWhereThereIsABackground) {
  std::uint64_t seed = 100;
  for (const test::ProblemShape& shape : {test::ProblemShape{{5, 4}, 9},
                                          {{30, 20}, 100, true},
                                          {{4, 3, 2}, 12},
                                          {{7, 5, 6}, 60, true},
                                          {{3, 2, 1, 4}, 12}})
    for (const Index n : {1, 4, 19})
      for (const CellLoss loss : {CellLoss{CellLoss::Kind::confidence, 1, 1},
                                  {CellLoss::Kind::confidence, 40, 0.5},
                                  {CellLoss::Kind::squares, 1, 0.5}})
        for (const bool has_biases : {false, true})
          for (const bool has_weights : {false, true}) {
            test::RowProblem<double> p(shape, n, has_biases, has_weights, ++seed);
            for (int mode = 0; mode < p.problem.tensor().order(); ++mode)
              expect_minimum<double>(p, mode, loss, has_weights, 1e-10);
          }
}

// Tiles of registers have remainders of all sizes; rows of one slice may not depend on who solves them.
TEST(RowSystems, SolvesAnyNumberOfUnknownsTheSameOnAnyNumberOfThreads) {
  for (Index n = 1; n <= 70; ++n) {
    std::vector<Matrix<double>> first;
    for (const int num_threads : {1, 3}) {
      const test::Threads threads(num_threads);
      test::RowProblem<double> p({{40, 30}, 300, true}, n, n % 2 == 0, true, 400 + std::uint64_t(n));
      for (int mode = 0; mode < 2; ++mode) expect_minimum<double>(p, mode, {}, true, 1e-10);
      if (first.empty())
        first = p.factors();
      else
        for (int mode = 0; mode < 2; ++mode)
          EXPECT_TRUE(std::ranges::equal(first[mode].flat(), p.factors()[mode].flat())) << n;
    }
  }
}

// Row i of mode 0 has i + 1 cells: fewer than there are factors, as many, and more. Systems of the size
// of the cells are solved for the former, in the basis of eigenvectors where there is a background.
template <class Real>
test::RowProblem<Real> rows_of_all_sizes(Index num_factors, bool has_biases, std::uint64_t seed) {
  constexpr Index num_rows = 150, num_columns = 150;
  test::RowProblem<Real> p({{2, 2}, 2}, num_factors, has_biases, false, seed);
  SparseTensor<Real, LocalIndex> tensor({num_rows, num_columns});
  p.cells.clear();
  for (Index i = 0; i < num_rows; ++i)
    for (Index j = 0; j < num_columns; ++j) {
      if (7 * j % num_columns > i) continue;
      const auto value = Real(Random(seed, 9).uniform(std::uint64_t(i * num_columns + j)) - 0.3);
      tensor.append(std::array{i, j}, value);
      p.cells[{i, j}] = {double(value), 1};
    }
  for (int m = 0; m < 2; ++m) {
    auto& factor = p.factors()[m];
    factor = test::random_matrix<Real>(tensor.extent(m), factor.num_cols(), seed + std::uint64_t(m));
    if (has_biases)
      for (Index i = 0; i < factor.num_rows(); ++i) factor(i, num_factors + 1 - m) = 1;
  }
  p.problem.compacted.tensor = std::move(tensor);
  return p;
}
template <class Real>
void expect_minima_of_all_sizes(double tolerance) {
  std::uint64_t seed = 900;
  for (const Index n : {1, 2, 16, 37, 64})
    for (const CellLoss loss : {CellLoss{}, CellLoss{CellLoss::Kind::confidence, 3, 1}})
      for (const bool has_biases : {false, true})
        for (const int num_threads : {1, 3}) {
          const test::Threads threads(num_threads);
          auto p = rows_of_all_sizes<Real>(n, has_biases, ++seed);
          for (int mode = 0; mode < 2; ++mode) expect_minimum<Real>(p, mode, loss, false, tolerance);
        }
}
TEST(RowSystems, SolvesRowsWithFewerCellsThanFactorsAsManyAndMore) {
  expect_minima_of_all_sizes<double>(1e-10);
}
TEST(RowSystems, SolvesRowsOfAllSizesInSinglePrecision) {
  expect_minima_of_all_sizes<float>(2e-3);
}

// With as many steps as there are unknowns, and some more for what rounding takes away.
TEST(ConjugateRows, FindTheMinimumWithEnoughSteps) {
  std::uint64_t seed = 500;
  for (const test::ProblemShape& shape :
       {test::ProblemShape{{5, 4}, 9}, {{30, 20}, 100, true}, {{7, 5, 6}, 60, true}, {{3, 2, 1, 4}, 12}})
    for (const Index n : {1, 4, 19, 37})
      for (const CellLoss loss :
           {CellLoss{}, {CellLoss::Kind::confidence, 5, 1}, {CellLoss::Kind::squares, 1, 0.5}})
        for (const bool has_biases : {false, true})
          for (const bool has_weights : {false, true}) {
            test::RowProblem<double> p(shape, n, has_biases, has_weights, ++seed);
            for (int mode = 0; mode < p.problem.tensor().order(); ++mode)
              expect_minimum<double>(p, mode, loss, has_weights, 1e-8, 0.5, 150);
          }
}

// The loss of observed cells and regularisation, of which the mode's rows are the minimum.
template <class Real>
double loss_of_rows(const RowSystems<Real>& systems, std::span<const Matrix<Real>> factors) {
  double loss = measure_cells<Real>(systems, factors).loss;
  const auto& rows = factors[systems.mode()];
  const Index n = systems.num_factors;
  for (Index i = 0; i < rows.num_rows(); ++i) {
    for (Index r = 0; r < n; ++r) loss += double(systems.ridge[i]) * double(rows(i, r)) * double(rows(i, r));
    if (rows.num_cols() > n)
      loss += double(systems.bias_ridge[i]) * double(rows(i, n + systems.mode())) *
              double(rows(i, n + systems.mode()));
    if (!systems.loss.has_background()) continue;
    for (Index r = 0; r < rows.num_cols(); ++r)
      for (Index c = 0; c < rows.num_cols(); ++c)
        loss += systems.loss.background * (*systems.gram)(r, c) * double(rows(i, r)) * double(rows(i, c));
  }
  return loss;
}

// Each step lowers the loss until the minimum, from rows of any size and from zeros.
TEST(ConjugateRows, NeverRaiseTheLoss) {
  std::uint64_t seed = 700;
  for (const test::ProblemShape& shape :
       {test::ProblemShape{{30, 20}, 100, true}, {{1, 9}, 4}, {{7, 5, 6}, 60, true}})
    for (const Index n : {1, 8, 37})
      for (const CellLoss loss : {CellLoss{}, {CellLoss::Kind::confidence, 40, 1}})
        for (const bool has_biases : {false, true})
          for (const double size : {0.0, 1e-3, 1e3}) {
            test::RowProblem<double> p(shape, n, has_biases, true, ++seed);
            const auto [tree, weights] = p.tree(0);
            const auto gram = test::gram_of_others<double>(p.factors(), 0);
            for (Index i = 0; i < p.factors()[0].num_rows(); ++i)
              for (Index r = 0; r < n; ++r) p.factors()[0](i, r) *= size;
            const std::vector<double> ridge(std::size_t(p.factors()[0].num_rows()), 0.25),
                bias_ridge(ridge.size(), 0.5);
            const RowSystems<double> systems{.tree = &tree,
                                             .weights = weights,
                                             .loss = loss,
                                             .num_factors = n,
                                             .ridge = ridge,
                                             .bias_ridge = bias_ridge,
                                             .gram = &gram,
                                             .cg_steps = 1};
            double before = loss_of_rows<double>(systems, p.factors());
            for (int step = 0; step < 5; ++step) {
              solve_rows<double>(systems, p.factors());
              const double now = loss_of_rows<double>(systems, p.factors());
              EXPECT_LE(now, before + 1e-10 * std::abs(before)) << seed << ", step " << step;
              before = now;
            }
          }
}

// The cells of two parts, in turn, as a tensor of a format; and their weights in its order.
template <class Real>
struct PartOfCells {
  LocalTensor<Real> tensor;
  std::vector<Array<Real>> weights;  // [mode]
};
template <class Real>
PartOfCells<Real> part_of_cells(const test::RowProblem<Real>& p, int part, Format format,
                                const std::vector<std::vector<int>>& trees) {
  const auto all = p.problem.tensor();
  SparseTensor<Real, LocalIndex> values(all.extents()), weights(all.extents());
  for (Index z = part; z < all.num_nonzeros(); z += 2) {
    std::vector<Index> at;
    for (int m = 0; m < all.order(); ++m) at.push_back(Index(all.indices(m)[z]));
    values.append(at, all.values()[z]);
    weights.append(at, Real(p.cells.at(at).weight));
  }
  PartOfCells<Real> result{build_format(std::move(values), format, trees), {}};
  const auto in_order = build_format(std::move(weights), format, trees);
  for (int m = 0; m < all.order(); ++m) {
    const auto of_mode = cell_values<Real>({.cells = &in_order, .mode_of_cells = m});
    result.weights.emplace_back(of_mode.begin(), of_mode.end());
  }
  return result;
}

// The rows that were solved for from sums are also those without a background, whose words are in the sums.
template <class Real>
void expect_same_by_words(RowSystems<Real> systems, Matrix<Real> sums,
                          const std::vector<Matrix<Real>>& solved, double tolerance) {
  const auto words = background_words(systems);
  for (Index i = 0; i < sums.num_rows(); ++i)
    std::ranges::transform(sums.row(i), words, sums.row(i).begin(), std::plus{});
  systems.loss.background = 0;
  auto factors = solved;
  const Index end = factors[systems.mode()].num_rows();
  solve_sums<Real>(systems, sums, end - sums.num_rows(), end, factors);
  for (std::size_t i = 0; i < factors[systems.mode()].flat().size(); ++i) {
    const auto there = double(solved[systems.mode()].flat()[i]);
    EXPECT_NEAR(double(factors[systems.mode()].flat()[i]), there, tolerance * (1 + std::abs(there)));
  }
}

template <class Real>
void expect_same_by_sums(const test::RowProblem<Real>& problem, int mode, const CellLoss& loss,
                         double tolerance) {
  auto expected = problem;
  const auto [tree, weights] = problem.tree(mode);
  const auto gram = test::gram_of_others<Real>(expected.factors(), mode);
  const Index num_rows = expected.factors()[mode].num_rows(), first = num_rows / 3;
  const auto ridge = test::ridges<Real>(num_rows, 0.5), bias_ridge = test::ridges<Real>(num_rows, 0.25);
  RowSystems<Real> systems{.tree = &tree,
                           .weights = weights,
                           .loss = loss,
                           .offset = 0.25,
                           .num_factors = problem.num_factors,
                           .ridge = ridge,
                           .bias_ridge = bias_ridge,
                           .gram = &gram};
  solve_rows<Real>(systems, expected.factors());
  const auto counts = count_cells(systems, num_rows);
  const auto errors = measure_cells<Real>(systems, expected.factors());
  const int order = problem.problem.tensor().order();
  auto other_modes = natural_mode_order(order);
  std::ranges::rotate(other_modes, other_modes.begin() + (mode + 1) % order);
  for (const auto& [format, trees] : std::vector<std::pair<Format, std::vector<std::vector<int>>>>{
           {Format::coo, {}}, {Format::hicoo, {}}, {Format::csf, {other_modes}}}) {
    auto found = problem;
    solve_rows<Real>(systems, found.factors(), first);  // the others from sums of two parts
    const bool has_biases = found.factors()[0].num_cols() > problem.num_factors;
    Matrix<Real> sums(num_rows - first, words_of_system(problem.num_factors, has_biases)), more = sums;
    Array<Index> all(std::size_t(num_rows), 0);
    CellErrors all_errors;
    for (const int part : {0, 1}) {
      const auto cells = part_of_cells(problem, part, format, trees);
      auto of_part = systems;
      of_part.tree = nullptr;
      of_part.cells = &cells.tensor;
      of_part.mode_of_cells = mode;
      of_part.weights = cells.weights[mode];
      sum_systems<Real>(of_part, found.factors(), first, more);
      std::ranges::transform(sums.flat(), more.flat(), sums.flat().begin(), std::plus{});
      std::ranges::transform(all, count_cells(of_part, num_rows), all.begin(), std::plus{});
      all_errors += measure_cells<Real>(of_part, expected.factors());
    }
    solve_sums<Real>(systems, sums, first, num_rows, found.factors());
    if (loss.has_background()) expect_same_by_words<Real>(systems, sums, found.factors(), tolerance);
    EXPECT_TRUE(std::ranges::equal(all, counts));
    EXPECT_NEAR(all_errors.loss, errors.loss, tolerance * (1 + std::abs(errors.loss)));
    EXPECT_EQ(all_errors.test.count, errors.test.count);
    for (std::size_t i = 0; i < found.factors()[mode].flat().size(); ++i) {
      const auto here = double(found.factors()[mode].flat()[i]),
                 there = double(expected.factors()[mode].flat()[i]);
      EXPECT_NEAR(here, there, tolerance * (1 + std::abs(there))) << "format " << int(format);
    }
  }
}

// Sums over any share of the cells, added up, give the rows of one pass over all: in every format, and
// whatever row the sums begin with.
template <class Real>
void expect_sums_of_parts(double tolerance) {
  std::uint64_t seed = 900;
  for (const test::ProblemShape& shape : {test::ProblemShape{{5, 4}, 9},
                                          {{300, 2}, 200, true},
                                          {{7, 5, 6}, 60, true},
                                          {{3, 200, 1, 4}, 120},
                                          {{3, 4, 3, 2, 3}, 50}})
    for (const Index n : {1, 4, 9, 12, 19, 26})
      for (const bool has_biases : {false, true})
        for (const CellLoss loss : {CellLoss{}, {CellLoss::Kind::squares, 1, 0.5}})
          for (int mode = 0; mode < std::ssize(shape.extents); ++mode) {
            const test::Threads threads(seed % 2 == 0 ? 1 : 3);
            test::RowProblem<Real> p(shape, n, has_biases, true, ++seed);
            expect_same_by_sums(p, mode, loss, tolerance);
          }
}

TEST(RowSystems, AreSolvedTheSameFromSumsInAnyFormat) {
  expect_sums_of_parts<double>(1e-8);
}
TEST(RowSystems, AreSolvedFromSumsInSinglePrecision) {
  expect_sums_of_parts<float>(2e-2);
}

// Where the gradient is positive entries are zero, and it is zero where they are not.
TEST(RowSystems, FindNonnegativeMinima) {
  std::uint64_t seed = 1300;
  for (const auto& shape : test::problem_shapes())
    for (const Index n : {1, 2, 8, 19})
      for (const CellLoss loss :
           {CellLoss{}, {CellLoss::Kind::squares, 1, 0.5}, {CellLoss::Kind::confidence, 3, 1}}) {
        if (loss.has_background() && shape.num_nonzeros > 200) continue;  // all cells are visited
        test::RowProblem<double> p(shape, n, false, true, ++seed);
        for (int mode = 0; mode < p.problem.tensor().order(); ++mode) {
          const auto [tree, weights] = p.tree(mode);
          const auto gram = test::gram_of_others<double>(p.factors(), mode);
          const auto ridge = test::ridges<double>(p.factors()[mode].num_rows(), 1);
          const RowSystems<double> systems{.tree = &tree,
                                           .weights = weights,
                                           .loss = loss,
                                           .num_factors = n,
                                           .ridge = ridge,
                                           .is_nonnegative = true,
                                           .gram = &gram};
          make_nonnegative(p.factors()[mode]);
          const double before = loss_of_rows<double>(systems, p.factors());
          solve_rows<double>(systems, p.factors());
          EXPECT_LE(loss_of_rows<double>(systems, p.factors()), before + 1e-10 * std::abs(before));
          const test::RowGradient<double> gradient(systems, p.factors(), p.cells);
          for (std::size_t i = 0; i < gradient.rows.size(); ++i)
            for (Index r = 0; r < n; ++r) {
              const double entry = p.factors()[mode](Index(i), r), slope = gradient.rows[i][r],
                           tolerance = 1e-6 * (gradient.sizes[i][r] + 1);
              EXPECT_GE(entry, 0);
              EXPECT_GE(slope, -tolerance) << "row " << i << ", column " << r << " of " << n;
              if (entry > 0) {
                EXPECT_LE(slope, tolerance) << "row " << i << ", column " << r << " of " << n;
              }
            }
        }
      }
}

// Without a ridge, rows with fewer cells than factors have many solutions.
TEST(RowSystems, SolvesSystemsThatAreSingular) {
  std::uint64_t seed = 300;
  for (const auto& shape : test::problem_shapes())
    for (const Index n : {1, 4, 37}) {
      for (int mode = 0; mode < std::ssize(shape.extents); ++mode) {
        test::RowProblem<double> p(shape, n, false, true, ++seed);
        expect_minimum<double>(p, mode, {}, true, 1e-6, 0);
      }
    }
}

// The last pivot may be too small to have a reciprocal in single precision.
TEST(RowSystems, SolvesSystemsWhosePivotHasNoReciprocal) {
  for (const Index n : {4, 8, 16}) {
    auto p = rows_of_all_sizes<float>(n, false, std::uint64_t(n));
    auto& factors = p.factors();
    for (Index j = 0; j < factors[1].num_rows(); ++j) factors[1](j, n - 1) *= 1e-22F;
    const auto [tree, weights] = p.tree(0);
    const std::vector<float> ridge(std::size_t(factors[0].num_rows()), 0.0F);
    solve_rows<float>({.tree = &tree, .num_factors = n, .ridge = ridge}, factors);
    for (const float entry : factors[0].flat()) EXPECT_TRUE(std::isfinite(entry)) << n;
  }
}

TEST(RowSystems, MeasuresErrorsOfCellsThatCountAndOfThoseHeldOut) {
  std::uint64_t seed = 200;
  for (const auto& shape : test::problem_shapes())
    for (const Index n : {1, 7, 37}) {
      test::RowProblem<double> p(shape, n, true, true, ++seed);
      CellErrors expected, by_one, by_three;
      for (const auto& [at, cell] : p.cells) {
        const double error = cell.value - test::sum_of(test::product_of_rows<double>(p.factors(), at, -1));
        auto& sums = cell.weight > 0 ? expected.train : expected.test;
        if (cell.weight != 0) sums += ErrorSums{error * error, std::abs(error), 1};
        if (cell.weight > 0) expected.loss += cell.weight * error * error;
      }
      const auto [tree, weights] = p.tree(int(seed) % p.problem.tensor().order());
      const RowSystems<double> systems{.tree = &tree, .weights = weights, .num_factors = n};
      by_one = test::with_threads(1, [&] { return measure_cells<double>(systems, p.factors()); });
      by_three = test::with_threads(3, [&] { return measure_cells<double>(systems, p.factors()); });
      EXPECT_EQ(by_one.loss, by_three.loss);
      EXPECT_EQ(by_one.train, by_three.train);
      EXPECT_EQ(by_one.train.count, expected.train.count);
      EXPECT_EQ(by_one.test.count, expected.test.count);
      EXPECT_NEAR(by_one.train.squares, expected.train.squares, 1e-10 * expected.train.squares);
      EXPECT_NEAR(by_one.test.squares, expected.test.squares, 1e-10 * expected.test.squares);
      EXPECT_NEAR(by_one.test.magnitudes, expected.test.magnitudes, 1e-10 * expected.test.magnitudes);
      EXPECT_NEAR(by_one.loss, expected.loss, 1e-10 * expected.loss);
    }
}

}  // namespace
}  // namespace polyad::kernels
