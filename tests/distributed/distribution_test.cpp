#include "polyad/distributed/cp/distribution.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <tuple>

#include "polyad/base/error.hpp"
#include "polyad/base/random.hpp"
#include "polyad/distributed/cp/greedy_owners.hpp"
#include "polyad/distributed/cp/local_nonzeros.hpp"
#include "polyad/distributed/cp/part_loads.hpp"
#include "polyad/distributed/repeated_nonzeros.hpp"
#include "polyad/plan/choose_distribution.hpp"
#include "polyad/tensor/csf.hpp"
#include "tests/support/factor_problem.hpp"
#include "tests/support/shares.hpp"

namespace polyad {
namespace {

TEST(ShuffledParts, deals_out_evenly) {
  for (const Index count : {1, 2, 7, 64, 1000})
    for (const int parts : {1, 2, 5, 64}) {
      const ShuffledParts shuffled(count, parts, 3);
      std::vector<Index> sizes(std::size_t(parts), 0);
      for (Index i = 0; i < count; ++i) ++sizes[shuffled(i)];
      const auto [least, most] = std::ranges::minmax(sizes);
      EXPECT_LE(most - least, 1) << count << " " << parts;
    }
}

TEST(ShuffledParts, depends_on_the_seed) {
  const ShuffledParts one(1000, 10, 1), same(1000, 10, 1), other(1000, 10, 2);
  Index different = 0;
  for (Index i = 0; i < 1000; ++i) {
    EXPECT_EQ(one(i), same(i));
    different += one(i) != other(i) ? 1 : 0;
  }
  EXPECT_GT(different, 800);
}

// Few rows are one group, of many there are several, each with another process at work.
TEST(ChooseOwners, are_the_same_where_each_process_knows_what_it_touches) {
  const Comm comm = Comm::world();
  for (const Index num_rows : {Index(0), Index(1), Index(50), Index(3600000) / comm.size()}) {
    std::vector<std::vector<Index>> touched(std::size_t(comm.size()));
    std::vector<Index> all, counts;
    for (int p = 0; p < comm.size(); ++p) {
      for (Index row = 0; row < num_rows; ++row)
        if (Random(1, std::uint64_t(p)).uniform(std::uint64_t(row)) < 0.6) touched[p].push_back(5 * row);
      all.insert(all.end(), touched[p].begin(), touched[p].end());
      counts.push_back(std::ssize(touched[p]));
    }
    const auto rows = invert_touched(all, counts);
    for (const auto rule : {RowRule::greedy, RowRule::balanced}) {
      const ListedRows expected{rows.rows, choose_owners(rows, comm.size(), 1, rule)};
      const auto& mine = touched[comm.rank()];

      const auto owners = choose_owners(comm, mine, 1, rule);

      const bool is_same = std::ranges::all_of(mine, [&](Index row) { return expected(row) == owners(row); });
      EXPECT_TRUE(is_same) << num_rows << " " << to_string(rule);
    }
  }
}

// Whoever has which rows, all of them decide.
TEST(ChooseOwners, are_the_same_where_each_process_has_some_of_the_rows) {
  const Comm comm = Comm::world();
  for (const Index num_rows : {Index(0), Index(1), Index(50), Index(3600000) / comm.size()}) {
    std::vector<Index> all, counts;
    for (int p = 0; p < comm.size(); ++p) {
      const auto before = std::ssize(all);
      for (Index row = 0; row < num_rows; ++row)
        if (Random(2, std::uint64_t(p)).uniform(std::uint64_t(row)) < 0.6) all.push_back(5 * row);
      counts.push_back(std::ssize(all) - before);
    }
    const auto rows = invert_touched(all, counts);
    RowParts mine;
    for (Index i = 0; i < rows.num_rows(); ++i)
      if ((rows.rows[i] / 7) % comm.size() == comm.rank()) {
        mine.rows.push_back(rows.rows[i]);
        mine.begin.push_back(std::ssize(mine.parts));
        mine.parts.insert(mine.parts.end(), rows.of(i).begin(), rows.of(i).end());
      }
    mine.begin.push_back(std::ssize(mine.parts));
    for (const auto rule : {RowRule::greedy, RowRule::balanced}) {
      const ListedRows expected{rows.rows, choose_owners(rows, comm.size(), 2, rule)};
      const auto owners = choose_owners(comm, mine, 1, comm.size(), 2, rule);
      ASSERT_EQ(std::ssize(owners), mine.num_rows());
      bool is_same = true;
      for (Index i = 0; i < mine.num_rows(); ++i) is_same = is_same && expected(mine.rows[i]) == owners[i];
      EXPECT_TRUE(is_same) << num_rows << " " << to_string(rule);
    }
  }
}

// Loads by the definitions of docs/algorithms.md, with sets.
struct NaiveLoads {
  std::map<Index, std::set<int>> parts;  // [row]: those that touch it
  std::map<Index, Index> nonzeros;       // [row]
  std::set<std::pair<int, int>> pairs;   // (owner, borrower)
};

std::vector<PartLoad> naive_loads(const SparseTensor<double>& x, int mode, const Distribution& distribution) {
  std::vector<PartLoad> loads(std::size_t(distribution.num_parts));
  const bool is_coarse = distribution.scheme == Scheme::coarse;
  NaiveLoads naive;
  for (std::size_t t = 0; t < distribution.nonzeros.size(); ++t) {
    const auto parts = owners_of(distribution.nonzeros[t], x);
    for (Index z = 0; z < x.num_nonzeros(); ++z) {
      naive.parts[x.indices(mode)[z]].insert(parts[z]);
      ++naive.nonzeros[x.indices(mode)[z]];
      if (!is_coarse || int(t) == mode) ++loads[parts[z]].nonzeros;
    }
  }
  for (const auto& [row, parts] : naive.parts) {
    const int owner = distribution.rows[mode](row);
    ++loads[owner].owned;
    if (!parts.contains(owner)) ++loads[owner].local;
    if (!is_coarse && parts == std::set{owner}) loads[owner].complete += naive.nonzeros[row];
    for (const int part : parts) {
      ++loads[part].touched, ++loads[part].local;
      if (part == owner) continue;
      ++loads[owner].sent, ++loads[part].received;
      if (!is_coarse) ++loads[part].sent, ++loads[owner].received;
      if (!naive.pairs.insert({owner, part}).second) continue;
      ++loads[owner].messages;
      if (!is_coarse) ++loads[part].messages;
    }
  }
  if (distribution.replicates(mode) && loads.size() > 1)
    for (auto& load : loads)
      load = {load.nonzeros, load.touched, std::ssize(naive.parts), std::ssize(naive.parts),
              std::ssize(naive.parts)};
  return loads;
}

TEST(LoadPlanner, counts_as_the_definition_does_for_any_number_of_parts) {
  int n = 0;
  for (const auto& shape : test::problem_shapes())
    for (const int parts : {1, 2, 5, 12, 64}) {
      const auto x =
          test::tame_tensor(shape.extents, std::min<Index>(shape.num_nonzeros, 600), 3, shape.heavy);
      const Distributor distributor(Comm::self(), x, parts, std::uint64_t(++n));
      auto distribution = test::some_distribution(distributor, parts, n);
      if (distribution.rows.empty())
        for (int m = 0; m < x.order(); ++m)
          distribution.rows.push_back(random_owners(distribution, m, x.extent(m)));

      const auto loads = LoadPlanner(Comm::self(), x).loads(distribution);

      for (int m = 0; m < x.order(); ++m) EXPECT_EQ(loads[m], naive_loads(x, m, distribution)) << n;
    }
}

// One idle part stands for all of them where there are many.
TEST(LoadPlanner, counts_the_same_where_idle_parts_are_left_out) {
  int n = 0, num_shorter = 0;
  for (const auto& shape : test::problem_shapes())
    for (const int parts : {1, 12, 3000, 16385}) {
      const auto x =
          test::tame_tensor(shape.extents, std::min<Index>(shape.num_nonzeros, 100), 3, shape.heavy);
      const Distributor distributor(Comm::self(), x, parts, std::uint64_t(++n));
      const auto distribution = test::some_distribution(distributor, parts, n);
      const LoadPlanner planner(Comm::self(), x);
      const auto all = planner.loads(distribution);
      auto busy = planner.loads(distribution, IdleParts::one);
      EXPECT_EQ(busy.num_parts(), parts);
      num_shorter += busy.num_left_out > 0 ? 1 : 0;
      const auto is_idle = [&](std::size_t part) {
        return std::ranges::all_of(all, [&](const auto& mode) {
          return mode[part] == PartLoad{} || (mode[part].reduced > 0 && mode[part].touched == 0);
        });
      };
      if (busy.num_left_out == 0) {
        EXPECT_EQ(busy, all);
        continue;
      }
      std::size_t at = 0;
      for (std::size_t part = 0; part < std::size_t(parts); ++part) {
        const bool is_listed =
            at + 1 < busy.front().size() && std::ranges::equal(
                                                all, busy, {}, [&](const auto& mode) { return mode[part]; },
                                                [&](const auto& mode) { return mode[at]; });
        EXPECT_TRUE(is_listed || is_idle(part)) << n;
        at += is_listed ? 1 : 0;
      }
      EXPECT_EQ(at + 1, busy.front().size()) << n;
    }
  EXPECT_GT(num_shorter, 10);
}

TEST(LoadPlanner, comes_near_with_a_sample_of_the_rows) {
  const auto x = test::tame_tensor({4000, 3000, 2000}, 40000, 5);
  const Distributor distributor(Comm::self(), x, 8, 1);
  const auto distribution = distributor.medium(GridShape({2, 2, 2}), {});
  const auto exact = LoadPlanner(Comm::self(), x).loads(distribution);
  const auto sampled = LoadPlanner(Comm::self(), x, 0.25).loads(distribution);
  for (int m = 0; m < 3; ++m)
    for (int p = 0; p < 8; ++p) {
      EXPECT_NEAR(double(sampled[m][p].nonzeros), double(exact[m][p].nonzeros),
                  0.1 * double(exact[m][p].nonzeros));
      EXPECT_NEAR(double(sampled[m][p].sent), double(exact[m][p].sent), 0.15 * double(exact[m][p].sent));
    }
}

// Of rows so few that a random choice of them would say nothing, each is looked at.
TEST(LoadPlanner, comes_near_in_short_modes) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const auto x = test::tame_tensor({5000, 8, 3, 1000}, 60000, seed);
    const Distributor distributor(Comm::self(), x, 4, seed);
    for (const auto& distribution :
         {distributor.medium(GridShape({2, 2, 1, 1}), {}, RowRule::greedy), distributor.fine_block()}) {
      const auto exact = LoadPlanner(Comm::self(), x).loads(distribution);
      const auto sampled = LoadPlanner(Comm::self(), x, 0.1).loads(distribution);
      for (const int m : {1, 2})
        for (int p = 0; p < 4; ++p) {
          EXPECT_EQ(sampled[m][p].touched, exact[m][p].touched) << seed << ", mode " << m;
          EXPECT_EQ(sampled[m][p].sent, exact[m][p].sent) << seed << ", mode " << m;
        }
    }
  }
}

