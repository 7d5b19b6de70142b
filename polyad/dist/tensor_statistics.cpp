#include "polyad/dist/tensor_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "polyad/base/error.hpp"
#include "polyad/tensor/sort.hpp"

namespace polyad {
namespace {

using Tensor = SparseTensor<double>;

// Spreads coordinates evenly, whatever their pattern.
int meeting_place(const Tensor& x, Index z, int processes) {
  std::uint64_t hash = 0;
  for (int m = 0; m < x.order(); ++m) {
    hash = (hash ^ std::uint64_t(x.indices(m)[z])) * 0x9E3779B97F4A7C15;
    hash ^= hash >> 32;
  }
  return int((static_cast<unsigned __int128>(hash) * unsigned(processes)) >> 64);
}

// The order in which nonzeros [begin, end) are sent: by receiver, else as they are.
struct Sending {
  std::vector<Index> nonzeros;
  std::vector<Index> counts;  // per receiver
};

Sending plan_sending(const Tensor& x, Index begin, Index end, int processes) {
  Sending plan{{}, std::vector<Index>(std::size_t(processes), 0)};
  std::vector<int> place;
  for (Index z = begin; z < end; ++z) {
    place.push_back(meeting_place(x, z, processes));
    ++plan.counts[place.back()];
  }
  std::vector<Index> next(plan.counts.size(), 0);
  for (std::size_t p = 1; p < next.size(); ++p) next[p] = next[p - 1] + plan.counts[p - 1];
  plan.nonzeros.resize(place.size());
  for (Index z = begin; z < end; ++z) plan.nonzeros[next[place[z - begin]]++] = z;
  return plan;
}

template <class T>
void exchange(const Comm& comm, const Sending& plan, std::span<const T> from,
              std::span<const Index> recv_counts, std::span<T> into) {
  std::vector<T> packed;
  packed.reserve(plan.nonzeros.size());
  for (const Index z : plan.nonzeros) packed.push_back(from[z]);
  comm.all_to_all<T>(packed, plan.counts, into, recv_counts);
}

Index sum(const std::vector<Index>& counts) {
  return std::accumulate(counts.begin(), counts.end(), Index(0));
}

// How many of the nonzeros of all processes will meet on this one.
Index num_meeting(const Comm& comm, const Tensor& share) {
  std::vector<Index> counts(std::size_t(comm.size()), 0);
  for (Index z = 0; z < share.num_nonzeros(); ++z) ++counts[meeting_place(share, z, comm.size())];
  return sum(comm.exchange_counts(counts));
}

// Moves the nonzeros so that equal coordinates are on one process, some at a time.
Tensor bring_together(const Comm& comm, Tensor share) {
  if (comm.size() == 1) return share;
  constexpr Index per_round = Index(1) << 20;
  Tensor met(share.extents());
  met.resize(num_meeting(comm, share));
  Index next = 0;
  const Index rounds = comm.all_reduce((share.num_nonzeros() + per_round - 1) / per_round, Reduce::max);
  for (Index round = 0; round < rounds; ++round) {
    const Index begin = std::min(round * per_round, share.num_nonzeros());
    const Index end = std::min(begin + per_round, share.num_nonzeros());
    const Sending plan = plan_sending(share, begin, end, comm.size());
    const auto recv_counts = comm.exchange_counts(plan.counts);
    const Index arriving = sum(recv_counts);
    for (int m = 0; m < met.order(); ++m)
      exchange<Index>(comm, plan, share.indices(m), recv_counts, met.indices(m).subspan(next, arriving));
    exchange<double>(comm, plan, share.values(), recv_counts, met.values().subspan(next, arriving));
    next += arriving;
  }
  return met;
}

// The slices of one mode, counted over all processes: each gets a range of them to add up.
SliceSummary global_slices(const Comm& comm, const Tensor& x, int mode) {
  const SliceCounts mine = count_slices(x.indices(mode), x.extent(mode));
  if (comm.size() == 1) return summarise(mine);
  std::vector<Index> send_counts(std::size_t(comm.size()), 0);
  for (const Index slice : mine.slices)
    ++send_counts[Index(static_cast<__int128>(slice) * comm.size() / x.extent(mode))];
  const auto recv_counts = comm.exchange_counts(send_counts);
  const Index arriving = sum(recv_counts);
  // A pair (slice, count) is a nonzero of a matrix with one column; equal slices are duplicates.
  Tensor counted({x.extent(mode), 1});
  counted.resize(arriving);
  comm.all_to_all<Index>(mine.slices, send_counts, counted.indices(0), recv_counts);
  Array<Index> counts(std::size_t(arriving), 0);
  comm.all_to_all<Index>(mine.counts, send_counts, counts, recv_counts);
  std::ranges::fill(counted.indices(1), Index(0));
  std::ranges::copy(counts, counted.values().begin());
  sort_nonzeros(counted, natural_mode_order(2));
  merge_duplicates(counted);
  SliceCounts merged;
  merged.slices.assign(counted.indices(0).begin(), counted.indices(0).end());
  merged.counts.assign(counted.values().begin(), counted.values().end());
  SliceSummary total;
  for (const auto& part : comm.all_gather(summarise(merged))) total = total + part;
  return total;
}

// The extremes of the values and their norm, scaled so that no square overflows.
void describe_values(const Comm& comm, const Tensor& x, TensorStatistics& statistics) {
  if (statistics.num_nonzeros == 0) return;
  double least = std::numeric_limits<double>::infinity(), most = -least;
  for (const double value : x.values()) {
    least = std::min(least, value);
    most = std::max(most, value);
  }
  statistics.min_value = comm.all_reduce(least, Reduce::min);
  statistics.max_value = comm.all_reduce(most, Reduce::max);
  statistics.num_zeros = comm.all_reduce(Index(std::ranges::count(x.values(), 0.0)));
  const double scale = std::max(std::abs(statistics.min_value), std::abs(statistics.max_value));
  if (!std::isfinite(scale))  // the values themselves are finite: readers see to that
    throw Error(Errc::bad_input, "duplicate coordinates add up to more than double precision holds");
  double squares = 0;
  for (const double value : x.values()) squares += scale > 0 ? (value / scale) * (value / scale) : 0;
  statistics.norm = scale * std::sqrt(comm.all_reduce(squares));
}

}  // namespace

double TensorStatistics::density() const {
  double result = double(num_nonzeros);
  for (const Index dim : dims) result /= double(dim);
  return result;
}

TensorStatistics compute_statistics(const Comm& comm, SparseTensor<double> share) {
  Tensor x = bring_together(comm, std::move(share));
  sort_nonzeros(x, natural_mode_order(x.order()));
  TensorStatistics statistics;
  statistics.dims = x.extents();
  statistics.num_duplicates = comm.all_reduce(merge_duplicates(x));
  statistics.num_nonzeros = comm.all_reduce(x.num_nonzeros());
  describe_values(comm, x, statistics);
  for (int m = 0; m < x.order(); ++m) statistics.modes.push_back(global_slices(comm, x, m));
  return statistics;
}

}  // namespace polyad
