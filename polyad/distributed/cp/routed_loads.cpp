#include "polyad/distributed/cp/routed_loads.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "polyad/base/parallel.hpp"
#include "polyad/distributed/cp/routed_plan.hpp"

namespace polyad {
namespace {

// Which parts pass rows on to which others in a stage: pairs of a part and of the digit of the next one. A
// bit per pair while that is small, otherwise a list of those that occur.
class PairSet {
 public:
  PairSet(std::size_t num_ranks, std::size_t num_digits) : num_digits_(num_digits) {
    if (num_ranks * num_digits <= max_bits) bits_.assign((num_ranks * num_digits + 63) / 64, 0);
  }

  void add(int from, int digit) { add(std::size_t(from) * num_digits_ + std::size_t(digit)); }
  void add(const PairSet& other) {
    for (std::size_t i = 0; i < bits_.size(); ++i) bits_[i] |= other.bits_[i];
    for (const auto pair : other.list_) add(pair);
  }

  // What any process has added. Collective.
  void unite(const Comm& comm) {
    tidy();
    if (bits_.empty()) {
      const auto all = comm.all_gather_varying<std::uint64_t>(list_).items;
      list_.assign(all.begin(), all.end());
      return tidy();
    }
    std::vector<std::int32_t> marks(64 * bits_.size());
    for (std::size_t i = 0; i < marks.size(); ++i) marks[i] = std::int32_t(bits_[i / 64] >> (i % 64) & 1);
    comm.all_reduce(std::span(marks), Reduce::max);
    for (std::size_t i = 0; i < marks.size(); ++i) bits_[i / 64] |= std::uint64_t(marks[i]) << (i % 64);
  }

  // fn(part, digit) for each pair.
  template <class Fn>
  void for_each(Fn fn) const {
    const auto call = [&](std::uint64_t pair) { fn(int(pair / num_digits_), int(pair % num_digits_)); };
    auto sorted = list_;
    keep_each(sorted);
    for (const auto pair : sorted) call(pair);
    for (std::size_t i = 0; i < bits_.size(); ++i)
      for (auto rest = bits_[i]; rest != 0; rest &= rest - 1)
        call(64 * i + std::uint64_t(std::countr_zero(rest)));
  }

 private:
  static constexpr std::size_t max_bits = std::size_t(1) << 28;

  static void keep_each(std::vector<std::uint64_t>& pairs) {
    std::ranges::sort(pairs);
    const auto repeated = std::ranges::unique(pairs);
    pairs.erase(repeated.begin(), repeated.end());
  }
  void tidy() {
    keep_each(list_);
    next_tidying_ = std::max(next_tidying_, 2 * list_.size());
  }
  void add(std::uint64_t pair) {
    if (!bits_.empty()) {
      bits_[pair / 64] |= std::uint64_t(1) << (pair % 64);
      return;
    }
    list_.push_back(pair);
    if (list_.size() >= next_tidying_) tidy();
  }

  std::uint64_t num_digits_;
  std::vector<std::uint64_t> bits_, list_;
  std::size_t next_tidying_ = 1 << 16;  // length of the list at which duplicates are removed
};

// Rows that leave and reach every part in the stages of a fold, and between which parts.
class RouteCounts {
 public:
  explicit RouteCounts(const VirtualTopology& topology)
      : topology_(topology), holders_(topology.num_ranks()) {
    const auto num_ranks = std::size_t(topology.num_ranks());
    in_transit_.assign(num_ranks, 0);
    for (const int digit : topology.digits())
      stages_.push_back({std::vector<Index>(num_ranks, 0), std::vector<Index>(num_ranks, 0),
                         PairSet(num_ranks, std::size_t(digit))});
  }

  void add(int owner, std::span<const int> touching) {
    holders_.begin(touching);
    for (int s = 0; s < topology_.num_stages(); ++s) {
      auto& stage = stages_[s];
      const int digit = topology_.digit(owner, s);
      holders_.pass_on(topology_, s, owner, [&](int from, int to) {
        ++stage.passed_on[from], ++stage.taken[to];
        if (s > 0 && !std::ranges::binary_search(touching, from)) ++in_transit_[from];
        stage.pairs.add(from, digit);
      });
    }
  }

