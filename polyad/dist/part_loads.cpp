#include "polyad/dist/part_loads.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "polyad/base/parallel.hpp"
#include "polyad/base/random.hpp"
#include "polyad/tensor/compact.hpp"

namespace polyad {
namespace {

constexpr std::uint64_t sample_seed = 0x5a3b1e;

// The parts that touch rows [begin, end) of the groups, row by row: `append(row, its parts)`.
template <class Rows, class Parts, class Append>
void for_each_row(const Rows& groups, Index begin, Index end, const std::vector<Parts>& parts, int num_parts,
                  Append append) {
  std::vector<Index> seen_in(std::size_t(num_parts), -1);  // [part]: the last row that it touches
  std::vector<int> touching;
  for (Index i = begin; i < end; ++i) {
    touching.clear();
    for (const auto& part : parts)
      for (Index k = groups.begin[i]; k < groups.begin[i + 1]; ++k) {
        const int p = part[groups.nonzeros[k]];
        if (std::exchange(seen_in[p], i) != i) touching.push_back(p);
      }
    std::ranges::sort(touching);
    append(groups.rows[i], touching);
  }
}

void add_row(RowParts& rows, Index row, std::span<const int> parts) {
  rows.rows.push_back(row);
  rows.begin.push_back(std::ssize(rows.parts));
  rows.parts.insert(rows.parts.end(), parts.begin(), parts.end());
}

RowParts joined(const std::vector<RowParts>& pieces) {
  RowParts result;
  for (const auto& piece : pieces) {
    const Index offset = std::ssize(result.parts);
    result.rows.insert(result.rows.end(), piece.rows.begin(), piece.rows.end());
    for (const Index begin : piece.begin) result.begin.push_back(offset + begin);
    result.parts.insert(result.parts.end(), piece.parts.begin(), piece.parts.end());
  }
  result.begin.push_back(std::ssize(result.parts));
  return result;
}

struct Touch {
  Index row;
  int part;

  friend auto operator<=>(const Touch&, const Touch&) = default;
};

// Each row to the process that deals with its range of rows, with the parts that touch it anywhere.
RowParts bring_together(const Comm& comm, const RowParts& mine, Index extent) {
  std::vector<Touch> touches;
  std::vector<Index> counts(std::size_t(comm.size()), 0);
  for (Index i = 0; i < mine.num_rows(); ++i)
    for (const int part : mine.of(i)) {
      touches.push_back({mine.rows[i], part});
      ++counts[Index(static_cast<__int128>(mine.rows[i]) * comm.size() / extent)];
    }
  const auto met_counts = comm.exchange_counts(counts);
  std::vector<Touch> met(std::size_t(std::accumulate(met_counts.begin(), met_counts.end(), Index(0))));
  comm.all_to_all<Touch>(touches, counts, met, met_counts);
  std::ranges::sort(met);
  const auto repeated = std::ranges::unique(met);
  met.erase(repeated.begin(), repeated.end());
  RowParts result;
  for (const auto& touch : met) {
    if (result.rows.empty() || result.rows.back() != touch.row) add_row(result, touch.row, {});
    result.parts.push_back(touch.part);
  }
  result.begin.push_back(std::ssize(result.parts));
  return result;
}

std::vector<int> owners(const RowParts& rows, const Distribution& distribution, int mode, Index extent) {
  if (distribution.rows.empty() && distribution.row_rule == RowRule::greedy)
    return own_greedily(rows, distribution.num_parts);
  const auto owner =
      distribution.rows.empty() ? random_owners(distribution, mode, extent) : distribution.rows[mode];
  std::vector<int> result;
  for (const Index row : rows.rows) result.push_back(owner(row));
  return result;
}

// Which parts lend rows to which, over all processes: a message each way.
class Lending {
 public:
  explicit Lending(int num_parts)
      : num_parts_(num_parts), lends_(std::size_t(num_parts) * std::size_t(num_parts), 0) {}

  void add(int owner, int borrower) { lends_[Index(owner) * num_parts_ + borrower] = 1; }

  // Collective.
  void add_messages(const Comm& comm, bool folds, std::vector<PartLoad>& loads) {
    comm.all_reduce(std::span(lends_), Reduce::max);
    for (int owner = 0; owner < num_parts_; ++owner)
      for (int borrower = 0; borrower < num_parts_; ++borrower) {
        if (lends_[Index(owner) * num_parts_ + borrower] == 0) continue;
        ++loads[owner].messages;
        if (folds) ++loads[borrower].messages;
      }
  }

