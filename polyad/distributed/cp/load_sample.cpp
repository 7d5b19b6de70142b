#include "polyad/distributed/cp/load_sample.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "polyad/base/parallel.hpp"
#include "polyad/base/random.hpp"

namespace polyad {
namespace {

constexpr std::uint64_t sample_seed = 0x5a3b1e;
// A mode is short if random nonzeros hit each of its rows this many times for each process, on average.
constexpr double hits_of_short_modes = 16;
constexpr double least_rows = 500;  // that are sampled in a mode that is not short
// Nonzeros of a row for each process, of which a process brings no more to that which deals with the row:
// these touch nearly all parts that all of them do.
constexpr Index hits_of_long_rows = 16;

// A random number for a row of a mode: the same on all processes, and cheap, as it is asked for every
// nonzero.
std::uint64_t row_number(Index row, int mode) {
  auto x = std::uint64_t(row) + 0x9e3779b97f4a7c15 * std::uint64_t(mode + 1);
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// Random places, ascending, with gaps of 1 / fraction on average.
Array<Index> random_places(Index count, double fraction, int rank) {
  const auto widest = std::max<std::uint64_t>(1, std::uint64_t(2 / fraction) - 1);
  const Random random(sample_seed, std::uint64_t(rank));
  Array<Index> places;
  std::uint64_t draws = 0;
  for (Index z = Index(random.below(widest, draws++)); z < count;
       z += 1 + Index(random.below(widest, draws++)))
    places.push_back(z);
  return places;
}

// The nonzeros in the sampled rows of a mode.
Array<Index> places_in_rows(std::span<const Index> indices, int mode, double fraction) {
  const auto limit = fraction < 1 ? std::uint64_t(fraction * 0x1p64) : ~std::uint64_t(0);
  std::vector<Array<Index>> pieces(num_threads());
  parallel_parts(std::ssize(indices), [&](Index begin, Index end, int thread) {
    for (Index z = begin; z < end; ++z)
      if (row_number(indices[z], mode) <= limit) pieces[thread].push_back(z);
  });
  Array<Index> places;
  for (const auto& piece : pieces) places.insert(places.end(), piece.begin(), piece.end());
  return places;
}

// Leaves out most nonzeros of rows that have far more than others: of each row at most `most` remain, at
// even distances. Only where there are so many places that it matters, and where they are moved.
void leave_out_most_of_long_rows(LoadSample::Rows& sampled, std::span<const Index> indices, Index extent,
                                 Index most) {
  if (std::ssize(sampled.places) < std::max(extent / 4, 4 * most)) return;
  Array<Index> counts(static_cast<std::size_t>(extent), 0);
  for (const Index z : sampled.places) ++counts[indices[z]];
  Array<Index> passed(static_cast<std::size_t>(extent), 0), kept;
  for (const Index z : sampled.places) {
    const Index row = indices[z], count = counts[row], k = passed[row]++;
    if (count > most && (k + 1) * most / count == k * most / count) continue;
    kept.push_back(z);
    sampled.weights.push_back(std::max(1.0, double(count) / double(most)));
  }
  sampled.places = std::move(kept);
}

}  // namespace

LoadSample sample_loads(const Comm& comm, const SparseTensor<double>& share, double fraction) {
  LoadSample sample;
  sample.counted = random_places(share.num_nonzeros(), fraction, comm.rank());
  const auto num_counted = double(comm.all_reduce(std::ssize(sample.counted)));
  for (int m = 0; m < share.order(); ++m) {
    const auto extent = double(share.extent(m));
    const bool is_short = hits_of_short_modes * extent * comm.size() <= num_counted;
    auto& rows = sample.rows.emplace_back(
        LoadSample::Rows{{}, {}, is_short ? 1 : std::min(std::max(fraction, least_rows / extent), 1.0)});
    rows.places = is_short ? sample.counted : places_in_rows(share.indices(m), m, rows.fraction);
    if (!is_short && comm.size() > 1)
      leave_out_most_of_long_rows(rows, share.indices(m), share.extent(m), hits_of_long_rows * comm.size());
  }
  if (!sample.counted.empty())
    sample.per_counted = double(share.num_nonzeros()) / double(sample.counted.size());
  return sample;
}

}  // namespace polyad
