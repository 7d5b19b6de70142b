#include "polyad/distributed/cp/part_loads.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <numeric>
#include <optional>
#include <utility>

#include "polyad/base/parallel.hpp"
#include "polyad/distributed/cp/load_sample.hpp"
#include "polyad/distributed/cp/pair_set.hpp"
#include "polyad/distributed/cp/routed_loads.hpp"
#include "polyad/distributed/cp/routed_plan.hpp"
#include "polyad/distributed/cp/touching_parts.hpp"
#include "polyad/distributed/cp/tree_nodes.hpp"

namespace polyad {
namespace {

void add_row(RowParts& rows, Index row) {
  rows.rows.push_back(row);
  rows.begin.push_back(std::ssize(rows.parts));
}

// Rows [begin, end) of the groups, those without nonzeros left out.
template <class Parts>
RowParts parts_of_rows(const NonzerosByRow& groups, Index begin, Index end, const std::vector<Parts>& parts,
                       int num_parts) {
  RowParts result;
  TouchingParts touching(num_parts);
  for (Index i = begin; i < end; ++i) {
    if (groups.begin[i] == groups.begin[i + 1]) continue;
    add_row(result, groups.rows[i]);
    for (const auto& part : parts)
      for (Index k = groups.begin[i]; k < groups.begin[i + 1]; ++k) touching.add(part[groups.nonzeros[k]]);
    touching.move_to(result.parts);
  }
  return result;
}

RowParts joined(std::vector<RowParts> pieces) {
  RowParts result = std::move(pieces.front());
  for (auto& piece : std::span(pieces).subspan(1)) {
    const Index offset = std::ssize(result.parts);
    result.rows.insert(result.rows.end(), piece.rows.begin(), piece.rows.end());
    for (const Index begin : piece.begin) result.begin.push_back(offset + begin);
    result.parts.insert(result.parts.end(), piece.parts.begin(), piece.parts.end());
    piece = {};
  }
  result.begin.push_back(std::ssize(result.parts));
  return result;
}

std::vector<int> owners(const RowParts& rows, const Distribution& distribution, int mode, Index extent) {
  if (distribution.rows.empty() && distribution.row_rule != RowRule::random)
    return choose_owners(rows, distribution.num_parts, mode, distribution.row_rule);
  const auto owner =
      distribution.rows.empty() ? random_owners(distribution, mode, extent) : distribution.rows[mode];
  return owner.of_ascending(rows.rows);
}

// Adds the loads that rows cause to parts.
struct RowLoads {
  explicit RowLoads(int num_parts) : parts(std::size_t(num_parts)), lending(num_parts, num_parts) {}

  // A borrowed row is received and, if sums are folded, its partial sum is sent back.
  void add(int owner, std::span<const int> touching, bool folds) {
    const Index back = folds ? 1 : 0;
    bool touches = false;
    for (const int part : touching) {
      ++parts[part].touched, ++parts[part].local;
      if (part == owner) {
        touches = true;
        continue;
      }
      ++parts[owner].sent, ++parts[part].received;
      parts[part].sent += back, parts[owner].received += back;
      lending.add(owner, part);
    }
    ++parts[owner].owned;
    if (!touches) ++parts[owner].local;
  }

  void add(const RowLoads& other) {
    for (std::size_t p = 0; p < parts.size(); ++p)
      for (const auto count : counted_by_row) parts[p].*count += other.parts[p].*count;
    lending.add(other.lending);
  }

  static constexpr std::array counted_by_row{&PartLoad::touched, &PartLoad::local, &PartLoad::owned,
                                             &PartLoad::sent, &PartLoad::received};

