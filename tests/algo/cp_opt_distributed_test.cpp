#include <gtest/gtest.h>

#include <cmath>

#include "polyad/algo/cp/cp_opt.hpp"
#include "tests/support/decomposed.hpp"
#include "tests/support/distributed_cases.hpp"
#include "tests/support/factor_problem.hpp"
#include "tests/support/gathered_rows.hpp"
#include "tests/support/shares.hpp"

namespace polyad {
namespace {

using test::squared_residual;

std::vector<test::DistributedCase> cases() {
  auto cases = test::distributed_cases();
  cases.push_back({{6, 5, 4, 3, 7}, 400, 9});
  return cases;
}

CpRunOptions opt_options_of(const test::DistributedCase& c, int n) {
  auto options = test::ten_iterations(c, n);
  options.method = Method::opt;
  return options;
}

// Where a tensor is fitted exactly, what is left of the residual is rounding, and whether a last step is
// taken.
void expect_same(const std::vector<double>& distributed, const std::vector<double>& alone) {
  if (squared_residual(alone.back()) > 1e-4) {
    ASSERT_EQ(distributed.size(), alone.size());
  }
  for (std::size_t i = 0; i < std::max(distributed.size(), alone.size()); ++i) {
    const double one = distributed[std::min(i, distributed.size() - 1)],
                 other = alone[std::min(i, alone.size() - 1)];
    EXPECT_NEAR(squared_residual(one), squared_residual(other), 1e-9) << "iteration " << i;
    if (squared_residual(other) > 1e-4) {
      EXPECT_NEAR(one, other, 1e-9) << "iteration " << i;
    }
  }
}

TEST(DistributedCpOpt, follows_the_trajectory_of_one_process_and_sends_what_was_planned) {
  const Comm comm = Comm::world();
  int n = comm.size();
  for (const auto& c : cases())
    for (int round = 0; round < 8; ++round, ++n) {
      SCOPED_TRACE("case " + std::to_string(n));
      const auto whole = test::tame_tensor(c.extents, c.num_nonzeros, std::uint64_t(n), c.heavy);
      const auto share = test::share_of(whole, comm);
      const auto options = opt_options_of(c, n);
      const test::Threads threads(1 + n % 2);
      const Distributor distributor(comm, share, comm.size(), std::uint64_t(n));
      Progress silent;
      auto distribution = test::plain_distribution(distributor, comm.size(), n);
      if (n % 2 == 0) distribution.num_stages.assign(c.extents.size(), 1 + n / 2 % max_stages(comm.size()));
      const auto x = prepare<double>(comm, share, options, silent, distribution);

      const auto result = cp_opt<double>(x.tensor, x.chosen.plan, options.als);

      expect_same(result.fit_trajectory, test::decompose_once(comm, whole, options).fits);
      EXPECT_EQ(result.communication.volume_words, x.tensor.volume_rows() * c.num_components);
      EXPECT_GE(result.evaluations, result.iterations() + 1) << "the start, and each step";
      const auto model = test::gather_rows(x.tensor, result.model);
      if (comm.rank() == 0) test::expect_finite(test::with_all_rows(model, whole.extents()));
    }
}

TEST(DistributedCpOpt, gives_the_same_bits_when_it_runs_twice) {
  const Comm comm = Comm::world();
  const auto whole = test::tame_tensor({40, 30, 20}, 900, 3);
  const auto share = test::share_of(whole, comm);
  const auto options = opt_options_of({{40, 30, 20}, 900, 5}, 0);
  const Distributor distributor(comm, share, comm.size(), 1);
  Progress silent;
  const auto x = prepare<double>(comm, share, options, silent, distributor.fine_random());

  const auto one = cp_opt<double>(x.tensor, x.chosen.plan, options.als),
             other = cp_opt<double>(x.tensor, x.chosen.plan, options.als);

  EXPECT_EQ(one.fit_trajectory, other.fit_trajectory);
  EXPECT_EQ(one.model, other.model);
}

}  // namespace
}  // namespace polyad
