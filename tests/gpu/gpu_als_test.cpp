// ALS on a GPU against the processor: on the GPU of the machine in a build with CUDA, else on an emulated
// one.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "polyad/gpu/als_passes.hpp"
#include "polyad/gpu/chunked_nonzeros.hpp"
#include "polyad/gpu/measure_gpu.hpp"
#include "tests/support/cp_cases.hpp"
#include "tests/support/decomposed.hpp"
#include "tests/support/gpu_cases.hpp"

namespace polyad {
namespace {

using test::expect_same_fits;
using test::GpuAls;
using test::on_gpu;

const std::vector<std::vector<Index>> shapes{
    {60, 80},       {40, 30, 50},    {2000, 3, 500},     {1, 700, 2},
    {20, 9, 30, 7}, {6, 5, 9, 3, 7}, {4, 3, 5, 4, 3, 4}, {3, 4, 2, 3, 2, 3, 2, 3}};

TEST_F(GpuAls, follows_the_trajectory_of_the_processor) {
  for (const auto& dims : shapes)
    for (const Index n : {1, 5, 16, 37, 70, 100}) {
      SCOPED_TRACE("order " + std::to_string(dims.size()) + ", " + std::to_string(n) + " components");
      const auto x = test::tame_tensor(dims, 3000, std::uint64_t(n), n % 2 == 0);
      const auto options = test::options_for(n, 10);

      const auto here = test::decompose(x, options), there = test::decompose(x, on_gpu(options));

      expect_same_fits(there.fits, here.fits, 1e-10);
      test::expect_finite(there.model);
    }
}

TEST_F(GpuAls, follows_the_trajectory_of_the_processor_in_single_precision) {
  for (const auto& dims : shapes)
    for (const Index n : {1, 8, 37, 130}) {
      const auto x = test::tame_tensor(dims, 3000, std::uint64_t(n), n % 2 == 0);
      const auto options = test::options_for(n, 3);
      expect_same_fits(test::decompose<float>(x, on_gpu(options)).fits,
                       test::decompose<float>(x, options).fits, 1e-3);
    }
}

TEST_F(GpuAls, follows_the_trajectory_of_nonnegative_factors) {
  for (const auto& dims : shapes)
    for (const Index n : {1, dims.front() == 40 ? 100 : 37})
      for (const bool all : {true, false}) {
        SCOPED_TRACE("order " + std::to_string(dims.size()) + ", " + std::to_string(n) + " components");
        const auto x = test::tame_tensor(dims, 3000, std::uint64_t(n), n % 2 == 0);
        auto options = test::options_for(n, 10);
        options.als.nonnegative.assign(dims.size(), all);
        options.als.nonnegative.front() = true;

        const auto here = test::decompose(x, options), there = test::decompose(x, on_gpu(options));

        expect_same_fits(there.fits, here.fits, 1e-10);
        for (const double entry : there.model.factors.front().flat()) EXPECT_GE(entry, 0);
      }
}

// More carries than are added up in one round.
TEST_F(GpuAls, divides_a_slice_that_has_most_of_the_nonzeros) {
  const auto x = test::tame_tensor({2, 900, 800}, 150000, 3, true);
  for (const Index n : {3, 16}) {
    const auto options = test::options_for(n, 3);
    expect_same_fits(test::decompose(x, on_gpu(options)).fits, test::decompose(x, options).fits, 1e-10);
  }
}

TEST_F(GpuAls, gives_the_same_bits_when_it_runs_twice) {
  for (const Index n : {5, 16, 100}) {
    const auto x = test::tame_tensor({3000, 30, 150}, 20000, 5, true);
    const auto options = on_gpu(test::options_for(n, 5));
    const auto a = test::decompose(x, options), b = test::decompose(x, options);
    EXPECT_EQ(a.fits, b.fits);
    EXPECT_EQ(a.model, b.model);
  }
}

TEST_F(GpuAls, has_sensible_results_in_degenerate_cases) {
  const test::DegenerateTensors x;
  for (const Index n : {1, 5, 37}) test::expect_sensible(x, on_gpu(test::options_for(n, 20)));
}

TEST_F(GpuAls, goes_on_from_a_model) {
  const auto x = test::tame_tensor({40, 30, 50}, 1200, 2);
  auto options = on_gpu(test::options_for(5, 10));
  const auto whole = test::decompose(x, options).fits;
  Progress silent;
  const auto prepared = prepare<double>(Comm::self(), x, options, silent);
  options.als.max_iterations = 4;
  const auto begin = cp_als<double>(prepared.tensor, prepared.chosen.plan, options.als);
  options.als.max_iterations = 6;
  const auto end = cp_als<double>(prepared.tensor, prepared.chosen.plan, options.als, {}, &begin.model);
  auto fits = begin.fit_trajectory;
  fits.insert(fits.end(), end.fit_trajectory.begin(), end.fit_trajectory.end());
  expect_same_fits(fits, whole, 1e-10);
}

// A chunk reads a row for every node below the root, and the zeros at its end read one each.
TEST_F(GpuAls, counts_the_bytes_that_an_iteration_moves) {
  for (const auto& dims : shapes) {
    auto tensor = compact<double>(test::tame_tensor(dims, 50, 3)).tensor;
    const int order = int(dims.size());
    constexpr Index columns = 8, row_bytes = columns * sizeof(double);
    Index expected = 0;
    std::vector<CsfTree<double>> trees;
    std::vector<gpu::ModeNonzeros<double>> modes;
    for (int m = 0; m < order; ++m) {
      std::vector<int> levels{m};
      for (int other = 0; other < order; ++other)
        if (other != m) levels.push_back(other);
      trees.emplace_back(tensor, levels);
    }
    for (int m = 0; m < order; ++m) {
      const auto& tree = trees[m];
      ASSERT_LE(tree.num_nonzeros(), gpu::usual_chunk_size);
      const Index num_rows = tensor.extent(m);
      modes.push_back({&tree, num_rows});
      Index gathered = gpu::usual_chunk_size - tree.num_nonzeros();
      for (int level = 1; level < order; ++level) gathered += tree.num_nodes(level);
      const Index nonzero_bytes = Index(sizeof(double)) + 4 * (order - 1) + 1;
      expected +=
          gpu::usual_chunk_size * nonzero_bytes + 4 * (3 + num_rows) + (gathered + num_rows) * row_bytes;
      expected += 2 * num_rows * row_bytes;  // the update
    }
    EXPECT_EQ(gpu::make_passes<double>(0, modes, columns)->bytes_per_iteration(), expected) << order;
  }
}

TEST_F(GpuAls, is_measured) {
  const bool is_emulated = gpu::list_devices().gpus.front().name == "an emulated GPU";
  const auto gpu = gpu::measure_gpu(0, is_emulated ? 256 : 1);
  for (const double seconds :
       {gpu.per_copied_byte, gpu.per_uploaded_byte, gpu.per_near_byte, gpu.per_far_byte, gpu.per_mode})
    EXPECT_TRUE(std::isfinite(seconds) && seconds > 0) << seconds;
  EXPECT_GE(gpu.per_solved_entry, 0);
  EXPECT_GE(gpu.per_solved_product, 0);
  EXPECT_GT(gpu.per_solved_entry + gpu.per_solved_product, 0);
  EXPECT_LE(gpu.per_near_byte, gpu.per_far_byte);
  EXPECT_DOUBLE_EQ(gpu.per_gathered_byte(0), gpu.per_near_byte);
  EXPECT_DOUBLE_EQ(gpu.per_gathered_byte(1e12), gpu.per_far_byte);
}

TEST_F(GpuAls, refuses_a_gpu_that_is_not_there) {
  auto options = on_gpu(test::options_for(2, 2));
  options.als.gpu = int(gpu::list_devices().gpus.size());
  try {
    test::decompose(test::tame_tensor({4, 5, 6}, 30, 1), options);
    FAIL() << "not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::bad_option);
    EXPECT_NE(error.message().find("there is no GPU"), std::string::npos) << error.message();
  }
}

TEST_F(GpuAls, refuses_what_does_not_fit_before_anything_is_allocated) {
  auto x = test::tame_tensor({4, 5, 6}, 30, 1);
  const auto compacted = compact<double>(x);
  auto tensor = compacted.tensor;
  const CsfTree<double> tree(tensor, {0, 1, 2});
  const std::vector<gpu::ModeNonzeros<double>> modes(3, {&tree, std::numeric_limits<LocalIndex>::max()});
  try {
    gpu::make_passes<double>(0, modes, 64);
    FAIL() << "not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::resource);
    EXPECT_NE(error.message().find("are free"), std::string::npos) << error.message();
  }
}

}  // namespace
}  // namespace polyad