  std::vector<PartLoad> parts;
  PairSet lending;  // pairs of a part and another that it lends rows to
};

RowLoads add_rows(const RowParts& rows, const std::vector<int>& owner, bool folds, int num_parts) {
  std::vector<std::optional<RowLoads>> pieces(num_threads());
  parallel_parts(rows.num_rows(), [&](Index begin, Index end, int thread) {
    auto& loads = pieces[thread].emplace(num_parts);
    for (Index i = begin; i < end; ++i) loads.add(owner[i], rows.of(i), folds);
  });
  for (std::size_t t = 1; t < pieces.size(); ++t)
    if (pieces[t]) pieces.front()->add(*pieces[t]);
  return std::move(*pieces.front());
}

// [part]: number of messages, one to each part that it lends to and, with a fold, to each that it borrows
// from. Collective.
std::vector<Index> messages_of(const Comm& comm, const RowLoads& loads, bool folds) {
  std::vector<Index> messages(loads.parts.size(), 0);
  loads.lending.for_each_of_all(comm, [&](int owner, int borrower) {
    ++messages[owner];
    if (folds) ++messages[borrower];
  });
  comm.all_reduce(std::span(messages));
  return messages;
}

// What a sample of rows shows, for all rows of all processes.
void extrapolate(const Comm& comm, double fraction, std::vector<PartLoad>& loads) {
  if (comm.size() == 1 && fraction >= 1) return;
  std::vector<double> counts;
  for (const auto& load : loads)
    for (const auto count : RowLoads::counted_by_row) counts.push_back(double(load.*count) / fraction);
  comm.all_reduce(std::span(counts));
  auto at = counts.begin();
  for (auto& load : loads)
    for (const auto count : RowLoads::counted_by_row) load.*count = Index(std::llround(*at++));
}

void set_counts(std::vector<PartLoad>& loads, Index PartLoad::*count, const std::vector<Index>& counts) {
  for (std::size_t p = 0; p < loads.size(); ++p) loads[p].*count = counts[p];
}

// All nonzeros; those that repeat others are not counted.
LoadSample whole_sample(const SparseTensor<double>& share, std::span<const Index> repeated) {
  Array<Index> all(std::size_t(share.num_nonzeros()));
  std::iota(all.begin(), all.end(), Index(0));
  LoadSample sample;
  for (int m = 0; m < share.order(); ++m) sample.rows.push_back({all, {}, 1});
  std::ranges::set_difference(all, repeated, std::back_inserter(sample.counted));
  return sample;
}

}  // namespace

void replicate(ModeLoads& loads) {
  Index rows = 0;
  loads.stages.clear();
  for (const auto& load : loads) rows += load.owned;
  for (auto& load : loads)
    load = {
        .nonzeros = load.nonzeros, .touched = load.touched, .local = rows, .owned = rows, .reduced = rows};
}

LoadPlanner::LoadPlanner(const Comm& comm, const SparseTensor<double>& share, double fraction,
                         std::vector<Index> repeated)
    : comm_(comm),
      share_(share),
      num_nonzeros_(comm.all_reduce(share.num_nonzeros())),
      repeated_(std::move(repeated)) {
  if (comm.size() == 1 && fraction >= 1) {
    sets_.emplace_back(share);
    fractions_.assign(std::size_t(share.order()), 1);
    per_evaluated_.assign(std::size_t(share.order()), 1);
    return;
  }
  auto sample = fraction < 1 ? sample_loads(comm, share, fraction) : whole_sample(share, repeated_);
  for (int m = 0; m < share.order(); ++m) {
    auto& [places, weights, of_rows] = sample.rows[m];
    fractions_.push_back(of_rows);
    // Of short modes there are random nonzeros of all rows.
    const auto num_places = double(comm.all_reduce(std::ssize(places)));
    const bool is_thinned = comm.all_reduce(std::int32_t(!weights.empty()), Reduce::max) == 1;
    per_evaluated_.push_back(
        of_rows == 1 && !is_thinned ? std::max(1.0, double(num_nonzeros_) / std::max(1.0, num_places)) : 1);
    if (comm.size() > 1)
      sets_.emplace_back(comm, share, places, m, weights);
    else
      sets_.emplace_back(share, std::move(places));
  }
  sets_.emplace_back(share, std::move(sample.counted));
  per_counted_ = sample.per_counted;
}

std::vector<LoadPlanner::Parts> LoadPlanner::parts_in(const GroupedNonzeros& set,
                                                      const Distribution& distribution) const {
  std::vector<Parts> parts;
  for (const auto& how : distribution.nonzeros) parts.push_back(set.parts(how));
  return parts;
}

std::vector<Index> LoadPlanner::count_nonzeros(const Parts& parts, int num_parts) const {
  std::vector<Index> counts(std::size_t(num_parts), 0);
  for (const int part : parts) ++counts[part];
  if (sets_.size() == 1) {
    for (const Index z : repeated_) --counts[parts[z]];
    return counts;
  }
  std::vector<double> estimates(counts.size());
  std::ranges::transform(counts, estimates.begin(),
                         [&](Index count) { return per_counted_ * double(count); });
  comm_.all_reduce(std::span(estimates));
  std::ranges::transform(estimates, counts.begin(), [](double estimate) { return std::llround(estimate); });
  return counts;
}

void LoadPlanner::count_nodes(std::vector<std::vector<int>> trees) {
  trees_ = std::move(trees);
  nodes_per_nonzero_.clear();
  for (int m = 0; m < int(trees_.size()); ++m) {
    auto& set = sets_[sets_.size() == 1 ? 0 : std::size_t(m)];
    set.sort_rows(trees_[m]);
    const auto all = count_tree_nodes(set.by_row(m), order(), {}, 1, set.weights(), per_evaluated_[m]);
    const double repeated = sets_.size() == 1 ? double(repeated_.size()) : 0;
    const double nodes = comm_.all_reduce(all.nodes[0]),
                 nonzeros = comm_.all_reduce(all.nonzeros[0] - repeated);
    nodes_per_nonzero_.push_back(nonzeros > 0 ? nodes / nonzeros : 0);
  }
}

void LoadPlanner::set_nodes(int mode, const Parts& parts, ModeLoads& loads) const {
  if (trees_.empty()) return;
  const auto& set = evaluated(mode);
  auto counts = count_tree_nodes(set.by_row(mode), order(), parts, int(loads.size()), set.weights(),
                                 per_evaluated_[mode]);
  comm_.all_reduce(std::span(counts.nodes));
  comm_.all_reduce(std::span(counts.nonzeros));
  const bool is_exact = sets_.size() == 1;
  loads.nodes_per_nonzero = nodes_per_nonzero_[mode];
  for (std::size_t p = 0; p < loads.size(); ++p) {
    const double of_all =
        is_exact || counts.nonzeros[p] == 0 ? 1 : double(loads[p].nonzeros) / counts.nonzeros[p];
    loads.nodes.push_back(std::llround(of_all * counts.nodes[p]));
  }
}

std::vector<Index> LoadPlanner::count_complete(int mode, const RowParts& rows, std::span<const int> owners,
                                               const Parts& parts, std::span<const Index> nonzeros) const {
  const auto& groups = evaluated(mode).by_row(mode);
  const auto weights = evaluated(mode).weights();
  const auto weight = [&](Index z) { return weights.empty() ? 1.0 : weights[std::size_t(z)]; };
  const bool is_exact = sets_.size() == 1;
  std::vector<double> complete(nonzeros.size(), 0), all(nonzeros.size(), 0);
  Index i = 0;  // of the rows, which have no groups without nonzeros
  for (Index g = 0; g < std::ssize(groups.rows); ++g) {
    const auto group =
        std::span(groups.nonzeros)
            .subspan(std::size_t(groups.begin[g]), std::size_t(groups.begin[g + 1] - groups.begin[g]));
    if (group.empty()) continue;
    const auto touching = rows.of(i);
    if (touching.size() == 1 && touching.front() == owners[i]) {
      if (weights.empty() && (!is_exact || repeated_.empty()))
        complete[owners[i]] += double(group.size());
      else
        for (const Index z : group)
          if (!is_exact || !std::ranges::binary_search(repeated_, z)) complete[owners[i]] += weight(z);
    }
    ++i;
  }
  if (is_exact) return {complete.begin(), complete.end()};
  for (Index z = 0; z < std::ssize(parts); ++z) all[parts[z]] += weight(z);
  comm_.all_reduce(std::span(complete));
  comm_.all_reduce(std::span(all));
  std::vector<Index> counts(all.size(), 0);
  for (std::size_t p = 0; p < all.size(); ++p)
    if (all[p] > 0) counts[p] = std::llround(double(nonzeros[p]) * complete[p] / all[p]);
  return counts;
}

RowParts LoadPlanner::rows_and_parts(int mode, const std::vector<Parts>& parts, int num_parts) const {
  std::vector<RowParts> pieces(num_threads());
  const auto& groups = evaluated(mode).by_row(mode);
  parallel_rows(groups, [&](Index begin, Index end, int thread) {
    pieces[thread] = parts_of_rows(groups, begin, end, parts, num_parts);
  });
  return joined(std::move(pieces));
}

// Parts with nonzeros or rows are no more than these.
Index LoadPlanner::max_busy_parts() const {
  Index count = 0;
  for (int m = 0; m < share_.order(); ++m)
    count += evaluated(m).count() + std::ssize(evaluated(m).by_row(m).rows);
  return count;
}

// As loads() on one process, with busy parts numbered one after the other, and one idle part behind them.
PartLoads LoadPlanner::loads_of_busy(const Distribution& distribution, std::vector<Parts> parts) const {
  const bool folds = distribution.scheme != Scheme::coarse;
  std::vector<RowParts> rows;
  std::vector<std::vector<int>> owner;
  std::vector<int> busy;
  for (int m = 0; m < share_.order(); ++m) {
    rows.push_back(rows_and_parts(m, parts, distribution.num_parts));
    owner.push_back(owners(rows.back(), distribution, m, share_.extent(m)));
    busy.insert(busy.end(), rows.back().parts.begin(), rows.back().parts.end());
    busy.insert(busy.end(), owner.back().begin(), owner.back().end());
  }
  std::ranges::sort(busy);
  const auto repeated = std::ranges::unique(busy);
  busy.erase(repeated.begin(), repeated.end());
  const auto renumber = [&](auto& numbers) {
    for (int& part : numbers) part = int(std::ranges::lower_bound(busy, part) - busy.begin());
  };
  for (auto& of : parts) renumber(of);
  const int num_listed = int(busy.size()) + 1;
  PartLoads modes;
  modes.num_left_out = distribution.num_parts - num_listed;
  for (std::size_t m = 0; m < rows.size(); ++m) {
    renumber(rows[m].parts);
    renumber(owner[m]);
    auto counted = add_rows(rows[m], owner[m], folds, num_listed);
    const auto& of_mode = parts[parts.size() == 1 ? 0 : m];
    const auto nonzeros = count_nonzeros(of_mode, num_listed);
    const auto messages = messages_of(comm_, counted, folds);
    auto& loads = modes.emplace_back(std::move(counted.parts));
    loads.folds = folds;
    set_counts(loads, &PartLoad::nonzeros, nonzeros);
    set_counts(loads, &PartLoad::messages, messages);
    if (folds)
      set_counts(loads, &PartLoad::complete, count_complete(int(m), rows[m], owner[m], of_mode, nonzeros));
    set_nodes(int(m), of_mode, loads);
    if (distribution.replicates(int(m))) replicate(loads);
  }
  return modes;
}

PartLoads LoadPlanner::loads(const Distribution& distribution, IdleParts idle) const {
  auto parts = parts_in(counted(), distribution);
  bool is_direct = true;
  for (int m = 0; m < share_.order(); ++m) is_direct = is_direct && distribution.stages(m) == 1;
  const bool is_exact = sets_.size() == 1;
  if (idle == IdleParts::one && is_direct && is_exact && max_busy_parts() < distribution.num_parts)
    return loads_of_busy(distribution, std::move(parts));
  std::vector<std::vector<Index>> nonzeros;
  for (const auto& of : parts) nonzeros.push_back(count_nonzeros(of, distribution.num_parts));
  PartLoads modes;
  for (int m = 0; m < share_.order(); ++m) {
    if (!is_exact) parts = parts_in(evaluated(m), distribution);
    const auto touched = touching(distribution, m, parts);
    auto counted = add_rows(touched.rows, touched.owners, touched.folds, distribution.num_parts);
    const auto messages = messages_of(comm_, counted, touched.folds);
    ModeLoads loads(std::move(counted.parts));
    loads.folds = touched.folds;
    extrapolate(comm_, fractions_[m], loads);
    const auto& of_mode = nonzeros[nonzeros.size() == 1 ? 0 : std::size_t(m)];
    set_counts(loads, &PartLoad::nonzeros, of_mode);
    set_counts(loads, &PartLoad::messages, messages);
    if (touched.folds)
      set_counts(loads, &PartLoad::complete,
                 count_complete(m, touched.rows, touched.owners, parts.front(), of_mode));
    set_nodes(m, parts[parts.size() == 1 ? 0 : std::size_t(m)], loads);
    if (distribution.replicates(m) && loads.size() > 1)
      replicate(loads);
    else if (distribution.stages(m) > 1)
      loads = routed(touched, std::move(loads), topology_for(distribution, m, distribution.stages(m)));
    modes.push_back(std::move(loads));
  }
  return modes;
}

LoadPlanner::Touching LoadPlanner::touching(const Distribution& distribution, int mode) const {
  return touching(distribution, mode, parts_in(evaluated(mode), distribution));
}

LoadPlanner::Touching LoadPlanner::touching(const Distribution& distribution, int mode,
                                            const std::vector<Parts>& parts) const {
  Touching result{rows_and_parts(mode, parts, distribution.num_parts),
                  {},
                  fractions_[mode],
                  distribution.scheme != Scheme::coarse};
  const bool is_by_all =
      owners_as_runs_ && distribution.rows.empty() && distribution.row_rule != RowRule::random;
  result.owners = is_by_all ? choose_owners(comm_, result.rows, fractions_[mode], distribution.num_parts,
                                            mode, distribution.row_rule)
                            : owners(result.rows, distribution, mode, share_.extent(mode));
  return result;
}

ModeLoads LoadPlanner::routed(const Touching& touching, ModeLoads direct,
                              const VirtualTopology& topology) const {
  return routed_loads(comm_, touching.rows, touching.owners, touching.folds, touching.fraction, topology,
                      std::move(direct));
}

}  // namespace polyad
