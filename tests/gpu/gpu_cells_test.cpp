// Least squares over observed cells on a GPU against the processor: on the GPU of the machine in a build with
// CUDA, else on an emulated one.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "polyad/algo/cp/prepare_cells.hpp"
#include "polyad/algo/cp/run_cp.hpp"
#include "polyad/gpu/cell_passes.hpp"
#include "polyad/gpu/cell_pieces.hpp"
#include "tests/support/cp_cases.hpp"
#include "tests/support/decomposed.hpp"
#include "tests/support/gpu_cases.hpp"

namespace polyad {
namespace {

using GpuCells = test::GpuAls;
using test::observed_options;
using test::on_gpu;

template <class Real>
CpResult<Real> fit(SparseTensor<double> x, const CpRunOptions& options, SparseTensor<double> weights = {}) {
  Progress silent;
  const auto prepared =
      prepare_observed<Real>(Comm::self(), std::move(x), options, silent, {}, std::move(weights));
  return run_cp(prepared, options);
}

template <class Real>
void expect_same_results(const SparseTensor<double>& x, const CpRunOptions& options, double tolerance,
                         const SparseTensor<double>& weights = {}) {
  const auto here = fit<Real>(x, options, weights), there = fit<Real>(x, on_gpu(options), weights);
  ASSERT_EQ(there.fit_trajectory.size(), here.fit_trajectory.size());
  for (std::size_t i = 0; i < here.fit_trajectory.size(); ++i)
    EXPECT_NEAR(there.fit_trajectory[i], here.fit_trajectory[i], tolerance) << i;
  ASSERT_EQ(there.held_out_rmse.size(), here.held_out_rmse.size());
  for (std::size_t i = 0; i < here.held_out_rmse.size(); ++i)
    EXPECT_NEAR(there.held_out_rmse[i], here.held_out_rmse[i], tolerance * (1 + here.held_out_rmse[i])) << i;
}

const std::vector<std::vector<Index>> shapes_of_cells{
    {60, 80}, {40, 30, 50}, {7, 200, 6}, {300, 12, 40}, {20, 9, 30, 7}, {6, 5, 9, 3, 7}, {4, 3, 5, 4, 3, 4}};

TEST_F(GpuCells, follow_the_sweeps_of_the_processor) {
  for (const auto& dims : shapes_of_cells)
    for (const Index n : {1, 5, 13}) {
      SCOPED_TRACE("order " + std::to_string(dims.size()) + ", " + std::to_string(n) + " components");
      const auto x = test::tame_tensor(dims, 2000, std::uint64_t(n), n % 2 == 0);
      expect_same_results<double>(x, observed_options(n, 5), 1e-8);
    }
}

TEST_F(GpuCells, follow_the_sweeps_of_implicit_feedback_and_of_biases) {
  for (const auto& dims : shapes_of_cells)
    for (const Index n : {1, 6}) {
      SCOPED_TRACE("order " + std::to_string(dims.size()) + ", " + std::to_string(n) + " components");
      const auto x = test::tame_tensor(dims, 1000, std::uint64_t(n), false);
      auto options = observed_options(n, 5);
      options.observed->has_biases = true;
      expect_same_results<double>(x, options, 1e-8);
      options.observed->has_biases = false;
      options.observed->alpha = 3;
      options.observed->per_row = 1;
      expect_same_results<double>(x, options, 1e-8);
    }
}

TEST_F(GpuCells, follow_the_sweeps_in_single_precision_and_with_weights) {
  const auto x = test::tame_tensor({40, 30}, 900, 3, true);
  for (const Index n : {2, 8}) expect_same_results<float>(x, observed_options(n, 3), 1e-3);
  SparseTensor<double> cells(std::vector<Index>{40, 30, 50}), weights(cells);
  for (Index z = 0; z < 1200; ++z) {  // no cell twice
    const std::array<Index, 3> at{z % 40, z / 40, z * 7 % 50};
    cells.append(at, std::sin(double(z)));
    weights.append(at, double(z % 4));
  }
  expect_same_results<double>(cells, observed_options(8, 5), 1e-8, weights);
}

// Systems of 63 unknowns and more take several tiles of a thread.
TEST_F(GpuCells, solve_for_as_many_components_as_there_may_be) {
  const auto x = test::tame_tensor({30, 40}, 900, 3, true);
  for (const Index n : {63, 64, 90, 127}) expect_same_results<double>(x, observed_options(n, 2), 1e-7);
}

// Rows without a cell that counts, and without regularisation, have singular systems.
TEST_F(GpuCells, find_the_shortest_solution_of_a_singular_system) {
  auto options = observed_options(6, 3);
  options.observed->regularisation = 0;
  options.observed->held_out = 0.5;
  expect_same_results<double>(test::tame_tensor({50, 40}, 90, 3, false), options, 1e-6);
}

TEST_F(GpuCells, divide_a_slice_that_has_most_of_the_cells) {
  const auto x = test::tame_tensor({2, 300, 100}, 3 * gpu::max_cells_of_piece, 3, true);
  expect_same_results<double>(x, observed_options(7, 3), 1e-8);
}

// On the emulated GPU; others may have room for more.
TEST_F(GpuCells, refuse_systems_that_do_not_fit_into_a_block) {
  const auto x = test::tame_tensor({30, 40}, 900, 3, true);
  auto options = on_gpu(observed_options(127, 2));
  options.observed->has_biases = true;
  if (gpu::block_bytes_of_system(128, sizeof(double)) <= gpu::block_memory_bytes(0))
    GTEST_SKIP() << "this GPU has room for all";
  EXPECT_THROW(fit<double>(x, options), Error);
}

TEST_F(GpuCells, give_the_same_bits_when_they_run_twice) {
  const auto x = test::tame_tensor({300, 30, 50}, 9000, 5, true);
  const auto options = on_gpu(observed_options(16, 4));
  const auto a = fit<double>(x, options), b = fit<double>(x, options);
  EXPECT_EQ(a.fit_trajectory, b.fit_trajectory);
  EXPECT_EQ(a.model, b.model);
}

TEST_F(GpuCells, have_pieces_with_all_cells_of_their_slices) {
  const auto compacted = compact<double>(test::tame_tensor({9, 30, 20}, 900, 5, true));
  auto tensor = compacted.tensor;
  const CsfTree<double> tree(tensor, {0, 1, 2});
  for (const Index most : {1, 7, 64, 10000}) {
    const gpu::PiecesOfTree cut(tree, most);
    Index cells = 0;
    std::vector<int> partial(std::size_t(cut.num_partial));
    for (const auto& piece : cut.pieces) {
      EXPECT_GE(piece.begin, tree.first_nonzero(0, Index(piece.slice)));
      EXPECT_LE(piece.end, tree.first_nonzero(0, Index(piece.slice) + 1));
      EXPECT_LE(piece.end - piece.begin, most);
      cells += piece.end - piece.begin;
      if (piece.partial >= 0) ++partial[piece.partial];
    }
    EXPECT_EQ(cells, tree.num_nonzeros());
    EXPECT_EQ(partial, std::vector<int>(partial.size(), 1));
    Index of_cut = 0;
    for (const auto& slice : cut.cut_slices) of_cut += slice.count;
    EXPECT_EQ(of_cut, cut.num_partial);
  }
}

}  // namespace
}  // namespace polyad