  void add(const RouteCounts& other) {
    for (std::size_t p = 0; p < in_transit_.size(); ++p) in_transit_[p] += other.in_transit_[p];
    for (std::size_t s = 0; s < stages_.size(); ++s) {
      auto& stage = stages_[s];
      const auto& more = other.stages_[s];
      for (std::size_t p = 0; p < stage.taken.size(); ++p) {
        stage.passed_on[p] += more.passed_on[p];
        stage.taken[p] += more.taken[p];
      }
      stage.pairs.add(more.pairs);
    }
  }

  // Of what all processes have counted. Collective.
  void make_global(const Comm& comm, double fraction) {
    if (comm.size() == 1 && fraction >= 1) return;
    add_up(comm, fraction, in_transit_);
    for (auto& stage : stages_) {
      add_up(comm, fraction, stage.passed_on);
      add_up(comm, fraction, stage.taken);
      stage.pairs.unite(comm);
    }
  }

  ModeLoads loads(bool folds, ModeLoads loads) const {
    const Index back = folds ? 1 : 0;
    loads.stages.clear();
    for (std::size_t p = 0; p < loads.size(); ++p) {
      loads[p].local += in_transit_[p];
      loads[p].sent = loads[p].received = loads[p].messages = 0;
    }
    for (int s = 0; s < topology_.num_stages(); ++s) {
      auto& of_stage = loads.stages.emplace_back(loads.size());
      for (std::size_t p = 0; p < loads.size(); ++p) {
        of_stage[p].sent = stages_[s].taken[p] + back * stages_[s].passed_on[p];
        of_stage[p].received = stages_[s].passed_on[p] + back * stages_[s].taken[p];
      }
      count_messages(s, folds, of_stage);
      for (std::size_t p = 0; p < loads.size(); ++p) {
        loads[p].sent += of_stage[p].sent;
        loads[p].received += of_stage[p].received;
        loads[p].messages += of_stage[p].messages;
      }
    }
    return loads;
  }

 private:
  struct Stage {
    std::vector<Index> passed_on, taken;  // [part]: rows
    PairSet pairs;
  };

  static void add_up(const Comm& comm, double fraction, std::vector<Index>& counts) {
    std::vector<double> sums(counts.size());
    for (std::size_t p = 0; p < counts.size(); ++p) sums[p] = double(counts[p]) / fraction;
    comm.all_reduce(std::span(sums));
    for (std::size_t p = 0; p < counts.size(); ++p) counts[p] = Index(std::llround(sums[p]));
  }

  void count_messages(int s, bool folds, std::vector<StageLoad>& loads) const {
    stages_[s].pairs.for_each([&](int from, int digit) {
      if (folds) ++loads[from].messages;
      ++loads[topology_.next_by_digit(from, digit, s)].messages;
    });
  }

  const VirtualTopology& topology_;
  std::vector<Stage> stages_;
  std::vector<Index> in_transit_;  // [part]: rows that it holds only to pass them on, each in one stage
  RowHolders holders_;
};

}  // namespace

ModeLoads routed_loads(const Comm& comm, const RowParts& rows, std::span<const int> owners, bool folds,
                       double fraction, const VirtualTopology& topology, ModeLoads direct) {
  std::vector<std::optional<RouteCounts>> pieces(num_threads());
  parallel_parts(rows.num_rows(), [&](Index begin, Index end, int thread) {
    auto& counts = pieces[thread].emplace(topology);
    for (Index i = begin; i < end; ++i) counts.add(owners[i], rows.of(i));
  });
  for (std::size_t t = 1; t < pieces.size(); ++t)
    if (pieces[t]) pieces.front()->add(*pieces[t]);
  pieces.front()->make_global(comm, fraction);
  return pieces.front()->loads(folds, std::move(direct));
}

}  // namespace polyad
