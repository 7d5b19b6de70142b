#include "polyad/distributed/cp/routed_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <utility>

#include "polyad/base/random.hpp"
#include "polyad/distributed/cp/routed_loads.hpp"
#include "polyad/distributed/virtual_topology.hpp"
#include "tests/support/all_routes.hpp"

namespace polyad {
namespace {

// Rows with the parts that touch each: some rows by few parts, some by many, and owners that may touch
// nothing.
struct RoutedProblem {
  RowParts rows;
  std::vector<int> owners;
};

RoutedProblem some_rows(Index num_rows, int num_parts, std::uint64_t seed) {
  RoutedProblem problem;
  const Random how_many(seed, 0), which(seed, 1), owned(seed, 2);
  std::uint64_t drawn = 0;
  for (Index i = 0; i < num_rows; ++i) {
    const auto kind = how_many.below(4, std::uint64_t(2 * i));
    const auto most = std::uint64_t(kind == 0 ? num_parts : std::min(num_parts, 6));
    const auto count = 1 + how_many.below(most, std::uint64_t(2 * i + 1));
    std::set<int> touching;
    for (std::uint64_t k = 0; k < count; ++k)
      touching.insert(int(which.below(std::uint64_t(num_parts), drawn++)));
    problem.rows.rows.push_back(3 * i + 1);
    problem.rows.begin.push_back(std::ssize(problem.rows.parts));
    problem.rows.parts.insert(problem.rows.parts.end(), touching.begin(), touching.end());
    problem.owners.push_back(int(owned.below(std::uint64_t(num_parts), std::uint64_t(i))));
  }
  problem.rows.begin.push_back(std::ssize(problem.rows.parts));
  return problem;
}

// The rows of all processes in one program, moved as the plans say.
class Processes {
 public:
  Processes(const RoutedProblem& problem, std::vector<ExchangePlan> plans, bool is_whole)
      : problem_(problem), plans_(std::move(plans)), is_whole_(is_whole) {
    for (const auto& plan : plans_) rows_.emplace_back(plan.rows.size(), 0.0);
    for (Index i = 0; i < problem.rows.num_rows(); ++i) {
      index_[problem.rows.rows[i]] = i;
      for (const int part : problem.rows.of(i)) at(part, problem.rows.rows[i]) = value(part, i);
    }
  }

  // A small whole number, or any.
  double value(int part, Index i) const {
    const auto key = std::uint64_t(part) * 100003 + std::uint64_t(i);
    return is_whole_ ? double(Random(7, 0).below(100, key)) : Random(7, 1).normal(key);
  }
  double sum(Index i) const {
    double sum = 0;
    for (const int part : problem_.rows.of(i)) sum += value(part, i);
    return sum;
  }

  void fold() {
    for (std::size_t s = 0; s < plans_.front().stages.size(); ++s)
      for_each_message(s, [&](double& of_owner, double& of_borrower) { of_owner += of_borrower; });
  }
  void expand() {
    for (std::size_t s = plans_.front().stages.size(); s-- > 0;)
      for_each_message(s, [&](double& of_owner, double& of_borrower) { of_borrower = of_owner; });
  }

  void expect_sums_at_owners(double tolerance) {
    for (Index i = 0; i < problem_.rows.num_rows(); ++i)
      ASSERT_NEAR(at(problem_.owners[i], problem_.rows.rows[i]), sum(i), tolerance * (1 + std::abs(sum(i))));
  }
  // Also where a row is only passed on.
  void expect_same_rows_everywhere() {
    for (std::size_t rank = 0; rank < plans_.size(); ++rank)
      for (std::size_t local = 0; local < rows_[rank].size(); ++local) {
        const Index global = plans_[rank].rows[local];
        ASSERT_EQ(rows_[rank][local], at(problem_.owners[index_.at(global)], global));
      }
  }

 private:
  double& at(int rank, Index global) {
    const auto& rows = plans_[rank].rows;
    const auto local = std::ranges::find(rows, global) - rows.begin();
    EXPECT_LT(local, std::ssize(rows)) << "rank " << rank << " has no row " << global;
    return rows_[rank][local];
  }

