#include "polyad/plan/calibrate.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "polyad/base/array.hpp"
#include "polyad/base/parallel.hpp"
#include "polyad/base/random.hpp"
#include "polyad/base/timings.hpp"
#include "polyad/distributed/row_exchange.hpp"
#include "polyad/kernels/cp/mttkrp.hpp"
#include "polyad/kernels/cp/row_update.hpp"
#include "polyad/kernels/dense/local_contraction.hpp"
#include "polyad/tensor/compact.hpp"

namespace polyad {
namespace {

constexpr Index num_components = 16;
constexpr int repetitions = 5;

// The least time of several runs, all processes beginning together; of the slowest process. Collective.
template <class Fn>
double measure(const Comm& comm, Fn fn) {
  double least = std::numeric_limits<double>::infinity();
  for (int r = 0; r < repetitions; ++r) {
    comm.barrier();
    const Stopwatch watch;
    fn();
    least = std::min(least, comm.all_reduce(watch.seconds(), Reduce::max));
  }
  return least;
}

// For each component of each nonzero, in a matrix whose second factor has this size.
double measure_gather(const Comm& comm, double table_bytes) {
  constexpr Index num_nonzeros = 1 << 20, num_slices = 1 << 14;
  const auto num_rows = Index(table_bytes / double(num_components * sizeof(double)));
  SparseTensor<double> x({num_slices, num_rows});
  x.resize(num_nonzeros);
  const Random random(1, std::uint64_t(comm.rank()));
  for (Index z = 0; z < num_nonzeros; ++z) {
    x.indices(0)[z] = Index(random.below(num_slices, std::uint64_t(2 * z)));
    x.indices(1)[z] = Index(random.below(std::uint64_t(num_rows), std::uint64_t(2 * z + 1)));
  }
  std::ranges::fill(x.values(), 1.0);
  const auto tensor = compact<double>(std::move(x)).tensor;
  std::vector<Matrix<double>> factors;
  for (int m = 0; m < 2; ++m) factors.emplace_back(tensor.extent(m), num_components);
  const auto local = build_format(tensor, Format::csf, {{0, 1}});
  Matrix<double> out(tensor.extent(0), num_components);
  const double seconds = measure(comm, [&] { kernels::mttkrp<double>(local, factors, 0, out); });
  return seconds / double(tensor.num_nonzeros() * num_components);
}

// For each component squared of each row.
double measure_row(const Comm& comm) {
  constexpr Index num_rows = 200000;
  const Matrix<double> m(num_rows, num_components);
  Matrix<double> factor(num_rows, num_components);
  kernels::RowSystem system;
  system.inverse = Matrix<double>(num_components, num_components);
  const double seconds = measure(comm, [&] { update_rows(m, system, factor, {0, num_rows}); });
  return seconds / double(num_rows * num_components * num_components);
}

// A product of matrices as contractions make it, for each multiplication and addition of a thread.
double measure_flop(const Comm& comm) {
  constexpr Index extent = 1024;
  const Array<double> a(std::size_t(extent * extent), 1.0), b(std::size_t(extent * extent), 1.0);
  Array<double> c(std::size_t(extent * extent), 0.0);
  const std::vector<Index> extents{extent, extent};
  const double seconds = measure(comm, [&] {
    kernels::contract<double>({c.data(), {extents, {0, 1}}}, {a.data(), {extents, {0, 2}}},
                              {b.data(), {extents, {2, 1}}});
  });
  return seconds * num_threads() / (2.0 * extent * extent * extent);
}

// Every process lends rows to the next: a message each way between neighbours.
class Ring {
 public:
  Ring(const Comm& comm, Index num_rows)
      : comm_(comm), partial_(2 * num_rows, num_components), factor_(2 * num_rows, num_components) {
    const int next = (comm.rank() + 1) % comm.size(),
              previous = (comm.rank() + comm.size() - 1) % comm.size();
    plan_.rows.resize(std::size_t(2 * num_rows));
    plan_.num_owned = num_rows;
    plan_.lenders = {{previous, num_rows, 2 * num_rows}};
    plan_.borrowers = {{next, 0, num_rows}};
    for (Index i = 0; i < num_rows; ++i) plan_.lent.push_back(LocalIndex(i * 7 % num_rows));
  }

  // A fold and an expand.
  double seconds() {
    RowExchange<double> exchange(comm_, plan_, {partial_, factor_, num_components}, 0);
    return measure(comm_, [&] {
      exchange.fold();
      exchange.start_expanding();
      exchange.finish_expanding();
    });
  }

 private:
  const Comm& comm_;
  ExchangePlan plan_;
  Matrix<double> partial_, factor_;
};

// The cost of copying rows to where a message is packed.
double measure_packing(const Comm& comm) {
  constexpr Index num_rows = 100000;
  const Matrix<double> from(num_rows, num_components);
  Matrix<double> to(num_rows, num_components);
  const double seconds = measure(comm, [&] {
    for (Index i = 0; i < num_rows; ++i) std::ranges::copy(from.row(i * 7919 % num_rows), to.row(i).begin());
  });
  return seconds / double(num_rows * num_components);
}

}  // namespace

MachineModel calibrate(const Comm& comm) {
  MachineModel machine;
  machine.per_near_gather = measure_gather(comm, MachineModel::near_bytes);
  machine.per_far_gather = measure_gather(comm, MachineModel::far_bytes);
  machine.per_row = measure_row(comm);
  machine.per_packed_word = measure_packing(comm);
  machine.per_flop = measure_flop(comm);
  if (comm.size() == 1) return machine;
  // Two messages each way, of next to nothing, and of much.
  constexpr Index many_rows = 1 << 16;
  const double small = Ring(comm, 1).seconds(), large = Ring(comm, many_rows).seconds();
  const double words = 2.0 * many_rows * num_components;
  machine.per_message = small / 2;
  machine.per_word = std::max(0.0, (large - small) / words - 2 * machine.per_packed_word);
  return machine;
}

}  // namespace polyad
