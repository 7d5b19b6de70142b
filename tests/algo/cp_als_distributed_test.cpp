#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "polyad/io/tensors/read_tensor.hpp"
#include "polyad/tensor/sort.hpp"
#include "tests/support/decomposed.hpp"
#include "tests/support/distributed_cases.hpp"
#include "tests/support/factor_problem.hpp"
#include "tests/support/gathered_rows.hpp"
#include "tests/support/generated.hpp"
#include "tests/support/overfactored.hpp"
#include "tests/support/shares.hpp"
#include "tests/support/temporary_folder.hpp"

namespace polyad {
namespace {

using test::squared_residual;

CpRunOptions options_of(const test::DistributedCase& c, int n) {
  auto options = test::ten_iterations(c, n);
  if (n % 5 == 1) options.als.nonnegative.assign(c.extents.size(), true);
  return options;
}

struct Run {
  CpResult<double> result;
  Kruskal<double> model;
};

Run run(const Comm& comm, const SparseTensor<double>& share, const CpRunOptions& options,
        const Distribution& distribution) {
  Progress silent;
  const auto x = prepare<double>(comm, share, options, silent, distribution);
  auto result = cp_als<double>(x.tensor, x.chosen.plan, options.als);
  const auto model = test::gather_rows(x.tensor, result.model);
  return {std::move(result),
          comm.rank() == 0 ? test::with_all_rows(model, share.extents()) : Kruskal<double>{}};
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

      expect_same(distributed, test::decompose_once(comm, whole, options), comm.rank() == 0);
      EXPECT_EQ(distributed.result.communication.volume_words,
                distributed.result.communication.predicted_volume_words);
    }
}

TEST(DistributedCpAls, follows_the_trajectory_of_one_process_if_rows_go_in_stages) {
  const Comm comm = Comm::world();
  int n = comm.size(), num_routed = 0;
  for (const auto& c : test::distributed_cases())
    for (int round = 0; round < 3; ++round, n += 2) {
      SCOPED_TRACE("case " + std::to_string(n));
      const auto whole = test::tame_tensor(c.extents, c.num_nonzeros, std::uint64_t(n), c.heavy);
      const auto share = test::share_of(whole, comm);
      const auto options = options_of(c, n);
      const Distributor distributor(comm, share, comm.size(), std::uint64_t(n));
      auto distribution = test::some_routed_distribution(distributor, comm.size(), n);

      const auto routed = run(comm, share, options, distribution);

      expect_same(routed, test::decompose_once(comm, whole, options), comm.rank() == 0);
      const auto& sent = routed.result.communication;
      EXPECT_EQ(sent.volume_words, sent.predicted_volume_words);
      Index stage_words = 0;
      for (const auto& stage : sent.stages) stage_words += stage.words;
      EXPECT_LE(stage_words, sent.volume_words);
      num_routed += sent.stages.empty() ? 0 : 1;
      if (round > 0) continue;
      EXPECT_EQ(routed.result.fit_trajectory, run(comm, share, options, distribution).result.fit_trajectory)
          << "twice";
    }
  EXPECT_TRUE(comm.size() <= 2 || num_routed > 10) << num_routed;
}

TEST(DistributedCpAls, follows_the_trajectory_of_one_process_with_listed_owners_of_rows) {
  const Comm comm = Comm::world();
  int n = comm.size();
  for (const auto& c : test::distributed_cases())
    for (int round = 0; round < 4; ++round, n += 2) {
      SCOPED_TRACE("case " + std::to_string(n));
      const auto whole = test::tame_tensor(c.extents, c.num_nonzeros, std::uint64_t(n), c.heavy);
      const auto share = test::share_of(whole, comm);
      const auto options = options_of(c, n);
      const Distributor distributor(comm, share, comm.size(), std::uint64_t(n));
      const auto plain = round % 2 == 0 ? test::some_distribution(distributor, comm.size(), n)
                                        : test::some_routed_distribution(distributor, comm.size(), n);

      const auto listed =
          run(comm, share, options, test::with_listed_owners(distributor, plain, c.extents, n));

      expect_same(listed, test::decompose(whole, options), comm.rank() == 0);
      const auto& sent = listed.result.communication;
      EXPECT_EQ(sent.volume_words, sent.predicted_volume_words);
    }
}

// Near its diagonal, so that processes share some rows and have others to themselves.
SparseTensor<double> banded_tensor(const std::vector<Index>& extents, Index num_nonzeros,
                                   std::uint64_t seed) {
  auto x = test::tame_tensor(extents, num_nonzeros, seed);
  for (int m = 1; m < x.order(); ++m)
    for (Index z = 0; z < num_nonzeros; ++z) {
      const Index middle = x.indices(0)[z] * x.extent(m) / x.extent(0);
      x.indices(m)[z] = std::min(x.extent(m) - 1, middle + x.indices(m)[z] % 3);
    }
  return x;
}

// Every kind of step in every mode; the trees are those with one mode first and the others in order.
std::vector<AlsPlan> all_kinds_of_plans(int order) {
  using Kind = AlsStep::Kind;
  AlsPlan roots{natural_mode_order(order), a_tree_per_mode(std::vector<Index>(std::size_t(order), 1)), {}};
  auto pairs = roots, scatters = roots;
  for (int m = 0; m < order; ++m) {
    roots.steps.push_back({Kind::root, m, m});
    scatters.steps.push_back({Kind::scatter, m, (m + 1) % order});
  }
  pairs.steps.push_back({Kind::root_and_next, 0, 0});
  for (int m = 2; m < order; ++m) pairs.steps.push_back({Kind::scatter, m, 0});
  auto pairs_with_sums = pairs;
  pairs_with_sums.steps.front().keeps_sums = true;
  if (order > 3) {  // another pair, whose sums take another size
    pairs_with_sums.trees[3] = {2, 3, 0, 1};
    pairs_with_sums.steps = {pairs_with_sums.steps.front(), {Kind::root_and_next, 2, 3, 0, true}};
  }
  return {roots, pairs, pairs_with_sums, scatters, plain_plan(roots.mode_order, roots.trees)};
}

DistTensor<double> with_all_trees(const Comm& comm, const SparseTensor<double>& share,
                                  const Distribution& distribution, const AlsPlan& plan) {
  auto x = localise<double>(comm, move_to_owners(comm, share, distribution), distribution);
  std::vector<LocalTensor<double>> locals;
  locals.push_back(build_format(std::move(x.tensors.front()), Format::csf, plan.trees));
  return {comm, share.extents(), x, std::move(locals)};
}

TEST(DistributedCpAls, solves_what_is_complete_while_the_rest_is_folded_in_every_kind_of_pass) {
  const Comm comm = Comm::world();
  Index num_complete = 0, num_shared = 0;
  int n = 0;
  for (const auto& extents : {std::vector<Index>{90, 60, 80}, {40, 50, 30, 20}}) {
    const auto whole = banded_tensor(extents, 800, 3);
    const auto share = test::share_of(whole, comm);
    for (const Index num_components : {2, 3, 16})
      for (int round = 0; round < 10; ++round, ++n) {
        SCOPED_TRACE("case " + std::to_string(n));
        auto options = test::options_for(num_components, 10);
        options.mode_order = natural_mode_order(whole.order());
        if (n % 3 == 1) options.als.nonnegative.assign(extents.size(), true);
        const test::Threads threads(1 + n % 3);
        const Distributor distributor(comm, share, comm.size(), 5);
        auto distribution =
            n % 2 == 0 ? distributor.fine_block() : test::medium_distribution(distributor, comm.size(), n);
        if (n % 4 < 2) distribution.num_stages.assign(extents.size(), 1 + n / 4 % max_stages(comm.size()));
        const auto plans = all_kinds_of_plans(whole.order());
        // In the last rounds processes do as they like.
        const auto& plan = plans[std::size_t(round < 5 ? round : round + comm.rank()) % plans.size()];
        const auto x = with_all_trees(comm, share, distribution, plan);

        auto result = cp_als<double>(x, plan, options.als);

        const auto alone = test::decompose_once(comm, whole, options);
        for (std::size_t i = 0; i < alone.fits.size(); ++i)
          EXPECT_NEAR(squared_residual(result.fit_trajectory[i]), squared_residual(alone.fits[i]), 1e-12);
        EXPECT_EQ(result.fit_trajectory, cp_als<double>(x, plan, options.als).fit_trajectory) << "twice";
        for (int m = 0; m < x.order(); ++m) {
          num_complete += x.num_complete(m);
          num_shared += x.num_rows(m) - x.num_complete(m);
        }
      }
  }
  EXPECT_GT(num_complete, 0) << "each process has rows to itself";
  EXPECT_EQ(num_shared > 0, comm.size() > 1);
}

TEST(DistributedCpAls, goes_on_from_a_model_as_one_process_does) {
  const Comm comm = Comm::world();
  Progress silent;
  const auto whole = test::tame_tensor({40, 30, 20}, 900, 6);
  const auto share = test::share_of(whole, comm);
  const auto options = test::options_for(3, 4);
  const auto go_on = [&](const PreparedTensor<double>& x) {
    const auto first = cp_als<double>(x.tensor, x.chosen.plan, options.als);
    return cp_als<double>(x.tensor, x.chosen.plan, options.als, {}, &first.model).fit_trajectory;
  };
  const auto alone = go_on(prepare<double>(Comm::self(), whole, options, silent));
  for (int n = 0; n < 16; ++n) {  // with some modes replicated
    const Distributor distributor(comm, share, comm.size(), 1);
    const auto distribution = test::some_distribution(distributor, comm.size(), n);
    const auto fits = go_on(prepare<double>(comm, share, options, silent, distribution));
    for (std::size_t i = 0; i < alone.size(); ++i)
      EXPECT_NEAR(squared_residual(fits[i]), squared_residual(alone[i]), 1e-12) << n;
  }
}

TEST(DistributedCpAls, never_loses_fit_with_more_components_than_needed) {
  const Comm comm = Comm::world();
  const test::Threads one(1);
  for (int n = 0; n < 60; ++n) {
    const test::Overfactored c(n);
    SCOPED_TRACE(c.describe());
    const auto share = test::share_of(c.tensor, comm);
    auto options = c.options;
    options.format = test::format_of(n);
    const Distributor distributor(comm, share, comm.size(), 1);

    const auto result =
        run(comm, share, options, test::some_distribution(distributor, comm.size(), n)).result;

    EXPECT_LE(test::largest_rise(result.fit_trajectory), 1e-11);  // see cp_monotone_test
    const auto alone = test::decompose_once(comm, c.tensor, options);
    if (std::max(alone.max_condition, result.max_condition) < 1e10) {
      EXPECT_LE(test::largest_difference(result.fit_trajectory, alone.fits), 1e-10);
    }
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

TEST(DistributedCpAls, follows_the_trajectory_of_one_process_on_shared_tensors) {
  const Comm comm = Comm::world();
  if (!std::filesystem::exists(test::shared_data())) GTEST_SKIP() << test::no_shared_data;
  int n = 5 * comm.size();
  for (const char* name : {"dense/aminoacid.sptensor.txt.gz", "tensors/uber-2014-apr.tns.gz"}) {
    const auto whole = io::read_tensor(test::shared_data() / name).tensor;
    const auto share = test::share_of(whole, comm);
    auto options = test::options_for(3, 10);
    const auto alone = test::decompose_once(comm, whole, options);
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
