#include "polyad/dist/part_loads.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "polyad/base/random.hpp"

namespace polyad {
namespace {

constexpr std::uint64_t sample_seed = 0x5a3b1e;

struct Touch {
  Index row;
  int part;

  friend auto operator<=>(const Touch&, const Touch&) = default;
};

void keep_distinct(std::vector<Touch>& touches) {
  std::ranges::sort(touches);
  const auto repeated = std::ranges::unique(touches);
  touches.erase(repeated.begin(), repeated.end());
}

// Each row's touches to the process that deals with its range of rows.
std::vector<Touch> bring_together(const Comm& comm, std::vector<Touch> mine, Index extent) {
  if (comm.size() == 1) return mine;
  std::vector<Index> counts(std::size_t(comm.size()), 0);
  for (const auto& touch : mine) ++counts[Index(static_cast<__int128>(touch.row) * comm.size() / extent)];
  const auto met_counts = comm.exchange_counts(counts);
  std::vector<Touch> met(std::size_t(std::accumulate(met_counts.begin(), met_counts.end(), Index(0))));
  comm.all_to_all<Touch>(mine, counts, met, met_counts);
  keep_distinct(met);
  return met;
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

LoadPlanner::LoadPlanner(const Comm& comm, const SparseTensor<double>& share, double fraction)
    : comm_(comm), share_(share), fraction_(fraction) {
  for (int m = 0; m < share.order(); ++m) {
    auto& sample = sample_.emplace_back();
    const Random random(sample_seed, std::uint64_t(m));
    for (Index z = 0; z < share.num_nonzeros(); ++z)
      if (fraction >= 1 || random.uniform(std::uint64_t(share.indices(m)[z])) < fraction) sample.push_back(z);
  }
}

RowParts LoadPlanner::rows_and_parts(int mode, const std::vector<Parts>& parts) const {
  const auto indices = share_.indices(mode);
  std::vector<Touch> touches;
  for (const auto& part : parts)
    for (const Index z : sample_[mode])
      if (const Touch touch{indices[z], part[z]}; touches.empty() || touches.back() != touch)
        touches.push_back(touch);
  keep_distinct(touches);
  touches = bring_together(comm_, std::move(touches), share_.extent(mode));
  RowParts result;
  for (const auto& touch : touches) {
    if (result.rows.empty() || result.rows.back() != touch.row) {
      result.rows.push_back(touch.row);
      result.begin.push_back(std::ssize(result.parts));
    }
    result.parts.push_back(touch.part);
  }
  result.begin.push_back(std::ssize(result.parts));
  return result;
}

PartLoads LoadPlanner::loads(const Distribution& distribution) const {
  const bool folds = distribution.scheme != Scheme::coarse;
  std::vector<Parts> parts;
  for (const auto& how : distribution.nonzeros) parts.push_back(owners_of(how, share_));
  PartLoads modes;
  for (int m = 0; m < share_.order(); ++m) {
    auto& loads = modes.emplace_back(std::size_t(distribution.num_parts));
    for (const int part : parts[parts.size() == 1 ? 0 : m]) ++loads[part].nonzeros;
    const auto rows = rows_and_parts(m, parts);
    auto lending = add_rows(rows, owners(rows, distribution, m, share_.extent(m)), folds, loads);
    extrapolate(comm_, fraction_, loads);
    lending.add_messages(comm_, folds, loads);
  }
  return modes;
}

}  // namespace polyad
