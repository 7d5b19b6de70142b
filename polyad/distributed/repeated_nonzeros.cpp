#include "polyad/distributed/repeated_nonzeros.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "polyad/base/array.hpp"
#include "polyad/base/parallel.hpp"
#include "polyad/base/radix_sort.hpp"
#include "polyad/tensor/repeated_cells.hpp"

namespace polyad {
namespace {

// What is known of a nonzero where all nonzeros with its hash meet.
struct Claim {
  std::uint64_t hash;
  int part;
};

// By hash(0), hash(1), ...; equal ones as they came.
template <class Hash>
Array<KeyedPosition> sorted_hashes(Index count, Hash hash) {
  Array<KeyedPosition> items(static_cast<std::size_t>(count));
  parallel_for(count, [&](Index i) { items[i] = {hash(i), i}; });
  radix_sort(items, 64);
  return items;
}

// Gives claims with equal hashes the part of the first. Two nonzeros that differ and have the same 64 bits
// go to the same part, too: that harms nobody.
void settle(std::span<Claim> claims) {
  const auto order = sorted_hashes(std::ssize(claims), [&](Index i) { return claims[i].hash; });
  for (std::size_t i = 1; i < order.size(); ++i)
    if (order[i].key == order[i - 1].key) claims[order[i].position].part = claims[order[i - 1].position].part;
}

bool same_coordinates(const SparseTensor<double>& x, Index y, Index z) {
  for (int m = 0; m < x.order(); ++m)
    if (x.indices(m)[y] != x.indices(m)[z]) return false;
  return true;
}

}  // namespace

std::uint64_t coordinate_hash(const SparseTensor<double>& x, Index z) {
  return cell_hash(x.order(), [&](int mode) { return x.indices(mode)[z]; });
}

int meeting_place(std::uint64_t hash, int processes) {
  return int((static_cast<unsigned __int128>(hash) * unsigned(processes)) >> 64);
}

void follow_first(const Comm& comm, const SparseTensor<double>& share, std::span<int> parts) {
  const Index count = share.num_nonzeros();
  std::vector<Index> counts(std::size_t(comm.size()), 0);
  for (Index z = 0; z < count; ++z) ++counts[meeting_place(coordinate_hash(share, z), comm.size())];
  std::vector<Index> next(counts.size()), sent(static_cast<std::size_t>(count));
  std::exclusive_scan(counts.begin(), counts.end(), next.begin(), Index(0));
  Array<Claim> claims(static_cast<std::size_t>(count));
  for (Index z = 0; z < count; ++z) {
    const auto hash = coordinate_hash(share, z);
    const auto at = next[meeting_place(hash, comm.size())]++;
    claims[at] = {hash, parts[z]};
    sent[at] = z;
  }
  const auto met_counts = comm.exchange_counts(counts);
  Array<Claim> met(std::size_t(std::accumulate(met_counts.begin(), met_counts.end(), Index(0))));
  comm.all_to_all<Claim>(claims, counts, met, met_counts);
  settle(met);
  comm.all_to_all<Claim>(met, met_counts, claims, counts);
  parallel_for(count, [&](Index i) { parts[sent[i]] = claims[i].part; });
}

std::vector<Index> find_repeated(const SparseTensor<double>& x) {
  const auto order = sorted_hashes(x.num_nonzeros(), [&](Index z) { return coordinate_hash(x, z); });
  std::vector<Index> repeated, first;  // `first`: those with this hash that differ, nearly always one
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || order[i].key != order[i - 1].key) first.clear();
    const Index z = order[i].position;
    if (std::ranges::any_of(first, [&](Index y) { return same_coordinates(x, y, z); }))
      repeated.push_back(z);
    else
      first.push_back(z);
  }
  std::ranges::sort(repeated);
  return repeated;
}

}  // namespace polyad
