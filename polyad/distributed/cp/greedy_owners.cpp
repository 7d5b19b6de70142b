#include "polyad/distributed/cp/greedy_owners.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <set>
#include <tuple>

#include "polyad/distributed/cp/balanced_owners.hpp"

namespace polyad {
namespace {

// Parts by load, then by number of rows, then by number from the first on. Only those with rows are listed.
class BoundedLoads {
 public:
  BoundedLoads(int num_parts, int first, double maximum)
      : first_(first), max_load_(maximum), loads_(std::size_t(num_parts)) {}

  int choose(std::span<const int> among) {
    const int best = *std::ranges::min_element(among, {}, [&](int p) { return key(p); });
    return double(loads_[best].words) > max_load_ ? least_loaded() : best;
  }

  void give(int part, Index words) {
    if (loads_[part].rows > 0) order_.erase(key(part));
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
    const auto count = int(loads_.size());
    return {load.words, load.rows, part >= first_ ? part - first_ : part - first_ + count};
  }
  int part_at(int number) const {
    const int part = number + first_, count = int(loads_.size());
    return part < count ? part : part - count;
  }
  int least_loaded() {
    const auto count = int(loads_.size());
    while (first_without_rows_ < count && loads_[part_at(first_without_rows_)].rows > 0)
      ++first_without_rows_;
    return part_at(first_without_rows_ < count ? first_without_rows_ : std::get<2>(*order_.begin()));
  }

  int first_;
  double max_load_;
  std::vector<Load> loads_;
  int first_without_rows_ = 0;  // no number before it belongs to a part without rows
  std::set<Key> order_;
};

// Random groups of rows, each with at least this number of touches; at most as many groups as parts.
class RowGroups {
 public:
  RowGroups(Index num_touches, int num_parts)
      : count_(int(std::clamp<Index>(num_touches / touches_per_group, 1, num_parts))) {}

  int count() const { return count_; }
  int operator()(Index row) const {
    return int((std::uint64_t(row) * 0x9e3779b97f4a7c15 >> 32) % std::uint64_t(count_));
  }

