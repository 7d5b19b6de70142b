#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "polyad/io/read_tensor.hpp"
#include "tests/support/decomposed.hpp"
#include "tests/support/distributed_cases.hpp"
#include "tests/support/factor_problem.hpp"
#include "tests/support/generated.hpp"
#include "tests/support/shares.hpp"

namespace polyad {
namespace {

using test::squared_residual;

DecomposeOptions options_of(const test::DistributedCase& c, int n) {
  auto options = test::ten_iterations(c, n);
  if (n % 5 == 1) options.als.nonnegative.assign(c.extents.size(), true);
  return options;
}

struct Run {
  CpResult<double> result;
  Kruskal<double> model;
};

Run run(const Comm& comm, const SparseTensor<double>& share, const DecomposeOptions& options,
        const Distribution& distribution) {
  Progress silent;
  const auto x = prepare<double>(comm, share, options, silent, distribution);
  auto result = cp_als<double>(x.tensor, x.chosen.plan, options.als);
  const auto model = gather_rows(x.tensor, result.model);
  return {std::move(result), comm.rank() == 0 ? with_all_rows(model, share.extents()) : Kruskal<double>{}};
}

void expect_same(const Run& distributed, const test::Decomposed& alone, bool is_root) {
  ASSERT_EQ(distributed.result.fit_trajectory.size(), alone.fits.size());
  for (std::size_t i = 0; i < alone.fits.size(); ++i)
    EXPECT_NEAR(squared_residual(distributed.result.fit_trajectory[i]), squared_residual(alone.fits[i]),
                1e-12);
  if (!is_root) return;
  for (int m = 0; m < alone.model.order(); ++m)
    EXPECT_LT(test::relative_difference(distributed.model.factors[m], alone.model.factors[m]), 1e-5) << m;
}

TEST(DistributedCpAls, follows_the_trajectory_of_one_process_and_sends_what_was_planned) {
  const Comm comm = Comm::world();
  int n = comm.size();
  for (const auto& c : test::distributed_cases())
    for (int round = 0; round < 8; ++round, ++n) {
      SCOPED_TRACE("case " + std::to_string(n));
      const auto whole = test::tame_tensor(c.extents, c.num_nonzeros, std::uint64_t(n), c.heavy);
      const auto share = test::share_of(whole, comm);
      const auto options = options_of(c, n);
      const test::Threads threads(1 + n % 2);
      const Distributor distributor(comm, share, comm.size(), std::uint64_t(n));
      const auto distribution = test::some_distribution(distributor, comm.size(), n);

      const auto distributed = run(comm, share, options, distribution);

      expect_same(distributed, test::decompose(whole, options), comm.rank() == 0);
      EXPECT_EQ(distributed.result.communication.volume_words,
                distributed.result.communication.predicted_volume_words);
    }
}

TEST(DistributedCpAls, gives_the_same_bits_twice) {
  const Comm comm = Comm::world();
  const auto whole = test::tame_tensor({60, 50, 40}, 3000, 1, true);
  const auto share = test::share_of(whole, comm);
  const test::Threads threads(2);
  for (int n = 0; n < 8; ++n) {
    const auto options = test::options_for(5, 10);
    const Distributor distributor(comm, share, comm.size(), 1);
    const auto distribution = test::some_distribution(distributor, comm.size(), n);

    const auto one = run(comm, share, options, distribution), two = run(comm, share, options, distribution);

    EXPECT_EQ(one.result.fit_trajectory, two.result.fit_trajectory) << n;
    EXPECT_EQ(one.model, two.model) << n;
  }
}

TEST(DistributedCpAls, in_single_precision_comes_near) {
  const Comm comm = Comm::world();
  Progress silent;
  const auto whole = test::tame_tensor({40, 30, 20}, 3000, 2);
  const auto share = test::share_of(whole, comm);
  const auto options = test::options_for(3, 10);
  const auto alone = test::decompose<float>(whole, options);
  for (int n = 0; n < 8; ++n) {
    const Distributor distributor(comm, share, comm.size(), 1);
    const auto x =
        prepare<float>(comm, share, options, silent, test::some_distribution(distributor, comm.size(), n));
    const auto result = cp_als<float>(x.tensor, x.chosen.plan, options.als);
    for (std::size_t i = 0; i < alone.fits.size(); ++i)
      EXPECT_NEAR(squared_residual(result.fit_trajectory[i]), squared_residual(alone.fits[i]), 1e-5) << n;
  }
}

// Real data, where it is there.
TEST(DistributedCpAls, follows_the_trajectory_of_one_process_on_shared_tensors) {
  const Comm comm = Comm::world();
  const char* folder = std::getenv("POLYAD_SHARED_DATA");
  int n = 5 * comm.size();
  for (const char* name : {"dense/aminoacid.sptensor.txt.gz", "tensors/uber-2014-apr.tns.gz"}) {
    const auto path = std::filesystem::path(folder == nullptr ? "" : folder) / name;
    if (!std::filesystem::exists(path)) continue;
    const auto whole = io::read_tensor(path).tensor;
    const auto share = test::share_of(whole, comm);
    auto options = test::options_for(3, 10);
    const auto alone = test::decompose(whole, options);
    for (int round = 0; round < 3; ++round, ++n) {
      SCOPED_TRACE(std::string(name) + ", case " + std::to_string(n));
      options.format = test::format_of(n);
      const Distributor distributor(comm, share, comm.size(), 1);
      const auto distribution = test::some_distribution(distributor, comm.size(), n);
      expect_same(run(comm, share, options, distribution), alone, comm.rank() == 0);
    }
  }
}

}  // namespace
}  // namespace polyad
