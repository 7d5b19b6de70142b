#include <gtest/gtest.h>

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

TEST_F(DistributedGpuAls, follows_the_trajectory_of_one_process_on_several) {
  const Comm comm = Comm::world();
  int n = comm.size();
  for (const auto& c : test::distributed_cases())
    for (int round = 0; round < 2; ++round, ++n) {
      SCOPED_TRACE("case " + std::to_string(n));
      const auto whole = test::tame_tensor(c.extents, c.num_nonzeros, std::uint64_t(n), c.heavy);
      const auto share = test::share_of(whole, comm);
      const auto options = on_gpu(test::ten_iterations(c, n));
      const Distributor distributor(comm, share, comm.size(), std::uint64_t(n));
      const auto distribution = n % 2 == 0 ? test::some_distribution(distributor, comm.size(), n)
                                           : test::some_routed_distribution(distributor, comm.size(), n);
      Progress silent;
      const auto x = prepare<double>(comm, share, options, silent, distribution);

      const auto result = cp_als<double>(x.tensor, x.chosen.plan, options.als);

      expect_same_fits(result.fit_trajectory, test::decompose(whole, test::ten_iterations(c, n)).fits, 1e-10);
      EXPECT_EQ(result.communication.volume_words, result.communication.predicted_volume_words);
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