 private:
  static constexpr Index touches_per_group = Index(1) << 20;
  int count_ = 1;
};

// Finds owners for the rows of a group, which are ascending. A row that one part touches stays there. Such
// rows come last and so decide nothing about the others.
void own_greedily(const RowParts& rows, std::vector<Index> group, int num_parts, int first, double tolerance,
                  std::vector<int>& owners) {
  std::erase_if(group, [&](Index i) {
    owners[i] = rows.of(i).front();
    return rows.of(i).size() == 1;
  });
  Index total = 0;
  for (const Index i : group) total += std::ssize(rows.of(i)) - 1;
  std::ranges::stable_sort(group, std::ranges::greater{}, [&](Index i) { return rows.of(i).size(); });
  BoundedLoads loads(num_parts, first, (1 + tolerance) * double(total) / num_parts);
  for (const Index i : group) {
    const auto parts = rows.of(i);
    owners[i] = loads.choose(parts);
    loads.give(owners[i], std::ssize(parts) - 1);
  }
}

// own(group, first part): owners for the rows of a group. [row of `rows`]
template <class Own>
void own_in_groups(const RowParts& rows, const RowGroups& groups, int num_parts, int mode, const Own& own) {
  std::vector<std::vector<Index>> members(std::size_t(groups.count()));
  for (Index i = 0; i < rows.num_rows(); ++i) members[groups(rows.rows[i])].push_back(i);
  for (int g = 0; g < groups.count(); ++g) own(std::move(members[g]), first_part(mode, g, num_parts));
}

std::vector<int> own_in_groups(const RowParts& rows, const RowGroups& groups, int num_parts, int mode,
                               RowRule rule) {
  std::vector<int> owners(std::size_t(rows.num_rows()));
  own_in_groups(rows, groups, num_parts, mode, [&](std::vector<Index> group, int first) {
    if (rule == RowRule::balanced)
      own_balanced(rows, std::move(group), num_parts, first, owners);
    else
      own_greedily(rows, std::move(group), num_parts, first, greedy_tolerance, owners);
  });
  return owners;
}

// The owners of rows of which each is given by its number, that of its parts, and these; in any order.
std::vector<int> owners_of_words(std::span<const Index> words, const RowGroups& groups, int num_parts,
                                 int mode, RowRule rule) {
  std::vector<Index> at;  // where rows begin
  for (Index w = 0; w < std::ssize(words); w += 2 + words[w + 1]) at.push_back(w);
  std::vector<Index> ascending(at.size());
  std::iota(ascending.begin(), ascending.end(), Index(0));
  std::ranges::sort(ascending, {}, [&](Index i) { return words[at[i]]; });
  RowParts rows;
  for (const Index i : ascending) {
    rows.rows.push_back(words[at[i]]);
    rows.begin.push_back(std::ssize(rows.parts));
    const auto parts = words.subspan(std::size_t(at[i] + 2), std::size_t(words[at[i] + 1]));
    rows.parts.insert(rows.parts.end(), parts.begin(), parts.end());
  }
  rows.begin.push_back(std::ssize(rows.parts));
  const auto found = own_in_groups(rows, groups, num_parts, mode, rule);
  std::vector<int> owners(at.size());
  for (std::size_t k = 0; k < at.size(); ++k) owners[ascending[k]] = found[k];
  return owners;
}

// The owners of rows that parts ask for, as many as counts says each: all parts that touch a row do.
std::vector<int> answer(std::span<const Index> asked, std::span<const Index> counts, const RowGroups& groups,
                        int num_parts, int mode, RowRule rule) {
  const auto rows = invert_touched(asked, counts);
  const ListedRows listed{rows.rows, own_in_groups(rows, groups, num_parts, mode, rule)};
  std::vector<int> answers;
  answers.reserve(asked.size());
  for (const Index row : asked) answers.push_back(listed(row));
  return answers;
}

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

int first_part(int mode, int group, int num_parts) {
  const auto number = std::uint64_t(group) * std::uint64_t(max_order) + std::uint64_t(mode);
  return int((number * 0x9e3779b97f4a7c15 >> 32) % std::uint64_t(num_parts));
}

std::vector<int> own_greedily(const RowParts& rows, int num_parts, int mode, double tolerance) {
  std::vector<int> owners(std::size_t(rows.num_rows()));
  own_in_groups(rows, RowGroups(std::ssize(rows.parts), num_parts), num_parts, mode,
                [&](std::vector<Index> group, int first) {
                  own_greedily(rows, std::move(group), num_parts, first, tolerance, owners);
                });
  return owners;
}

std::vector<int> choose_owners(const RowParts& rows, int num_parts, int mode, RowRule rule) {
  return own_in_groups(rows, RowGroups(std::ssize(rows.parts), num_parts), num_parts, mode, rule);
}

std::vector<int> choose_owners(const Comm& comm, const RowParts& rows, double fraction, int num_parts,
                               int mode, RowRule rule) {
  const auto num_touches = double(comm.all_reduce(std::ssize(rows.parts)));
  const RowGroups groups(Index(num_touches / fraction), num_parts);
  const auto worker = [&](Index i) { return (mode + groups(rows.rows[i])) % comm.size(); };
  std::vector<Index> num_rows(std::size_t(comm.size()), 0), num_words(num_rows);
  for (Index i = 0; i < rows.num_rows(); ++i) {
    ++num_rows[worker(i)];
    num_words[worker(i)] += 2 + std::ssize(rows.of(i));
  }
  // For every row its number, that of its parts, and these; by worker.
  std::vector<Index> next_word(num_words.size()), next_row(num_rows.size());
  std::exclusive_scan(num_words.begin(), num_words.end(), next_word.begin(), Index(0));
  std::exclusive_scan(num_rows.begin(), num_rows.end(), next_row.begin(), Index(0));
  Array<Index> words(std::size_t(std::reduce(num_words.begin(), num_words.end())));
  std::vector<Index> places;  // [row]: of its answer
  for (Index i = 0; i < rows.num_rows(); ++i) {
    places.push_back(next_row[worker(i)]++);
    auto& at = next_word[worker(i)];
    words[at++] = rows.rows[i];
    words[at++] = std::ssize(rows.of(i));
    for (const int part : rows.of(i)) words[at++] = part;
  }
  const auto taken_words = comm.exchange_counts(num_words), taken_rows = comm.exchange_counts(num_rows);
  Array<Index> taken(std::size_t(std::reduce(taken_words.begin(), taken_words.end())));
  comm.all_to_all<Index>(words, num_words, taken, taken_words);
  const auto answers = owners_of_words(taken, groups, num_parts, mode, rule);
  std::vector<int> answered(std::size_t(rows.num_rows())), owners(answered.size());
  comm.all_to_all<int>(answers, taken_rows, answered, num_rows);
  for (std::size_t i = 0; i < owners.size(); ++i) owners[i] = answered[places[i]];
  return owners;
}

RowOwners choose_owners(const Comm& comm, std::span<const Index> touched, int mode, RowRule rule) {
  const RowGroups groups(comm.all_reduce(std::ssize(touched)), comm.size());
  const auto worker = [&](Index row) { return (mode + groups(row)) % comm.size(); };
  std::vector<Index> counts(std::size_t(comm.size()), 0);
  for (const Index row : touched) ++counts[worker(row)];
  std::vector<Index> next(counts.size());
  std::exclusive_scan(counts.begin(), counts.end(), next.begin(), Index(0));
  Array<Index> places(touched.size()), questions(touched.size());  // by worker, and then ascending
  for (std::size_t i = 0; i < touched.size(); ++i) places[i] = next[worker(touched[i])]++;
  for (std::size_t i = 0; i < touched.size(); ++i) questions[places[i]] = touched[i];

  const auto asked_counts = comm.exchange_counts(counts);
  Array<Index> asked(std::size_t(std::reduce(asked_counts.begin(), asked_counts.end())));
  comm.all_to_all<Index>(questions, counts, asked, asked_counts);
  const auto answers = answer(asked, asked_counts, groups, comm.size(), mode, rule);
  std::vector<int> answered(touched.size()), mine(touched.size());
  comm.all_to_all<int>(answers, asked_counts, answered, counts);
  for (std::size_t i = 0; i < touched.size(); ++i) mine[i] = answered[places[i]];
  return ListedRows{{touched.begin(), touched.end()}, std::move(mine)};
}

}  // namespace polyad
