#include "polyad/dist/greedy_owners.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>

namespace polyad {
namespace {

// Parts by load, then by number of rows, then by number.
class Loads {
 public:
  Loads(int num_parts, double most) : most_(most), loads_(std::size_t(num_parts)) {
    for (int p = 0; p < num_parts; ++p) order_.insert(key(p));
  }

  int choose(std::span<const int> among) const {
    const int best = *std::ranges::min_element(among, {}, [&](int p) { return key(p); });
    return double(loads_[best].words) > most_ ? std::get<2>(*order_.begin()) : best;
  }

  void give(int part, Index words) {
    order_.erase(key(part));
    loads_[part].words += words;
    ++loads_[part].rows;
    order_.insert(key(part));
  }

 private:
  struct Load {
    Index words = 0, rows = 0;
  };
  using Key = std::tuple<Index, Index, int>;
  Key key(int part) const {
    const auto& load = loads_[part];
    return {load.words, load.rows, part};
  }

  double most_;
  std::vector<Load> loads_;
  std::set<Key> order_;
};

}  // namespace

RowParts invert_touched(std::span<const Index> touched, std::span<const Index> counts) {
  RowParts result;
  result.rows.assign(touched.begin(), touched.end());
  std::ranges::sort(result.rows);
  const auto repeated = std::ranges::unique(result.rows);
  result.rows.erase(repeated.begin(), repeated.end());
  const auto number = [&](Index row) {
    return std::ranges::lower_bound(result.rows, row) - result.rows.begin();
  };
  std::vector<Index> numbers;
  numbers.reserve(touched.size());
  result.begin.assign(result.rows.size() + 1, 0);
  for (const Index row : touched) ++result.begin[numbers.emplace_back(number(row)) + 1];
  std::partial_sum(result.begin.begin(), result.begin.end(), result.begin.begin());
  result.parts.resize(touched.size());
  auto next = result.begin;
  auto at = numbers.begin();
  for (std::size_t part = 0; part < counts.size(); ++part)
    for (Index i = 0; i < counts[part]; ++i) result.parts[next[*at++]++] = int(part);
  return result;
}

std::vector<int> own_greedily(const RowParts& rows, int num_parts, double tolerance) {
  // A row that one part touches stays there. Such rows come last and so decide nothing about the others.
  std::vector<int> owners(std::size_t(rows.num_rows()));
  std::vector<Index> order;
  for (Index i = 0; i < rows.num_rows(); ++i) {
    owners[i] = rows.of(i).front();
    if (rows.of(i).size() > 1) order.push_back(i);
  }
  std::ranges::stable_sort(order, std::ranges::greater{}, [&](Index i) { return rows.of(i).size(); });
  const double total = double(rows.parts.size()) - double(rows.num_rows());
  Loads loads(num_parts, (1 + tolerance) * total / num_parts);
  for (const Index i : order) {
    const auto parts = rows.of(i);
    owners[i] = loads.choose(parts);
    loads.give(owners[i], std::ssize(parts) - 1);
  }
  return owners;
}

RowOwners own_greedily(const Comm& comm, std::span<const Index> touched, int worker) {
  const auto all = comm.gather_varying<Index>(touched, worker);
  std::vector<int> answers;  // to all, in the order in which they were asked
  std::vector<Index> answer_counts(std::size_t(comm.size()), 0), my_counts(answer_counts);
  if (comm.rank() == worker) {
    const auto rows = invert_touched(all.items, all.counts);
    const ListedRows owners{rows.rows, own_greedily(rows, comm.size())};
    for (const Index row : all.items) answers.push_back(owners(row));
    answer_counts = all.counts;
  }
  my_counts[worker] = std::ssize(touched);
  std::vector<int> mine(touched.size());
  comm.all_to_all<int>(answers, answer_counts, mine, my_counts);
  return ListedRows{{touched.begin(), touched.end()}, std::move(mine)};
}

}  // namespace polyad