 private:
  int num_parts_;
  std::vector<std::int32_t> lends_;
};

// A row that is borrowed comes, and where sums are folded its partial sum goes back.
Lending add_rows(const RowParts& rows, const std::vector<int>& owner, bool folds,
                 std::vector<PartLoad>& loads) {
  Lending lending(int(loads.size()));
  const Index back = folds ? 1 : 0;
  for (Index i = 0; i < rows.num_rows(); ++i) {
    ++loads[owner[i]].owned;
    for (const int part : rows.of(i)) {
      ++loads[part].touched;
      if (part == owner[i]) continue;
      ++loads[owner[i]].sent;
      ++loads[part].received;
      loads[part].sent += back;
      loads[owner[i]].received += back;
      lending.add(owner[i], part);
    }
  }
  return lending;
}

// What a sample of rows shows, for all rows of all processes.
void extrapolate(const Comm& comm, double fraction, std::vector<PartLoad>& loads) {
  std::vector<double> counts;
  for (const auto& load : loads)
    for (const Index count : {load.touched, load.owned, load.sent, load.received})
      counts.push_back(double(count) / fraction);
  std::vector<Index> nonzeros;
  for (const auto& load : loads) nonzeros.push_back(load.nonzeros);
  comm.all_reduce(std::span(counts));
  comm.all_reduce(std::span(nonzeros));
  auto at = counts.begin();
  for (std::size_t p = 0; p < loads.size(); ++p) {
    loads[p].nonzeros = nonzeros[p];
    for (Index* count : {&loads[p].touched, &loads[p].owned, &loads[p].sent, &loads[p].received})
      *count = Index(std::llround(*at++));
  }
}

}  // namespace

void replicate(std::vector<PartLoad>& loads) {
  Index rows = 0;
  for (const auto& load : loads) rows += load.owned;
  for (auto& load : loads)
    load = {.nonzeros = load.nonzeros, .touched = load.touched, .owned = rows, .reduced = rows};
}

LoadPlanner::RowGroups LoadPlanner::group_by_row(const SparseTensor<double>& share, int mode,
                                                 double fraction) {
  const auto indices = share.indices(mode);
  RowNumbers numbers;
  numbers.slices = count_slices(indices, share.extent(mode)).slices;
  const auto row = number_nonzeros(indices, share.extent(mode), numbers);
  RowGroups groups{std::move(numbers.slices), {}, {}};
  const Random random(sample_seed, std::uint64_t(mode));
  std::vector<bool> is_looked_at;
  for (const Index slice : groups.rows)
    is_looked_at.push_back(fraction >= 1 || random.uniform(std::uint64_t(slice)) < fraction);
  groups.begin.assign(groups.rows.size() + 1, 0);
  for (const LocalIndex i : row) groups.begin[i + 1] += is_looked_at[i] ? 1 : 0;
  std::partial_sum(groups.begin.begin(), groups.begin.end(), groups.begin.begin());
  groups.nonzeros.resize(std::size_t(groups.begin.back()));
  auto next = groups.begin;
  for (Index z = 0; z < share.num_nonzeros(); ++z)
    if (is_looked_at[row[z]]) groups.nonzeros[next[row[z]]++] = z;
  return groups;
}

LoadPlanner::LoadPlanner(const Comm& comm, const SparseTensor<double>& share, double fraction)
    : comm_(comm), share_(share), fraction_(fraction) {
  for (int m = 0; m < share.order(); ++m) groups_.push_back(group_by_row(share, m, fraction));
}

RowParts LoadPlanner::rows_and_parts(int mode, const std::vector<Parts>& parts, int num_parts) const {
  const auto& groups = groups_[mode];
  std::vector<RowParts> pieces(num_threads());
  parallel_parts(std::ssize(groups.rows), [&](Index begin, Index end, int thread) {
    for_each_row(groups, begin, end, parts, num_parts, [&](Index row, std::span<const int> touching) {
      if (!touching.empty()) add_row(pieces[thread], row, touching);
    });
  });
  auto rows = joined(pieces);
  return comm_.size() == 1 ? rows : bring_together(comm_, rows, share_.extent(mode));
}

PartLoads LoadPlanner::loads(const Distribution& distribution) const {
  const bool folds = distribution.scheme != Scheme::coarse;
  std::vector<Parts> parts;
  for (const auto& how : distribution.nonzeros) parts.push_back(owners_of(how, share_));
  PartLoads modes;
  for (int m = 0; m < share_.order(); ++m) {
    auto& loads = modes.emplace_back(std::size_t(distribution.num_parts));
    for (const int part : parts[parts.size() == 1 ? 0 : m]) ++loads[part].nonzeros;
    const auto rows = rows_and_parts(m, parts, distribution.num_parts);
    auto lending = add_rows(rows, owners(rows, distribution, m, share_.extent(m)), folds, loads);
    extrapolate(comm_, fraction_, loads);
    lending.add_messages(comm_, folds, loads);
    if (distribution.replicates(m) && loads.size() > 1) replicate(loads);
  }
  return modes;
}

}  // namespace polyad
