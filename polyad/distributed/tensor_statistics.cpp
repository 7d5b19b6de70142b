#include "polyad/distributed/tensor_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "polyad/base/error.hpp"
#include "polyad/base/parallel.hpp"
#include "polyad/distributed/cp/slice_profile.hpp"
#include "polyad/distributed/move_nonzeros.hpp"
#include "polyad/distributed/repeated_nonzeros.hpp"
#include "polyad/tensor/sort.hpp"

namespace polyad {
namespace {

using Tensor = SparseTensor<double>;

// Moves the nonzeros so that equal coordinates are on one process.
Tensor bring_together(const Comm& comm, Tensor share) {
  if (comm.size() == 1) return share;
  std::vector<int> places(std::size_t(share.num_nonzeros()));
  parallel_for(share.num_nonzeros(),
               [&](Index z) { places[z] = meeting_place(coordinate_hash(share, z), comm.size()); });
  return move_nonzeros(comm, share, places);
}

SliceSummary global_slices(const Comm& comm, const Tensor& x, int mode) {
  SliceSummary total;
  for (const auto& part : comm.all_gather(summarise(count_slices_of_all(comm, x, mode))))
    total = total + part;
  return total;
}

// The extremes of the values and their norm, scaled so that no square overflows.
void describe_values(const Comm& comm, const Tensor& x, TensorStatistics& statistics) {
  if (statistics.num_nonzeros == 0) return;
  double minimum = std::numeric_limits<double>::infinity(), maximum = -minimum;
  for (const double value : x.values()) {
    minimum = std::min(minimum, value);
    maximum = std::max(maximum, value);
  }
  statistics.min_value = comm.all_reduce(minimum, Reduce::min);
  statistics.max_value = comm.all_reduce(maximum, Reduce::max);
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
