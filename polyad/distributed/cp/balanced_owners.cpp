#include "polyad/distributed/cp/balanced_owners.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <tuple>

namespace polyad {
namespace {

// Parts with which a part exchanges rows that it owns.
class Partners {
 public:
  explicit Partners(int num_parts)
      : of_part_(num_parts <= max_parts_with_partners ? std::size_t(num_parts) : 0),
        chosen_(std::size_t(num_parts + 63) / 64, 0) {}

  // The parts of the row that the following calls are about.
  void begin_row(std::span<const int> parts) {
    for (const int part : parts_) chosen_[part / 64] = 0;
    parts_ = parts;
    for (const int part : parts) chosen_[part / 64] |= bit(part);
  }

  // Number of partners that the owner would get, which is one of the parts.
  int num_new(int owner) const {
    if (of_part_.empty()) return 0;
    const auto& known = of_part_[owner];
    if (known.empty()) return int(parts_.size()) - 1;
    int count = 0;
    if (parts_.size() < chosen_.size())
      for (const int part : parts_) count += (known[part / 64] & bit(part)) == 0 ? 1 : 0;
    else
      for (std::size_t i = 0; i < chosen_.size(); ++i) count += std::popcount(chosen_[i] & ~known[i]);
    return count;
  }

  void add(int owner) {
    if (of_part_.empty()) return;
    auto& known = of_part_[owner];
    if (known.empty()) known.assign(chosen_.size(), 0);
    for (const int part : parts_) known[part / 64] |= bit(part);  // itself too, which needs no message
  }

 private:
  static std::uint64_t bit(int part) { return std::uint64_t(1) << (part % 64); }

  std::vector<std::vector<std::uint64_t>> of_part_;  // [owner][part / 64], empty before it owns a row
  std::vector<std::uint64_t> chosen_;
  std::span<const int> parts_;
};

class BalancedLoads {
 public:
  // `home`: [part], number of rows that it owns because nobody else touches them.
  BalancedLoads(const RowParts& rows, std::span<const Index> shared, std::vector<Index> home, int first)
      : first_(first), sent_(home.size(), 0), owned_(std::move(home)), partners_(int(owned_.size())) {
    Index total = 0, num_rows = std::ssize(shared);
    for (const Index i : shared) {
      for (const int part : rows.of(i)) ++sent_[part];
      total += 2 * (std::ssize(rows.of(i)) - 1);
    }
    for (const Index count : owned_) num_rows += count;
    max_sent_ = limit(total, sent_);
    max_owned_ = limit(num_rows, owned_);
  }

  int choose(std::span<const int> parts) {
    partners_.begin_row(parts);
    int best = parts.front();
    auto least = key(best, parts);
    for (const int part : parts.subspan(1))
      if (const auto other = key(part, parts); other < least) best = part, least = other;
    sent_[best] += std::ssize(parts) - 2;
    ++owned_[best];
    partners_.add(best);
    return best;
  }

 private:
  // Whether a limit is exceeded, new partners, rows sent, rows owned, number from the first on.
  using Key = std::tuple<bool, int, Index, Index, int>;
  Key key(int part, std::span<const int> parts) const {
    const auto count = int(sent_.size());
    const bool exceeds =
        double(sent_[part] + std::ssize(parts) - 2) > max_sent_ || double(owned_[part] + 1) > max_owned_;
    const int rank = part >= first_ ? part - first_ : part - first_ + count;
    return {exceeds, exceeds ? 0 : partners_.num_new(part), sent_[part], owned_[part], rank};
  }

  static double limit(Index total, const std::vector<Index>& already) {
    const double mean = double(total) / double(already.size());
    return std::max((1 + balance_tolerance) * mean, double(std::ranges::max(already)));
  }

  int first_;
  std::vector<Index> sent_, owned_;
  double max_sent_ = 0, max_owned_ = 0;
  Partners partners_;
};

}  // namespace

void own_balanced(const RowParts& rows, std::vector<Index> group, int num_parts, int first,
                  std::vector<int>& owners) {
  std::vector<Index> home(std::size_t(num_parts), 0);
  std::erase_if(group, [&](Index i) {
    const auto parts = rows.of(i);
    if (parts.size() > 1) return false;
    owners[i] = parts.front();
    ++home[parts.front()];
    return true;
  });
  std::ranges::stable_sort(group, std::ranges::greater{}, [&](Index i) { return rows.of(i).size(); });
  BalancedLoads loads(rows, group, std::move(home), first);
  for (const Index i : group) owners[i] = loads.choose(rows.of(i));
}

}  // namespace polyad
