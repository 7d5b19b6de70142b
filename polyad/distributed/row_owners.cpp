#include "polyad/distributed/row_owners.hpp"

#include <algorithm>
#include <bit>
#include <cassert>

#include "polyad/base/random.hpp"

namespace polyad {

int RowBlocks::operator()(Index row) const {
  const auto after = std::ranges::upper_bound(begin, row) - begin.begin();
  assert(after > 0 && after <= std::ssize(part));
  return part[after - 1];
}

std::vector<int> RowBlocks::of_ascending(std::span<const Index> rows) const {
  std::vector<int> parts(rows.size());
  for (std::size_t i = 0; i < rows.size();) {
    const auto after = std::ranges::upper_bound(begin, rows[i]) - begin.begin();
    const auto end = after == std::ssize(begin)
                         ? rows.size()
                         : std::size_t(std::ranges::lower_bound(rows, begin[after]) - rows.begin());
    std::fill(parts.begin() + std::ptrdiff_t(i), parts.begin() + std::ptrdiff_t(end), part[after - 1]);
    i = end;
  }
  return parts;
}

ShuffledParts::ShuffledParts(Index count, int num_parts, std::uint64_t seed)
    : count_(count),
      num_parts_(num_parts),
      seed_(seed),
      half_bits_((std::bit_width(std::uint64_t(std::max<Index>(count, 2) - 1)) + 1) / 2) {}

// A Feistel network over the next even number of bits, walked until it lands below count_ again: at most
// four steps on average, since count_ is more than a quarter of what the network permutes.
Index ShuffledParts::shuffled(Index i) const {
  constexpr int num_rounds = 4;
  const std::uint64_t mask = (std::uint64_t(1) << half_bits_) - 1;
  auto x = std::uint64_t(i);
  do {
    std::uint64_t high = x >> half_bits_, low = x & mask;
    for (int round = 0; round < num_rounds; ++round) {
      const std::uint64_t mixed = Random(seed_, std::uint64_t(round)).bits(low)[0] & mask;
      high = std::exchange(low, high ^ mixed);
    }
    x = high << half_bits_ | low;
  } while (x >= std::uint64_t(count_));
  return Index(x);
}

int ShuffledParts::operator()(Index i) const {
  assert(i >= 0 && i < count_);
  return int(static_cast<__int128>(shuffled(i)) * num_parts_ / count_);
}

std::vector<int> RowOwners::of_ascending(std::span<const Index> rows) const {
  if (const auto* blocks = std::get_if<RowBlocks>(&how_)) return blocks->of_ascending(rows);
  std::vector<int> parts(rows.size());
  std::ranges::transform(rows, parts.begin(), [&](Index row) { return (*this)(row); });
  return parts;
}

int ListedRows::operator()(Index row) const {
  if (rows.empty()) return part[row];
  const auto at = std::ranges::lower_bound(rows, row) - rows.begin();
  assert(at < std::ssize(rows) && rows[at] == row);
  return part[at];
}

}  // namespace polyad
