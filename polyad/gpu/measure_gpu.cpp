#include "polyad/gpu/measure_gpu.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

#include "polyad/base/random.hpp"
#include "polyad/base/timings.hpp"
#include "polyad/gpu/als_passes.hpp"
#include "polyad/gpu/check_device.hpp"
#include "polyad/gpu/device.hpp"

namespace polyad::gpu {
namespace {

constexpr Index few_components = 16, more_components = 64;

// The least time of several rounds, after one that warms up, of something that is started many times and then
// waited for: of one time.
template <class Start, class Wait>
double least_seconds(int times, Start start, Wait wait) {
  constexpr int rounds = 5;
  double least = std::numeric_limits<double>::infinity();
  for (int round = 0; round <= rounds; ++round) {
    const Stopwatch watch;
    for (int i = 0; i < times; ++i) start();
    wait();
    if (round > 0) least = std::min(least, watch.seconds() / times);
  }
  return least;
}

// That is read, and that is written.
double copied_byte_seconds(Index bytes) {
  const DeviceArray<std::byte> from(bytes), to(bytes);
  Event done;
  fill_with_zeros(from.data(), bytes);
  const double seconds = least_seconds(
      4, [&] { copy_on_device(to.data(), from.data(), bytes); },
      [&] {
        done.record();
        done.wait();
      });
  return seconds / (2 * double(bytes));
}

double uploaded_byte_seconds(Index bytes) {
  const DeviceArray<std::byte> to(bytes);
  const Array<std::byte> from(std::size_t(bytes), std::byte{1});
  Event done;
  const double seconds = least_seconds(
      1, [&] { copy_to_device(to.data(), from.data(), bytes); },
      [&] {
        done.record();
        done.wait();
      });
  return seconds / double(bytes);
}

CsfTree<double> random_matrix(Index num_nonzeros, Index num_slices, Index num_rows) {
  SparseTensor<double, LocalIndex> x({num_slices, num_rows});
  x.resize(num_nonzeros);
  const Random random(1, 0);
  for (Index z = 0; z < num_nonzeros; ++z) {
    x.indices(0)[z] = LocalIndex(random.below(std::uint64_t(num_slices), std::uint64_t(2 * z)));
    x.indices(1)[z] = LocalIndex(random.below(std::uint64_t(num_rows), std::uint64_t(2 * z + 1)));
  }
  std::ranges::fill(x.values(), 1.0);
  return {std::move(x), {0, 1}};
}

// Passes over a matrix, of which only the first mode is used.
class MatrixPasses {
 public:
  struct Rows {
    Index solved, gathered;  // of the first mode and of the second
  };
  MatrixPasses(int device, const CsfTree<double>& tree, const Rows& rows, Index num_components) {
    system_.inverse = Matrix<double>(num_components, num_components);
    const auto nothing = random_matrix(1, 1, 1);
    const std::vector<ModeNonzeros<double>> modes{{&tree, rows.solved}, {&nothing, rows.gathered}};
    passes_ = make_passes<double>(device, modes, num_components);
    passes_->put_rows(1, Matrix<double>(rows.gathered, num_components));
  }

  void start_sums() { passes_->start_sums(0); }
  void start_update(Index num_rows) { passes_->start_update(0, system_, 0, num_rows); }
  // Of so many rows, and waits for it and for what was started before.
  void update(Index num_rows) {
    start_update(num_rows);
    passes_->finish_update();
  }

 private:
  kernels::RowSystem system_;
  std::unique_ptr<AlsPasses<double>> passes_;
};

// Of random rows from a table, besides what takes to read the nonzeros.
double gathered_byte_seconds(int device, Index num_nonzeros, double table_bytes, double per_copied_byte) {
  const Index num_slices = num_nonzeros / 64;
  constexpr double row_bytes = few_components * sizeof(double);
  const auto num_rows = Index(table_bytes / row_bytes);
  const auto tree = random_matrix(num_nonzeros, num_slices, num_rows);
  MatrixPasses x(device, tree, {num_slices, num_rows}, few_components);
  const double seconds = least_seconds(
      8, [&] { x.start_sums(); }, [&] { x.update(0); });
  constexpr double nonzero_bytes = sizeof(double) + sizeof(LocalIndex) + 1;
  const auto count = double(tree.num_nonzeros());
  const double streamed = per_copied_byte * (count * nonzero_bytes + double(num_slices) * row_bytes);
  return std::max(seconds - streamed, seconds / 2) / (count * row_bytes);
}

// To update a row of so many components.
double solved_row_seconds(int device, Index num_rows, Index num_components) {
  const auto tree = random_matrix(1, 1, 1);
  MatrixPasses x(device, tree, {num_rows, 1}, num_components);
  x.start_sums();
  return least_seconds(
             8, [&] { x.start_update(num_rows); }, [&] { x.update(0); }) /
         double(num_rows);
}

// With next to nothing to compute.
double mode_seconds(int device) {
  const auto tree = random_matrix(1, 1, 1);
  MatrixPasses x(device, tree, {1, 1}, few_components);
  return least_seconds(
      50,
      [&] {
        x.start_sums();
        x.update(1);
      },
      [] {});
}

}  // namespace

GpuModel measure_gpu(int device, Index divisor) {
  check_device(device);
  use_device(device);
  const Index free = free_bytes(device);
  const auto at_most = [&](double bytes, Index share) {
    return std::min(Index(bytes) / divisor, free / share);
  };
  const Index num_nonzeros = (1 << 21) / divisor;
  GpuModel gpu;
  gpu.per_copied_byte = copied_byte_seconds(at_most(1e9, 4));
  gpu.per_uploaded_byte = uploaded_byte_seconds(at_most(128e6, 4));
  gpu.per_far_byte = gathered_byte_seconds(device, num_nonzeros, double(at_most(GpuModel::far_bytes, 4)),
                                           gpu.per_copied_byte);
  gpu.per_near_byte =
      std::min(gpu.per_far_byte,
               gathered_byte_seconds(device, num_nonzeros, GpuModel::near_bytes, gpu.per_copied_byte));
  gpu.per_mode = mode_seconds(device);
  // t(n) = n * entry + n * n * product, for two numbers n of components.
  const Index num_rows = at_most(1 << 20, 4 * more_components * Index(sizeof(double)));
  const double little = solved_row_seconds(device, num_rows, few_components);
  const double much = solved_row_seconds(device, num_rows, more_components);
  constexpr auto n = double(few_components), m = double(more_components);
  gpu.per_solved_product = std::max(0.0, (much - m / n * little) / (m * m - m * n));
  gpu.per_solved_entry = std::max(0.0, little - n * n * gpu.per_solved_product) / n;
  return gpu;
}

}  // namespace polyad::gpu
