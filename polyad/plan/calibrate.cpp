#include "polyad/plan/calibrate.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "polyad/base/array.hpp"
#include "polyad/base/parallel.hpp"
#include "polyad/base/random.hpp"
#include "polyad/base/timings.hpp"
#include "polyad/comm/shared_pages.hpp"
#include "polyad/distributed/row_exchange.hpp"
#include "polyad/kernels/cp/mttkrp.hpp"
#include "polyad/kernels/cp/row_update.hpp"
#include "polyad/kernels/dense/local_contraction.hpp"
#include "polyad/tensor/compact.hpp"

namespace polyad {
namespace {

constexpr Index calibrated_components = 16;
constexpr int repetitions = 5;

// The least time of several runs, all processes beginning together; of the slowest process. Collective.
template <class Fn>
double measure(const Comm& comm, Fn fn) {
  double minimum = std::numeric_limits<double>::infinity();
  for (int r = 0; r < repetitions; ++r) {
    comm.barrier();
    const Stopwatch watch;
    fn();
    minimum = std::min(minimum, comm.all_reduce(watch.seconds(), Reduce::max));
  }
  return minimum;
}

// A matrix of random nonzeros whose second factor has the given size in bytes.
SparseTensor<double, LocalIndex> random_matrix(const Comm& comm, double table_bytes, Index components) {
  constexpr Index num_nonzeros = 1 << 20, num_slices = 1 << 14;
  const auto num_rows = Index(table_bytes / double(components * sizeof(double)));
  SparseTensor<double> x({num_slices, num_rows});
  x.resize(num_nonzeros);
  const Random random(1, std::uint64_t(comm.rank()));
  for (Index z = 0; z < num_nonzeros; ++z) {
    x.indices(0)[z] = Index(random.below(num_slices, std::uint64_t(2 * z)));
    x.indices(1)[z] = Index(random.below(std::uint64_t(num_rows), std::uint64_t(2 * z + 1)));
  }
  std::ranges::fill(x.values(), 1.0);
  return compact<double>(std::move(x)).tensor;
}

const std::vector<std::vector<int>> row_tree{{0, 1}};

// Of an MTTKRP, for each nonzero: of a process.
double measure_nonzero(const Comm& comm, double table_bytes, Index components) {
  const auto tensor = random_matrix(comm, table_bytes, components);
  std::vector<Matrix<double>> factors;
  for (int m = 0; m < 2; ++m) factors.emplace_back(tensor.extent(m), components);
  const auto local = build_format(tensor, Format::csf, row_tree);
  Matrix<double> out(tensor.extent(0), components);
  const double seconds = measure(comm, [&] { kernels::mttkrp<double>(local, factors, 0, out); });
  return seconds / double(tensor.num_nonzeros());
}

// For each row: of a process.
double measure_row(const Comm& comm) {
  constexpr Index num_rows = 200000;
  const Matrix<double> m(num_rows, calibrated_components);
  Matrix<double> factor(num_rows, calibrated_components);
  kernels::RowSystem system;
  system.inverse = Matrix<double>(calibrated_components, calibrated_components);
  const double seconds = measure(comm, [&] { kernels::update_rows(m, system, factor, {0, num_rows}); });
  return seconds / double(num_rows);
}

// For each byte that all threads together read one after the other: of a process.
double measure_streamed_byte(const Comm& comm) {
  constexpr Index num_words = 1 << 23;
  const Array<double> words(std::size_t(num_words), 1.0);
  std::vector<double> sums(std::size_t(num_threads()), 0);
  const double seconds = measure(comm, [&] {
    parallel_parts(num_words, [&](Index begin, Index end, int part) {
      double sum = 0;
#pragma omp simd reduction(+ : sum)
      for (Index i = begin; i < end; ++i) sum += words[i];
      sums[std::size_t(part)] += sum;
    });
  });
  return seconds / double(num_words * Index(sizeof(double)));
}

// To build a tree, for each nonzero: of a process.
double measure_sorted_nonzero(const Comm& comm) {
  const auto tensor = random_matrix(comm, MachineModel::far_bytes, calibrated_components);
  const std::vector<std::vector<int>> other_tree{{1, 0}};
  const double seconds = measure(comm, [&] { build_format(tensor, Format::csf, other_tree); });
  return seconds / double(tensor.num_nonzeros());
}

// What the cost of formats is predicted from: see AlsCost. An MTTKRP takes lines, a node and the bytes of the
// tree for each nonzero, so that two numbers of components tell the lines from the rest.
void measure_thread(const Comm& comm, double near_seconds, double far_seconds, MachineModel& machine) {
  constexpr double minimum = 1e-11;  // where noise would make a difference negative
  constexpr Index more_components = 4 * calibrated_components;
  constexpr double lines = double(calibrated_components * sizeof(double)) / 64;
  constexpr double tree_bytes = sizeof(double) + sizeof(LocalIndex);
  const double threads = num_threads();
  const double more_seconds = measure_nonzero(comm, MachineModel::near_bytes, more_components);
  machine.per_near_line = std::max(minimum, threads * (more_seconds - near_seconds) / (3 * lines));
  const double rest = threads * near_seconds - lines * machine.per_near_line;
  machine.per_far_line = std::max(machine.per_near_line, (threads * far_seconds - rest) / lines);
  machine.per_streamed_byte = threads * measure_streamed_byte(comm);
  machine.per_node = std::max(minimum, rest - tree_bytes * machine.per_streamed_byte);
  machine.per_sorted_nonzero = threads * measure_sorted_nonzero(comm);
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
      : comm_(comm),
        pages_(comm, 2 * num_rows * calibrated_components),
        partial_(2 * num_rows, calibrated_components, pages_.mine()),
        factor_(2 * num_rows, calibrated_components) {
    const int next = (comm.rank() + 1) % comm.size(),
              previous = (comm.rank() + comm.size() - 1) % comm.size();
    plan_.rows.resize(std::size_t(2 * num_rows));
    plan_.num_owned = num_rows;
    plan_.lenders = {{previous, num_rows, 2 * num_rows}};
    plan_.borrowers = {{next, 0, num_rows}};
    for (Index i = 0; i < num_rows; ++i) plan_.lent.push_back(LocalIndex(i * 7 % num_rows));
    std::ranges::fill(partial_.flat(), 0.0);
  }

  // A fold and an expand.
  double seconds() {
    RowExchange<double> exchange(comm_, plan_,
                                 {.partial = partial_,
                                  .factor = factor_,
                                  .num_components = calibrated_components,
                                  .partial_pages = &pages_},
                                 0);
    return measure(comm_, [&] {
      exchange.fold();
      exchange.start_expanding(NewRows::in_both);  // which updates leave there
      exchange.finish_expanding();
    });
  }

 private:
  const Comm& comm_;
  ExchangePlan plan_;
  SharedArray<double> pages_;
  Matrix<double> partial_, factor_;
};

// The cost of copying rows to where a message is packed, for each word: of a process.
double measure_packing(const Comm& comm) {
  constexpr Index num_rows = 100000;
  const Matrix<double> from(num_rows, calibrated_components);
  Matrix<double> to(num_rows, calibrated_components);
  const double seconds = measure(comm, [&] {
    parallel_for(num_rows,
                 [&](Index i) { std::ranges::copy(from.row(i * 7919 % num_rows), to.row(i).begin()); });
  });
  return seconds / double(num_rows * calibrated_components);
}

}  // namespace

MachineModel calibrate(const Comm& comm) {
  MachineModel machine;
  machine.threads = num_threads();
  const double far_seconds = measure_nonzero(comm, MachineModel::far_bytes, calibrated_components);
  // Rows in cache cannot take longer than rows in memory: if they do, other programs delayed the measurement.
  const double near_seconds =
      std::min(far_seconds, measure_nonzero(comm, MachineModel::near_bytes, calibrated_components));
  const double row_seconds = measure_row(comm);
  machine.per_near_gather = near_seconds / calibrated_components;
  machine.per_far_gather = far_seconds / calibrated_components;
  machine.per_row = row_seconds / double(calibrated_components * calibrated_components);
  machine.per_solved_row = num_threads() * row_seconds;
  measure_thread(comm, near_seconds, far_seconds, machine);
  machine.per_packed_word = measure_packing(comm);
  machine.per_flop = measure_flop(comm);
  if (comm.size() == 1) return machine;
  // Two messages each way, of next to nothing, and of much.
  constexpr Index many_rows = 1 << 16;
  const double small = Ring(comm, 1).seconds(), large = Ring(comm, many_rows).seconds();
  const double words = 2.0 * many_rows * calibrated_components;
  machine.per_message = small / 2;
  machine.per_word = std::max(0.0, (large - small) / words - 2 * machine.per_packed_word);
  return comm.broadcast(machine, 0);  // their matrices differ, and with them the time for each nonzero
}

}  // namespace polyad
