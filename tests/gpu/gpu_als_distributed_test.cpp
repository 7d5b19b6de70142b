#include <gtest/gtest.h>

#include <cstdlib>

#include "polyad/algo/cp/prepare_cells.hpp"
#include "polyad/algo/cp/run_cp.hpp"
#include "tests/support/distributed_cases.hpp"
#include "tests/support/factor_problem.hpp"
#include "tests/support/gpu_cases.hpp"
#include "tests/support/random_distribution.hpp"
#include "tests/support/shares.hpp"

namespace polyad {
namespace {

using DistributedGpuAls = test::GpuAls;
using test::expect_same_fits;
using test::on_gpu;

// How rows travel: between machines, within one, and by an MPI that takes the memory of GPUs, as which any
// serves where a GPU is emulated.
enum class RowsTravel { in_messages, in_shared_memory, in_messages_of_gpus };

class Travelling {
 public:
  explicit Travelling(RowsTravel how) {
    setenv("POLYAD_SHARED_MEMORY", how == RowsTravel::in_messages ? "0" : "1", 1);
    setenv("POLYAD_GPU_AWARE_MPI", how == RowsTravel::in_messages_of_gpus ? "1" : "0", 1);
  }
  Travelling(const Travelling&) = delete;
  Travelling& operator=(const Travelling&) = delete;
  ~Travelling() {
    unsetenv("POLYAD_SHARED_MEMORY");
    unsetenv("POLYAD_GPU_AWARE_MPI");
  }
};

std::vector<RowsTravel> all_ways() {
  std::vector<RowsTravel> ways{RowsTravel::in_messages, RowsTravel::in_shared_memory};
  const bool is_emulated = gpu::list_devices().gpus.front().name == "an emulated GPU";
  if (is_emulated || Comm::world().takes_device_memory()) ways.push_back(RowsTravel::in_messages_of_gpus);
  return ways;
}

// With rows that have padding, and without; many rows, and long ones.
std::vector<test::DistributedCase> cases_for_gpus() {
  auto cases = test::distributed_cases();
  cases.push_back({{300, 200, 4}, 3000, 16});
  cases.push_back({{30, 70, 40}, 2000, 37, true});
  return cases;
}

// The n-th decomposition of a tensor by all processes: directly or by way of others, and replicated modes.
CpResult<double> decompose_together(const SparseTensor<double>& whole, const CpRunOptions& options, int n) {
  const Comm comm = Comm::world();
  const auto share = test::share_of(whole, comm);
  const Distributor distributor(comm, share, comm.size(), std::uint64_t(n));
  const auto distribution = n % 2 == 0 ? test::some_distribution(distributor, comm.size(), n)
                                       : test::some_routed_distribution(distributor, comm.size(), n);
  Progress silent;
  const auto x = prepare<double>(comm, share, options, silent, distribution);
  return cp_als<double>(x.tensor, x.chosen.plan, options.als);
}

TEST_F(DistributedGpuAls, follows_the_trajectory_of_one_process_on_several) {
  const auto ways = all_ways();
  int n = Comm::world().size();
  for (const auto& c : cases_for_gpus())
    for (int round = 0; round < 2; ++round, ++n) {
      const auto whole = test::tame_tensor(c.extents, c.num_nonzeros, std::uint64_t(n), c.heavy);
      const auto expected = test::decompose(whole, test::ten_iterations(c, n)).fits;
      for (const auto way : ways) {
        SCOPED_TRACE("case " + std::to_string(n) + ", way " + std::to_string(int(way)));
        const Travelling travelling(way);

        const auto result = decompose_together(whole, on_gpu(test::ten_iterations(c, n)), n);

        expect_same_fits(result.fit_trajectory, expected, 1e-10);
        EXPECT_EQ(result.communication.volume_words, result.communication.predicted_volume_words);
      }
    }
}

TEST_F(DistributedGpuAls, gives_the_same_bits_when_it_runs_twice_however_rows_travel) {
  const auto ways = all_ways();
  for (int n = 0; n < 6; ++n) {
    const Index num_components = n < 3 ? 16 : 5;
    const auto whole = test::tame_tensor({900, 30, 150}, 8000, std::uint64_t(n), true);
    const auto options = on_gpu(test::options_for(num_components, 5));
    std::vector<CpResult<double>> results;
    for (const auto way : {ways.front(), ways.front(), ways[1], ways.back()}) {
      const Travelling travelling(way);
      results.push_back(decompose_together(whole, options, n));
    }
    for (const auto& result : results) {
      EXPECT_EQ(result.fit_trajectory, results.front().fit_trajectory) << n;
      EXPECT_EQ(result.model, results.front().model) << n;
    }
  }
}

// Rows with all their cells on one process are solved for on the GPU, others by the processor.
TEST_F(DistributedGpuAls, solves_for_rows_of_observed_cells_on_several_processes) {
  const Comm comm = Comm::world();
  for (int n = 0; n < 4; ++n) {
    SCOPED_TRACE("case " + std::to_string(n));
    const auto whole = test::tame_tensor({60, 30, 20}, 2000, std::uint64_t(n), false);
    const auto options = test::observed_options(5, 4);
    Progress silent;
    const auto alone = prepare_observed<double>(Comm::self(), whole, options, silent);
    const auto expected = run_cp(alone, options).fit_trajectory;
    const auto share = test::share_of(whole, comm);
    const Distributor distributor(comm, share, comm.size(), std::uint64_t(n));
    const auto there = on_gpu(options);

    const auto x = prepare_observed<double>(comm, share, there, silent,
                                            test::plain_distribution(distributor, comm.size(), n));
    const auto fits = run_cp(x, there).fit_trajectory;

    ASSERT_EQ(fits.size(), expected.size());
    for (std::size_t i = 0; i < fits.size(); ++i) EXPECT_NEAR(fits[i], expected[i], 1e-8) << i;
  }
}

TEST_F(DistributedGpuAls, fails_on_all_processes_where_one_has_no_gpu) {
  const Comm comm = Comm::world();
  const auto share = test::share_of(test::tame_tensor({40, 30, 20}, 900, 1), comm);
  auto options = on_gpu(test::options_for(3, 2));
  if (comm.rank() == comm.size() - 1) options.als.gpu = 1000;
  const Distributor distributor(comm, share, comm.size(), 1);
  Progress silent;
  const auto x =
      prepare<double>(comm, share, options, silent, test::some_distribution(distributor, comm.size(), 1));
  EXPECT_THROW(cp_als<double>(x.tensor, x.chosen.plan, options.als), Error);
}

}  // namespace
}  // namespace polyad
