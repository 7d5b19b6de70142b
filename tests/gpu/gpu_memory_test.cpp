// The memory that a GPU is checked for before a run is what the run takes of it: on an emulated GPU.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "polyad/algo/cp/prepare_cells.hpp"
#include "polyad/algo/cp/run_cp.hpp"
#include "tests/gpu/emulated_device.hpp"
#include "tests/support/gpu_cases.hpp"
#include "tests/support/random_distribution.hpp"
#include "tests/support/shares.hpp"

namespace polyad {
namespace {

// Of the GPU of this process, and its whole memory again at the end.
class MemoryOfGpu : public testing::Test {
 protected:
  void TearDown() override { memory().size = whole_; }

  static test::EmulatedMemory& memory() { return test::emulated_memory(); }

  // Runs with as much memory as there is; the most that was in use at once.
  Index peak_of(const std::function<void()>& run) const {
    memory() = {.size = whole_};
    run();
    EXPECT_EQ(memory().in_use, 0);
    return memory().most_in_use;
  }
  // Runs with so much; the error.
  static std::string failure_with(Index bytes, const std::function<void()>& run) {
    memory() = {.size = bytes};
    try {
      run();
    } catch (const Error& error) {
      return error.message();
    }
    return "";
  }

  // A run without the last byte that it takes is refused before it takes any. It is not refused where there
  // is half as much again.
  void expect_checked(const std::function<void()>& run) const {
    const Index peak = peak_of(run);
    ASSERT_GT(peak, 0);
    const auto failure = failure_with(peak - 1, run);
    EXPECT_NE(failure.find("the decomposition would need"), std::string::npos) << failure;
    EXPECT_EQ(memory().most_in_use, 0);
    EXPECT_EQ(failure_with(peak + peak / 2, run), "");
  }

 private:
  Index whole_ = memory().size;
};

// Few nonzeros in many rows, which several processes have in common.
TEST_F(MemoryOfGpu, is_checked_for_decompositions_with_the_rows_that_are_lent) {
  const Comm comm = Comm::world();
  for (int n = 0; n < 4; ++n)
    for (const Index num_components : {1, 9}) {
      SCOPED_TRACE("case " + std::to_string(n) + ", " + std::to_string(num_components) + " components");
      const auto whole = test::tame_tensor({400, 300, 350}, 1500, std::uint64_t(n), n % 3 == 0);
      const auto share = test::share_of(whole, comm);
      const Distributor distributor(comm, share, comm.size(), std::uint64_t(n));
      const auto options = test::on_gpu(test::options_for(num_components, 1));
      const auto distribution = n % 2 == 0 ? test::some_distribution(distributor, comm.size(), n)
                                           : test::some_routed_distribution(distributor, comm.size(), n);
      Progress silent;
      const auto x = prepare<double>(comm, share, options, silent, distribution);
      expect_checked([&] { cp_als<double>(x.tensor, x.chosen.plan, options.als); });
    }
}

TEST_F(MemoryOfGpu, is_checked_for_systems_of_rows) {
  const Comm comm = Comm::world();
  for (int n = 0; n < 2; ++n)
    for (const Index num_components : {1, 5}) {
      SCOPED_TRACE("case " + std::to_string(n) + ", " + std::to_string(num_components) + " components");
      const auto whole = test::tame_tensor({30, 20, 40}, 2000, std::uint64_t(n), n % 2 == 0);
      const auto share = test::share_of(whole, comm);
      const Distributor distributor(comm, share, comm.size(), std::uint64_t(n));
      const auto options = test::on_gpu(test::observed_options(num_components, 1));
      Progress silent;
      const auto x = prepare_observed<double>(comm, share, options, silent,
                                              test::plain_distribution(distributor, comm.size(), n));
      expect_checked([&] { run_cp(x, options); });
    }
}

// The factors of this run would take 140 GB.
TEST_F(MemoryOfGpu, is_checked_before_there_are_factors) {
  const auto whole = test::tame_tensor({400, 300, 350}, 1500, 4);
  auto options = test::on_gpu(test::options_for(Index(1) << 24, 1));
  options.max_bytes = Index(1) << 62;  // of the processor: more than the machine has
  const auto failure = failure_with(Index(1) << 20, [&] { test::decompose<double>(whole, options); });
  EXPECT_NE(failure.find("the decomposition would need"), std::string::npos) << failure;
}

// What a refusal says that would fit does fit, and more does not.
TEST_F(MemoryOfGpu, is_suggested_for_what_would_fit) {
  const auto whole = test::tame_tensor({400, 300, 350}, 1500, 4);
  const auto run_with = [&](auto real, Index num_components) {
    using Real = decltype(real);
    return [&whole, num_components] {
      const auto options = test::on_gpu(test::options_for(num_components, 1));
      test::decompose<Real>(whole, options);
    };
  };
  const Index of_eight = peak_of(run_with(double{}, 8)), of_many = peak_of(run_with(double{}, 32));

  auto failure = failure_with(of_many - 1, run_with(double{}, 32));
  EXPECT_NE(failure.find("; it would fit in single precision, or with at most "), std::string::npos)
      << failure;
  for (const Index bytes : {of_eight + of_eight / 8, 2 * of_eight, of_many - 1}) {
    failure = failure_with(bytes, run_with(double{}, 32));
    const std::string words = "with at most ";
    const auto at = failure.find(words);
    ASSERT_NE(at, std::string::npos) << failure;
    const Index most = std::stoll(failure.substr(at + words.size()));
    EXPECT_EQ(failure_with(bytes, run_with(double{}, most)), "") << failure;
    EXPECT_NE(failure_with(bytes, run_with(double{}, most + 1)), "") << failure;
  }
  failure = failure_with(1000, run_with(double{}, 2));
  EXPECT_NE(failure.find("; it would not fit with a single component either"), std::string::npos) << failure;
}

}  // namespace
}  // namespace polyad