// Every process samples the same rows, whatever it has of them.
TEST(LoadPlanner, samples_the_same_rows_on_many_processes) {
  const Comm comm = Comm::world();
  const auto whole = test::tame_tensor({4000, 3000, 2500}, 60000, 5);
  const auto share = test::share_of(whole, comm);
  const Distributor alone(Comm::self(), whole, comm.size(), 1), together(comm, share, comm.size(), 1);
  const auto planned = alone.coarse_block(), distribution = together.coarse_block();

  const auto expected = LoadPlanner(Comm::self(), whole, 0.2).loads(planned);
  const auto found = LoadPlanner(comm, share, 0.2).loads(distribution);

  for (int m = 0; m < 3; ++m)
    for (int p = 0; p < comm.size(); ++p) {
      const auto &one = expected[m][p], &many = found[m][p];
      EXPECT_EQ(std::tuple(many.touched, many.owned, many.sent, many.received, many.messages),
                std::tuple(one.touched, one.owned, one.sent, one.received, one.messages));
      EXPECT_NEAR(double(many.nonzeros), double(one.nonzeros), 0.1 * double(one.nonzeros));
    }
}

// A distribution by many processes, and what one process plans for them.
struct PlannedCase {
  // choose(distributor, number of parts, number of the case)
  template <class Choose>
  PlannedCase(const Comm& comm, const test::ProblemShape& shape, int n, Choose choose)
      : whole(test::tame_tensor(shape.extents, std::min<Index>(shape.num_nonzeros, 500), std::uint64_t(n),
                                shape.heavy)),
        share(test::share_of(whole, comm)),
        alone(Comm::self(), whole, comm.size(), 7),
        together(comm, share, comm.size(), 7),
        distribution(choose(together, comm.size(), n)),
        planned(
            LoadPlanner(Comm::self(), whole, 1, find_repeated(whole)).loads(choose(alone, comm.size(), n))),
        found(localise<double>(comm, move_to_owners(comm, share, distribution), distribution)) {}

