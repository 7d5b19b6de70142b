#include "polyad/dist/repeated_nonzeros.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "polyad/base/array.hpp"
#include "polyad/base/parallel.hpp"

namespace polyad {
namespace {

// What is known of a nonzero where all nonzeros with its hash meet.
struct Claim {
  std::uint64_t hash;
  int part;
};

// Gives claims with equal hashes the part of the first. Two nonzeros that differ and have the same 64 bits
// go to the same part, too: that harms nobody.
void settle(std::span<Claim> claims) {
  std::vector<Index> order(claims.size());
  std::iota(order.begin(), order.end(), Index(0));
  std::ranges::stable_sort(order, {}, [&](Index i) { return claims[i].hash; });
  for (std::size_t i = 1; i < order.size(); ++i) {
    const auto& before = claims[order[i - 1]];
    auto& here = claims[order[i]];
    if (here.hash == before.hash) here.part = before.part;
  }
}

}  // namespace

std::uint64_t coordinate_hash(const SparseTensor<double>& x, Index z) {
  std::uint64_t hash = 0;
  for (int m = 0; m < x.order(); ++m) {
    hash = (hash ^ std::uint64_t(x.indices(m)[z])) * 0x9E3779B97F4A7C15;
    hash ^= hash >> 32;
  }
  return hash;
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

}  // namespace polyad
