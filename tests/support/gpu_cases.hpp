#pragma once

#include <gtest/gtest.h>

#include "polyad/gpu/device.hpp"
#include "tests/support/decomposed.hpp"

namespace polyad::test {

// Tests on the GPU of the machine in a build with CUDA, else on an emulated one.
class GpuAls : public testing::Test {
 protected:
  void SetUp() override {
    const auto list = gpu::list_devices();
    if (list.gpus.empty()) GTEST_SKIP() << list.why_none;
  }
};

inline CpRunOptions on_gpu(CpRunOptions options) {
  options.als.gpu = 0;
  options.format = "auto";
  return options;
}

// A model of the cells that a tensor has, some of which are held out.
inline CpRunOptions observed_options(Index num_components, int sweeps) {
  auto options = options_for(num_components, sweeps);
  options.als.tolerance = 0;
  options.observed.emplace();
  options.observed->regularisation = 0.05;
  options.observed->patience = 0;
  options.observed->held_out = 0.1;
  return options;
}

inline void expect_same_fits(const std::vector<double>& fits, const std::vector<double>& expected,
                             double tolerance) {
  ASSERT_EQ(fits.size(), expected.size());
  for (std::size_t i = 0; i < fits.size(); ++i)
    EXPECT_NEAR(squared_residual(fits[i]), squared_residual(expected[i]), tolerance) << i;
}

}  // namespace polyad::test