  void expect_same_loads() const {
    Index words = 0;
    for (int m = 0; m < whole.order(); ++m) {
      EXPECT_EQ(found.loads[m].stages, planned[m].stages) << "mode " << m;
      EXPECT_EQ(found.loads[m], planned[m]) << "mode " << m;
      for (const auto& load : planned[m]) words += load.sent;
    }
    EXPECT_EQ(found.volume_rows, words);
  }

  SparseTensor<double> whole, share;
  Distributor alone, together;
  Distribution distribution;
  PartLoads planned;
  LocalNonzeros<double> found;
};

TEST(Distribution, with_stages_planned_on_one_process_or_together_is_that_of_many) {
  const Comm comm = Comm::world();
  int n = 0;
  for (const auto& shape : test::problem_shapes())
    for (int round = 0; round < 8; ++round) {
      SCOPED_TRACE("case " + std::to_string(++n));
      const PlannedCase x(comm, shape, n, test::some_routed_distribution);
      x.expect_same_loads();
      if (x.distribution.rows.empty()) continue;  // owners are then predicted for ranges of rows
      const auto by_many = LoadPlanner(comm, x.share).loads(x.distribution);
      for (int m = 0; m < x.whole.order(); ++m) EXPECT_EQ(by_many[m].stages, x.planned[m].stages);
    }
}

