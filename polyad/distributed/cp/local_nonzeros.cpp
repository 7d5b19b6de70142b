#include "polyad/distributed/cp/local_nonzeros.hpp"

#include <algorithm>
#include <numeric>

#include "polyad/base/parallel.hpp"
#include "polyad/distributed/cp/greedy_owners.hpp"
#include "polyad/distributed/cp/routed_plan.hpp"
#include "polyad/distributed/move_nonzeros.hpp"

namespace polyad {
namespace {

// [tensor][mode]
using NumbersOfAll = std::vector<std::vector<RowNumbers>>;

// The slices of a mode that any of the tensors has.
Array<Index> touched_slices(const NumbersOfAll& numbers, int mode) {
  Array<Index> all = numbers.front()[mode].slices;
  for (std::size_t t = 1; t < numbers.size(); ++t) {
    Array<Index> more;
    std::ranges::set_union(all, numbers[t][mode].slices, std::back_inserter(more));
    all = std::move(more);
  }
  return all;
}

RowOwners row_owners(const Comm& comm, const Distribution& distribution, int mode, Index extent,
                     std::span<const Index> touched) {
  if (!distribution.rows.empty()) return distribution.rows[mode];
  if (distribution.row_rule == RowRule::random) return random_owners(distribution, mode, extent);
  return choose_owners(comm, touched, mode, distribution.row_rule);
}

// The local rows of slices, which are ascending and all in the plan.
Array<LocalIndex> local_rows(const ExchangePlan& plan, std::span<const Index> slices) {
  Array<LocalIndex> by_slice(plan.rows.size());
  std::iota(by_slice.begin(), by_slice.end(), LocalIndex(0));
  std::ranges::sort(by_slice, {}, [&](LocalIndex row) { return plan.rows[row]; });
  Array<LocalIndex> local(slices.size());
  auto at = by_slice.begin();
  for (std::size_t i = 0; i < slices.size(); ++i) {
    while (plan.rows[*at] != slices[i]) ++at;
    local[i] = *at;
  }
  return local;
}

struct PlannedMode {
  ExchangePlan plan;
  Index touched;  // rows, by this process
  Index volume;   // rows that all processes send, by the identity
};

// Collective.
PlannedMode plan_mode(const Comm& comm, const Distribution& distribution, int mode, Index extent,
                      Array<Index> touched) {
  PlannedMode result{{}, std::ssize(touched), 0};
  if (comm.size() == 1) {
    result.plan.num_owned = result.plan.num_interior = result.touched;
    result.plan.rows = std::move(touched);
    result.plan.folds = false;
    return result;
  }
  if (distribution.replicates(mode)) {
    result.plan = plan_replication(comm, touched);
    return result;
  }
  const auto owners = row_owners(comm, distribution, mode, extent, touched);
  const int num_stages = distribution.stages(mode);
  result.plan = num_stages == 1
                    ? plan_exchange(comm, touched, owners)
                    : plan_routes(comm, touched, owners, topology_for(distribution, mode, num_stages));
  Index away = comm.all_reduce(
      Index(std::ranges::count_if(touched, [&](Index row) { return owners(row) != comm.rank(); })));
  result.plan.folds = distribution.scheme != Scheme::coarse && away > 0;
  for (auto& stage : result.plan.stages) stage.folds = result.plan.folds;
  if (num_stages > 1) away = comm.all_reduce(result.plan.num_borrowed());
  result.volume = away * (result.plan.folds ? 2 : 1);
  return result;
}

// All members except those that count nonzeros.
PartLoad load_of(const ExchangePlan& plan, Index touched) {
  PartLoad load;
  load.touched = touched;
  load.local = plan.num_local();
  load.owned = plan.num_solved();
  load.reduced = plan.is_replicated ? plan.num_local() : 0;
  load.sent = plan.rows_folded() + plan.rows_expanded();
  load.received = plan.num_borrowed() + (plan.folds ? plan.rows_expanded() : 0);
  load.messages = plan.messages_sent();
  return load;
}

// The loads of all processes. Collective.
ModeLoads loads_of(const Comm& comm, const ExchangePlan& plan, Index touched) {
  ModeLoads loads = comm.all_gather(load_of(plan, touched));
  for (const auto& stage : plan.stages) {
    const auto load = load_of(stage, 0);
    loads.stages.push_back(comm.all_gather(StageLoad{load.sent, load.received, load.messages}));
  }
  return loads;
}

// Of the nonzeros, those in rows of the mode to which no other process adds.
template <class Real>
Index num_complete(const SparseTensor<Real, LocalIndex>& x, const ExchangePlan& plan, int mode) {
  return std::ranges::count_if(x.indices(mode),
                               [&](LocalIndex row) { return Index(row) < plan.num_complete(); });
}

void number_by_plan(RowNumbers& rows, const ExchangePlan& plan) {
  rows.num_rows = plan.num_local();
  if (!std::ranges::equal(rows.slices, plan.rows)) rows.numbers = local_rows(plan, rows.slices);
}

}  // namespace

std::vector<SparseTensor<double>> move_to_owners(const Comm& comm, SparseTensor<double> share,
                                                 const Distribution& distribution) {
  std::vector<SparseTensor<double>> moved;
  if (comm.size() == 1) {
    moved.push_back(std::move(share));
    return moved;
  }
  for (const auto& owners : distribution.nonzeros)
    moved.push_back(move_nonzeros(comm, share, owners_of(owners, share)));
  return moved;
}

template <class Real>
LocalNonzeros<Real> localise(const Comm& comm, std::vector<SparseTensor<double>> moved,
                             const Distribution& distribution) {
  LocalNonzeros<Real> result;
  const auto extents = moved.front().extents();
  NumbersOfAll numbers;
  for (const auto& x : moved) numbers.push_back(number_rows(x));
  for (int m = 0; m < int(extents.size()); ++m) {
    auto [plan, touched, volume] = plan_mode(comm, distribution, m, extents[m], touched_slices(numbers, m));
    result.volume_rows += volume;
    result.loads.push_back(loads_of(comm, plan, touched));
    result.loads.back().folds = distribution.scheme != Scheme::coarse;
    for (auto& of_tensor : numbers) number_by_plan(of_tensor[m], plan);
    result.exchanges.push_back(std::move(plan));
  }
  for (std::size_t t = 0; t < moved.size(); ++t) {
    auto local = renumber<Real>(std::move(moved[t]), numbers[t],
                                [&](double largest) { return comm.all_reduce(largest, Reduce::max); });
    numbers[t].clear();
    result.value_scale = local.value_scale;
    result.num_duplicates = comm.all_reduce(local.num_duplicates);
    result.tensors.push_back(std::move(local.tensor));
  }
  const auto& one = result.tensors.front();  // each has all nonzeros of all processes
  result.num_nonzeros = comm.all_reduce(one.num_nonzeros());
  result.squared_norm = comm.all_reduce(squared_norm<Real>(one.values()));
  result.num_negative =
      comm.all_reduce(Index(std::ranges::count_if(one.values(), [](Real value) { return value < 0; })));
  for (int m = 0; m < int(extents.size()); ++m) {
    const auto nonzeros = comm.all_gather(result.tensors[moved.size() == 1 ? 0 : m].num_nonzeros());
    for (int p = 0; p < comm.size(); ++p) result.loads[m][p].nonzeros = nonzeros[p];
    if (distribution.scheme == Scheme::coarse || result.exchanges[m].is_replicated) continue;
    const auto complete = comm.all_gather(num_complete(one, result.exchanges[m], m));
    for (int p = 0; p < comm.size(); ++p) result.loads[m][p].complete = complete[p];
  }
  return result;
}

template LocalNonzeros<float> localise(const Comm&, std::vector<SparseTensor<double>>, const Distribution&);
template LocalNonzeros<double> localise(const Comm&, std::vector<SparseTensor<double>>, const Distribution&);

}  // namespace polyad