  // fn(row of the owner, row of the borrower), for messages that both sides must have planned alike.
  template <class Fn>
  void for_each_message(std::size_t s, Fn fn) {
    for (std::size_t rank = 0; rank < plans_.size(); ++rank) {
      const auto& own = plans_[rank].stages[s];
      for (const auto& lender : own.lenders) {
        const auto& theirs = plans_[lender.rank].stages[s];
        const auto found =
            std::ranges::find_if(theirs.borrowers, [&](const auto& b) { return b.rank == int(rank); });
        ASSERT_NE(found, theirs.borrowers.end());
        ASSERT_EQ(found->num_rows(), lender.num_rows());
        for (Index i = 0; i < lender.num_rows(); ++i) {
          const auto local = theirs.lent[found->begin + i];
          ASSERT_EQ(plans_[lender.rank].rows[local], plans_[rank].rows[lender.begin + i]);
          ASSERT_LT(Index(local), theirs.num_owned);
          fn(rows_[lender.rank][local], rows_[rank][lender.begin + i]);
        }
      }
    }
  }

  const RoutedProblem& problem_;
  std::vector<ExchangePlan> plans_;
  bool is_whole_;
  std::vector<std::vector<double>> rows_;  // [rank][local row]
  std::map<Index, Index> index_;           // [row]
};

void expect_right_sums(const RoutedProblem& problem, const std::vector<ExchangePlan>& plans) {
  Processes whole(problem, plans, true);
  whole.fold();
  whole.expect_sums_at_owners(0);
  whole.expand();
  whole.expect_same_rows_everywhere();
  Processes any(problem, plans, false);
  any.fold();
  any.expect_sums_at_owners(1e-12);
}

// By the definition: in every stage, each process that has a row and is not where the row goes next sends it,
// once.
void expect_volume_identity(const RoutedProblem& problem, const VirtualTopology& topology,
                            const std::vector<ExchangePlan>& plans) {
  std::set<std::pair<int, Index>> held;  // (process, row)
  for (Index i = 0; i < problem.rows.num_rows(); ++i)
    for (const int part : problem.rows.of(i)) held.emplace(part, i);
  for (int s = 0; s < topology.num_stages(); ++s) {
    std::set<std::pair<int, Index>> next;
    std::map<int, Index> leaving, arriving;
    std::set<std::pair<int, int>> pairs;
    for (const auto& [rank, i] : held) {
      const int to = topology.next(rank, problem.owners[i], s);
      next.emplace(to, i);
      if (to == rank) continue;
      ++leaving[rank], ++arriving[to];
      pairs.emplace(rank, to);
    }
    std::size_t num_lenders = 0, num_borrowers = 0;
    for (int rank = 0; rank < topology.num_ranks(); ++rank) {
      const auto& stage = plans[rank].stages[s];
      ASSERT_EQ(stage.num_borrowed(), leaving[rank]);
      ASSERT_EQ(stage.rows_expanded(), arriving[rank]);
      num_lenders += stage.lenders.size(), num_borrowers += stage.borrowers.size();
      ASSERT_LE(std::ssize(stage.lenders), topology.digits()[s]);
    }
    ASSERT_EQ(num_lenders, pairs.size());
    ASSERT_EQ(num_borrowers, pairs.size());
    held = next;
  }
}

void expect_planned_loads(const RoutedProblem& problem, const VirtualTopology& topology,
                          const std::vector<ExchangePlan>& plans, bool folds) {
  ModeLoads direct;
  direct.resize(plans.size());
  for (Index i = 0; i < problem.rows.num_rows(); ++i) {
    const auto parts = problem.rows.of(i);
    for (const int part : parts) ++direct[part].local;
    if (!std::ranges::binary_search(parts, problem.owners[i])) ++direct[problem.owners[i]].local;
  }
  const auto loads =
      routed_loads(Comm::self(), problem.rows, problem.owners, folds, 1, topology, std::move(direct));
  ASSERT_EQ(std::ssize(loads.stages), topology.num_stages());
  for (std::size_t rank = 0; rank < plans.size(); ++rank) {
    ASSERT_EQ(loads[rank].local, plans[rank].num_local());
    Index sent = 0;
    for (std::size_t s = 0; s < loads.stages.size(); ++s) {
      auto stage = plans[rank].stages[s];
      stage.folds = folds;
      const StageLoad expected{stage.rows_folded() + stage.rows_expanded(),
                               stage.num_borrowed() + (folds ? stage.rows_expanded() : 0),
                               stage.messages_sent()};
      ASSERT_EQ(loads.stages[s][rank], expected) << "rank " << rank << ", stage " << s;
      sent += expected.sent;
    }
    ASSERT_EQ(loads[rank].sent, sent);
  }
}

void expect_right_routes(const RoutedProblem& problem, const VirtualTopology& topology) {
  SCOPED_TRACE(std::to_string(topology.num_ranks()) + " ranks, " + std::to_string(topology.num_stages()) +
               " stages");
  const auto plans = test::plan_all_routes(problem.rows, problem.owners, topology);
  expect_right_sums(problem, plans);
  expect_volume_identity(problem, topology, plans);
  for (const bool folds : {false, true}) expect_planned_loads(problem, topology, plans, folds);
}

// Ranks that a grid of layers and machines of `per_machine` ranks would have.
VirtualTopology layered(int num_ranks, int num_stages, int num_layers, int per_machine) {
  std::vector<int> layer, machine;
  for (int rank = 0; rank < num_ranks; ++rank) {
    layer.push_back(rank / (num_ranks / num_layers));
    machine.push_back(rank % (num_ranks / per_machine));
  }
  return {num_ranks, num_stages, layer, machine};
}

TEST(VirtualTopology, every_rank_reaches_every_other_in_all_stages) {
  for (int num_ranks = 2; num_ranks <= 100; ++num_ranks)
    for (int num_stages = 1; num_stages <= max_stages(num_ranks); ++num_stages) {
      const VirtualTopology topology(num_ranks, num_stages, {}, {});
      ASSERT_EQ(topology.num_stages(), num_stages);
      std::vector<std::set<std::pair<int, int>>> partners(static_cast<std::size_t>(num_stages));
      for (int from = 0; from < num_ranks; ++from)
        for (int to = 0; to < num_ranks; ++to) {
          int at = from;
          for (int s = 0; s < num_stages; ++s) {
            const int next = topology.next(at, to, s);
            ASSERT_GE(next, 0);
            ASSERT_LT(next, num_ranks);
            ASSERT_EQ(next, topology.next_by_digit(at, topology.digit(to, s), s));
            if (next != at) partners[s].emplace(at, next);
            at = next;
          }
          ASSERT_EQ(at, to) << num_ranks << " " << num_stages;
        }
      for (int s = 0; s < num_stages; ++s)
        ASSERT_LE(std::ssize(partners[s]), Index(num_ranks) * (topology.digits()[s] - 1)) << num_ranks;
    }
}

TEST(VirtualTopology, has_even_digits) {
  EXPECT_EQ(even_digits(64, 3), (std::vector{4, 4, 4}));
  EXPECT_EQ(even_digits(4096, 3), (std::vector{16, 16, 16}));
  EXPECT_EQ(even_digits(4096, 12), std::vector<int>(12, 2));
  EXPECT_EQ(even_digits(7, 1), (std::vector{7}));
  for (const int count : {2, 3, 6, 8, 12, 31, 32, 509, 512, 1000, 16384, 65537, 1 << 20})
    for (int k = 1; k <= max_stages(count); ++k) {
      const auto digits = even_digits(count, k);
      ASSERT_EQ(std::ssize(digits), k);
      Index before_last = 1;
      for (const int digit : std::span(digits).first(std::size_t(k - 1))) before_last *= digit;
      EXPECT_GE(before_last * digits.back(), count);
      EXPECT_LT(before_last * (digits.back() - 1), count);
      EXPECT_GE(*std::ranges::min_element(digits), 2);
      // At most about twice the even root.
      EXPECT_LE(*std::ranges::max_element(digits), 2 * std::ceil(std::pow(count, 1.0 / k)))
          << count << " " << k;
    }
}

TEST(VirtualTopology, first_stage_stays_within_the_machine_and_all_but_the_last_in_the_layer) {
  std::vector<int> machine, layer;
  for (int rank = 0; rank < 48; ++rank) machine.push_back(rank % 6), layer.push_back(rank / 24);
  for (const bool has_layers : {false, true}) {
    const VirtualTopology topology(48, 3, has_layers ? std::span<const int>(layer) : std::span<const int>(),
                                   machine);
    EXPECT_EQ(topology.digits().front(), has_layers ? 4 : 8);
    for (int from = 0; from < 48; ++from)
      for (int to = 0; to < 48; ++to) {
        const int first = topology.next(from, to, 0), second = topology.next(first, to, 1);
        EXPECT_EQ(machine[first], machine[from]);
        EXPECT_TRUE(!has_layers || layer[second] == layer[from]);
      }
  }
}

TEST(RoutedPlan, moves_rows_as_a_direct_exchange_does_for_any_number_of_processes) {
  for (int num_ranks = 2; num_ranks <= 64; ++num_ranks) {
    const auto problem = some_rows(30, num_ranks, std::uint64_t(num_ranks));
    for (int num_stages = 1; num_stages <= max_stages(num_ranks); ++num_stages)
      expect_right_routes(problem, VirtualTopology(num_ranks, num_stages, {}, {}));
  }
}

TEST(RoutedPlan, moves_rows_by_way_of_layers_and_machines) {
  for (const int num_ranks : {12, 24, 36, 48, 60})
    for (const int num_layers : {1, 2, 3, 4, 6})
      for (const int per_machine : {1, 2, 4, 6, 12}) {
        const auto problem = some_rows(25, num_ranks, std::uint64_t(num_layers) * std::uint64_t(per_machine));
        for (int num_stages = 2; num_stages <= max_stages(num_ranks); ++num_stages)
          expect_right_routes(problem, layered(num_ranks, num_stages, num_layers, per_machine));
      }
}

TEST(RoutedPlan, moves_rows_between_thousands_of_processes) {
  for (const auto& [num_ranks, num_stages] :
       {std::pair(509, 3), std::pair(1000, 2), std::pair(1024, 10), std::pair(4096, 3), std::pair(4096, 6)})
    expect_right_routes(some_rows(40, num_ranks, 5), VirtualTopology(num_ranks, num_stages, {}, {}));
}

TEST(RoutedPlan, one_stage_is_a_direct_exchange) {
  const auto problem = some_rows(50, 9, 3);
  for (const auto& plan :
       test::plan_all_routes(problem.rows, problem.owners, VirtualTopology(9, 1, {}, {}))) {
    ASSERT_EQ(plan.stages.size(), 1U);
    EXPECT_TRUE(plan.stages.front().rows.empty());
    EXPECT_EQ(plan.stages.front().num_local(), plan.num_local());
    EXPECT_EQ(plan.stages.front().num_owned, plan.num_owned);
    EXPECT_TRUE(std::ranges::is_sorted(std::span(plan.rows).first(std::size_t(plan.num_interior))));
  }
}

// A row that every process touches: its owner gets one row per value of each digit instead of one per
// process.
TEST(RoutedPlan, adds_up_on_the_way) {
  RoutedProblem problem{{{5}, {0, 4096}, std::vector<int>(4096)}, {77}};
  std::iota(problem.rows.parts.begin(), problem.rows.parts.end(), 0);
  const auto plans = test::plan_all_routes(problem.rows, problem.owners, VirtualTopology(4096, 3, {}, {}));
  EXPECT_EQ(plans[77].rows_expanded(), 45);
  Index sent = 0;
  for (const auto& plan : plans) {
    EXPECT_LE(plan.num_borrowed(), 1);
    sent += plan.num_borrowed();
  }
  EXPECT_EQ(sent, 4095);
}

}  // namespace
}  // namespace polyad