// What one process plans for many is what many have.
TEST(Distribution, planned_on_one_process_is_that_of_many) {
  const Comm comm = Comm::world();
  int n = 0;
  for (const auto& shape : test::problem_shapes())
    for (int round = 0; round < 8; ++round) {
      SCOPED_TRACE("case " + std::to_string(++n));
      PlannedCase(comm, shape, n, test::some_distribution).expect_same_loads();
    }
}

// Owners that are listed need not touch their rows, and in medium grain not be of the layer.
TEST(Distribution, with_listed_owners_planned_on_one_process_or_together_is_that_of_many) {
  const Comm comm = Comm::world();
  int n = 0, num_listed = 0;
  for (const auto& shape : test::problem_shapes())
    for (int round = 0; round < 9; ++round) {
      SCOPED_TRACE("case " + std::to_string(++n));
      const auto listed = [&](const Distributor& distributor, int num_parts, int number) {
        auto distribution = round % 2 == 0 ? test::some_distribution(distributor, num_parts, number)
                                           : test::some_routed_distribution(distributor, num_parts, number);
        return test::with_listed_owners(distributor, std::move(distribution), shape.extents, number);
      };
      const PlannedCase x(comm, shape, n, listed);
      x.expect_same_loads();
      if (x.distribution.scheme == Scheme::coarse) continue;
      ++num_listed;
      EXPECT_EQ(x.distribution.row_rule, RowRule::file);
      EXPECT_EQ(x.distribution.rows, test::listed_owners(shape.extents, comm.size(), std::uint64_t(n)));
      const auto by_many = LoadPlanner(comm, x.share).loads(x.distribution);
      for (int m = 0; m < x.whole.order(); ++m)
        for (int p = 0; p < comm.size(); ++p) {
          const auto &one = x.planned[m][p], &many = by_many[m][p];
          EXPECT_EQ(std::tuple(many.touched, many.owned, many.sent, many.received, many.messages),
                    std::tuple(one.touched, one.owned, one.sent, one.received, one.messages));
        }
    }
  EXPECT_GT(num_listed, 2 * n / 3);
}

// Trees with any modes below the root.
std::vector<std::vector<int>> some_trees(int order, int n) {
  std::vector<std::vector<int>> trees;
  for (int m = 0; m < order; ++m) {
    auto& tree = trees.emplace_back();
    for (int k = 0; k < order; ++k) tree.push_back((m + (n % 2 == 0 ? k : order - k)) % order);
  }
  return trees;
}

// Between the root and the nonzeros.
Index num_inner_nodes(SparseTensor<double, LocalIndex> x, const std::vector<int>& modes) {
  if (x.num_nonzeros() == 0) return 0;
  const CsfTree<double> tree(std::move(x), modes);
  Index nodes = 0;
  for (int level = 1; level < tree.last_level(); ++level) nodes += tree.num_nodes(level);
  return nodes;
}

TEST(LoadPlanner, counts_the_nodes_of_the_trees_that_are_built) {
  const Comm comm = Comm::world();
  int n = 0;
  for (const auto& shape : test::problem_shapes())
    for (int round = 0; round < 9; ++round) {
      SCOPED_TRACE("case " + std::to_string(++n));
      const PlannedCase x(comm, shape, n, test::some_distribution);
      const auto trees = some_trees(x.whole.order(), n);
      LoadPlanner of_one(Comm::self(), x.whole, 1, find_repeated(x.whole)), of_many(comm, x.share);
      of_one.count_nodes(trees);
      of_many.count_nodes(trees);
      const auto planned = of_one.loads(test::some_distribution(x.alone, comm.size(), n));
      const auto by_many = of_many.loads(x.distribution);
      const auto whole = localise<double>(Comm::self(), {x.whole}, {});
      for (int m = 0; m < x.whole.order(); ++m) {
        const auto& mine = x.found.tensors[x.found.tensors.size() == 1 ? 0 : std::size_t(m)];
        const auto nodes = comm.all_gather(num_inner_nodes(mine, trees[m]));
        EXPECT_EQ(planned[m].nodes, nodes) << "mode " << m;
        EXPECT_EQ(by_many[m].nodes, nodes) << "mode " << m;
        EXPECT_DOUBLE_EQ(
            planned[m].nodes_per_nonzero,
            double(num_inner_nodes(whole.tensors.front(), trees[m])) / double(whole.num_nonzeros));
      }
    }
}

// With owners that all processes choose together, as they do in a run.
TEST(LoadPlanner, of_many_processes_plans_the_owners_of_a_run) {
  const Comm comm = Comm::world();
  int n = 0;
  for (const auto& shape : test::problem_shapes())
    for (const auto rule : {RowRule::greedy, RowRule::balanced}) {
      SCOPED_TRACE("case " + std::to_string(++n));
      const PlannedCase x(comm, shape, n, [&](const Distributor& distributor, int, int) {
        auto distribution = distributor.fine_block();
        distribution.row_rule = rule;
        return distribution;
      });
      LoadPlanner planner(comm, x.share);
      planner.choose_owners_as_runs();
      const auto found = planner.loads(x.distribution);
      for (int m = 0; m < x.whole.order(); ++m)
        for (int p = 0; p < comm.size(); ++p) {
          const auto &one = x.planned[m][p], &many = found[m][p];
          EXPECT_EQ(std::tuple(many.touched, many.owned, many.sent, many.received, many.messages),
                    std::tuple(one.touched, one.owned, one.sent, one.received, one.messages));
        }
    }
}

TEST(ChooseDistribution, takes_the_fastest_of_those_that_fit) {
  const Comm comm = Comm::world();
  if (comm.size() == 1) return;
  const auto share = test::share_of(test::tame_tensor({90, 70, 50}, 2000, 4, true), comm);
  const auto choose = [&](const MemoryLimit& limit) {
    return choose_distribution(comm, share, {}, 4, MachineModel{}, {}, limit);
  };
  const auto free = choose({});
  MemoryLimit limit{100, [](const PartLoads&, Scheme) { return MemoryNeed{90, true}; }};
  EXPECT_EQ(describe(choose(limit).distribution), describe(free.distribution)) << "all fit";

  limit.need = [](const PartLoads&, Scheme scheme) {
    return MemoryNeed{scheme == Scheme::coarse ? 90 : 200, scheme == Scheme::coarse};
  };
  EXPECT_EQ(choose(limit).distribution.scheme, Scheme::coarse);
  limit.need = [](const PartLoads&, Scheme scheme) {
    return MemoryNeed{scheme == Scheme::coarse ? 200 : 90, scheme != Scheme::coarse};
  };
  const auto other = choose(limit);
  EXPECT_NE(other.distribution.scheme, Scheme::coarse);
  const auto chosen =
      std::ranges::find(other.candidates, describe(other.distribution), &ChosenDistribution::Candidate::name);
  ASSERT_NE(chosen, other.candidates.end());
  for (const auto& candidate : other.candidates)
    EXPECT_TRUE(!candidate.memory.fits || candidate.seconds >= chosen->seconds) << candidate.name;

  limit.need = [](const PartLoads&, Scheme scheme) {
    return MemoryNeed{scheme == Scheme::coarse ? 150 : 200, false};
  };
  EXPECT_EQ(choose(limit).distribution.scheme, Scheme::coarse) << "none fits; it needs the least";
}

// The first rows of a process are used by no other process, its other rows by at least one.
TEST(ExchangePlan, has_the_rows_first_that_are_complete_without_a_fold) {
  const Comm comm = Comm::world();
  const auto whole = test::tame_tensor({900, 70, 500}, 1500, 4);
  const auto share = test::share_of(whole, comm);
  const Distributor distributor(comm, share, comm.size(), 7);
  for (int n = 0; n < 16; ++n) {
    const auto distribution = test::some_distribution(distributor, comm.size(), n);
    const auto found = localise<double>(comm, move_to_owners(comm, share, distribution), distribution);
    for (int m = 0; m < 3; ++m) {
      const auto& plan = found.exchanges[m];
      const auto own = std::span(plan.rows).first(std::size_t(plan.num_owned));
      const auto interior = own.first(std::size_t(plan.num_interior));
      std::map<Index, int> holders;
      for (const Index row : comm.all_gather_varying<Index>(plan.rows).items) ++holders[row];
      if (plan.is_replicated && comm.size() > 1) {
        EXPECT_EQ(plan.num_complete(), 0);
        continue;
      }
      EXPECT_TRUE(std::ranges::is_sorted(interior));
      EXPECT_TRUE(std::ranges::is_sorted(own.subspan(interior.size())));
      for (const Index row : interior) EXPECT_EQ(holders[row], 1);
      for (const Index row : own.subspan(interior.size())) EXPECT_GT(holders[row], 1);
      EXPECT_EQ(plan.num_complete(), plan.folds ? plan.num_interior : plan.num_owned);
    }
  }
}

TEST(Distribution, gives_every_nonzero_to_one_process_and_every_row_to_one_owner) {
  const Comm comm = Comm::world();
  const auto whole = test::tame_tensor({90, 70, 50}, 2000, 4);
  const auto share = test::share_of(whole, comm);
  const Distributor distributor(comm, share, comm.size(), 7);
  std::vector<Index> rows;
  for (int m = 0; m < 3; ++m) rows.push_back(SliceProfile(Comm::self(), whole, m).num_rows());
  for (int n = 0; n < 16; ++n) {
    const auto distribution = test::some_distribution(distributor, comm.size(), n);
    const auto found = localise<double>(comm, move_to_owners(comm, share, distribution), distribution);
    for (int m = 0; m < 3; ++m) {
      Index owned = 0, nonzeros = 0;
      for (const auto& load : found.loads[m]) owned += load.owned, nonzeros += load.nonzeros;
      EXPECT_EQ(owned, rows[m] * (distribution.replicates(m) && comm.size() > 1 ? comm.size() : 1));
      EXPECT_EQ(nonzeros + found.num_duplicates, 2000);
    }
  }
}

}  // namespace
}  // namespace polyad
