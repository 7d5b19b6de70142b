// A GPU for tests on machines without one: its memory is that of the machine, and the threads of its kernels
// run one after the other.
#include "tests/gpu/emulated_device.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "polyad/base/error.hpp"
#include "polyad/gpu/als_kernels.hpp"
#include "polyad/gpu/cell_kernels.hpp"
#include "polyad/gpu/device.hpp"
#include "polyad/gpu/row_copies.hpp"

namespace polyad::gpu {
namespace {

constexpr Index emulated_bytes = Index(1) << 30;
test::EmulatedMemory emulated{emulated_bytes};

// Before every piece of memory is its size.
constexpr Index line = 64;
void* take(Index bytes) {
  auto* const begin =
      static_cast<char*>(std::aligned_alloc(line, std::size_t((bytes + 2 * line - 1) / line * line)));
  std::memcpy(begin, &bytes, sizeof(bytes));
  return begin + line;
}
Index give_back(void* taken) {
  auto* const begin = static_cast<char*>(taken) - line;
  Index bytes = 0;
  std::memcpy(&bytes, begin, sizeof(bytes));
  std::free(begin);
  return bytes;
}

}  // namespace
}  // namespace polyad::gpu

polyad::test::EmulatedMemory& polyad::test::emulated_memory() {
  return gpu::emulated;
}

namespace polyad::gpu {

GpuList list_devices() {
  return {{{"an emulated GPU", emulated_bytes}}, ""};
}
Index free_bytes(int /*index*/) {
  return emulated.size - emulated.in_use;
}
Index block_memory_bytes(int /*index*/) {
  return 166912;  // of an A100
}
bool has_kernels_for(int /*index*/) {
  return true;
}

void use_device(int /*index*/) {}

void* allocate(Index bytes) {
  if (bytes > free_bytes(0)) throw Error(Errc::resource, "out of memory on the GPU");
  emulated.in_use += bytes;
  emulated.most_in_use = std::max(emulated.most_in_use, emulated.in_use);
  return take(bytes);
}
void release(void* memory) noexcept {
  emulated.in_use -= give_back(memory);
}
void* allocate_pinned(Index bytes) {
  return take(bytes);
}
void release_pinned(void* pinned) noexcept {
  give_back(pinned);
}
void copy_to_device(void* to, const void* from, Index bytes) {
  if (bytes > 0) std::memcpy(to, from, std::size_t(bytes));
}
void copy_to_host(void* to, const void* from, Index bytes) {
  copy_to_device(to, from, bytes);
}
void start_copy_to_host(void* to, const void* from, Index bytes) {
  copy_to_device(to, from, bytes);
}
void copy_on_device(void* to, const void* from, Index bytes) {
  copy_to_device(to, from, bytes);
}
void fill_with_zeros(void* to, Index bytes) {
  if (bytes > 0) std::memset(to, 0, std::size_t(bytes));
}

Event::Event() : handle_(nullptr) {}
Event::~Event() = default;
void Event::record() {}
void Event::wait() const {}

Recording::~Recording() = default;
bool Recording::can_record() {
  return false;
}
void Recording::begin() {}
void Recording::end() {}
void Recording::start_record() const {}

FastCopies::FastCopies(std::span<const std::byte> /*memory*/, Access /*access*/) {}
FastCopies::~FastCopies() = default;

template <class Real>
void start_row_copies(const RowCopies<Real>& x, RowAction action) {
  for (Index i = 0; i < x.num_entries(); ++i) copy_entry(x, action, i);
}
template void start_row_copies(const RowCopies<float>&, RowAction);
template void start_row_copies(const RowCopies<double>&, RowAction);

namespace {

template <class Real, int Order>
void sum_chunks(int order, const ChunkView<Real>& x, const RowTables<Real>& tables, Columns<Real>* m,
                Columns<Real>* carries) {
  if constexpr (Order < max_gpu_order)
    if (order > Order) return sum_chunks<Real, Order + 1>(order, x, tables, m, carries);
  for (LocalIndex chunk = 0; chunk < x.num_chunks; ++chunk)
    for (int lane = 0; lane < tables.num_lanes; ++lane)
      sum_chunk<Real, Order>(x, tables, chunk, lane, m, carries);
}

// row += left * matrix
template <class Real>
void add_product(std::span<const Real> left, Real sign, const Columns<Real>* matrix, std::span<Real> row) {
  const auto* entries = reinterpret_cast<const Real*>(matrix);
  for (std::size_t k = 0; k < left.size(); ++k)
    for (std::size_t c = 0; c < row.size(); ++c) row[c] += sign * left[k] * entries[k * row.size() + c];
}

// `rest`: m - a V.
template <class Real>
void descend(const RowUpdate<Real>& x, std::span<Real> rest, std::span<Real> a) {
  const auto n = Index(a.size());
  const std::span<const Real> v(reinterpret_cast<const Real*>(x.v), std::size_t(n * n));
  kernels::descend_nonnegative<Real>(
      n, a.data(), rest.data(), kernels::usual_descent_end<Real>, [&](Index r) { return v[r * n + r]; },
      [&](Real step, Index r) {
        for (Index c = 0; c < n; ++c) rest[c] -= step * v[r * n + c];
      });
}

template <class Real>
std::vector<Real> updated(const RowUpdate<Real>& x, std::span<const Real> m, std::span<const Real> old) {
  std::vector<Real> a(m.size());
  using Kind = kernels::RowSystem::Kind;
  if (x.kind == Kind::solve) {
    add_product<Real>(m, 1, x.inverse, a);
    return a;
  }
  std::vector<Real> rest(m.begin(), m.end());
  for (std::size_t c = 0; c < m.size(); ++c) a[c] = old[c] * reinterpret_cast<const Real*>(x.start)[c];
  if (x.kind == Kind::descend)
    for (Real& entry : a) entry = std::max(entry, Real{});
  add_product<Real>(a, -1, x.v, rest);
  if (x.kind == Kind::descend) descend<Real>(x, rest, a);
  for (std::size_t c = 0; c < m.size(); ++c) a[c] *= reinterpret_cast<const Real*>(x.scale)[c];
  if (x.kind == Kind::correct) add_product<Real>(rest, 1, x.inverse, a);
  return a;
}

// Adds the operands of the cells of a piece.
template <class Real>
void add_piece(const CellView<Real>& cells, const CellPiece& piece, std::span<Real> system) {
  const SystemShape shape{cells.num_unknowns()};
  std::vector<Real> left(std::size_t(shape.columns())), right(left);
  for (Index cell = piece.begin; cell < piece.end; ++cell) {
    for (int u = 0; u < shape.columns(); ++u) cells.operands(cell, u, left[u], right[u]);
    for (int i = 0; i < shape.rows(); ++i)
      for (int j = i; j < shape.columns(); ++j) system[i * shape.columns() + j] += left[i] * right[j];
  }
}

// Gaussian elimination, which leaves the solution in the last column.
template <class Real>
bool eliminate(const SystemShape& shape, std::span<Real> system) {
  const int n = shape.num_unknowns, columns = shape.columns();
  const auto at = [&](int i, int j) -> Real& { return system[i * columns + j]; };
  std::vector<Real> diagonal;
  for (int k = 0; k < n; ++k) diagonal.push_back(at(k, k));
  for (int k = 0; k < n; ++k) {
    if (!is_pivot(at(k, k), diagonal[k])) return false;
    for (int i = k + 1; i < n; ++i) {
      const Real x = at(k, i) / at(k, k);
      for (int j = i; j <= n; ++j) at(i, j) -= x * at(k, j);
    }
  }
  for (int k = n - 1; k >= 0; --k) {
    for (int j = k + 1; j < n; ++j) at(k, n) -= at(k, j) * at(j, n);
    at(k, n) /= at(k, k);
  }
  return true;
}

template <class Real>
void solve_slice(const SystemsView<Real>& x, LocalIndex slice, std::vector<Real> system) {
  const auto shape = x.shape();
  const Index row = x.rows[slice];
  if (x.background != nullptr)
    for (std::size_t e = 0; e < system.size(); ++e) system[e] += x.background[e];
  for (int u = 0; u < shape.num_unknowns; ++u)
    system[u * shape.columns() + u] += u < x.cells.num_factors ? x.ridge[row] : x.bias_ridge[row];
  if (!eliminate<Real>(shape, system)) {
    x.is_singular[slice] = 1;
    return;
  }
  std::vector<Real> solution;
  for (int u = 0; u < shape.num_unknowns; ++u)
    solution.push_back(system[u * shape.columns() + shape.num_unknowns]);
  for (int c = 0; c < x.cells.num_columns; ++c)
    x.factor[row * x.cells.num_columns + c] = x.entry(solution.data(), c);
}

}  // namespace

template <class Real>
void start_chunk_sums(int order, const ChunkView<Real>& x, const RowTables<Real>& tables, Columns<Real>* m,
                      Columns<Real>* carries) {
  sum_chunks<Real, min_order>(order, x, tables, m, carries);
}

template <class Real>
void start_carry_sums(const CarrySum* sums, Index num_sums, int num_lanes, const Columns<Real>* carries,
                      Columns<Real>* to) {
  for (Index s = 0; s < num_sums; ++s)
    for (int lane = 0; lane < num_lanes; ++lane) sum_carries<Real>(sums[s], num_lanes, lane, carries, to);
}

template <class Real>
int start_row_update(const RowUpdate<Real>& x) {
  const auto n = std::size_t(x.num_columns());
  const auto* m = reinterpret_cast<const Real*>(x.m);
  auto* factor = reinterpret_cast<Real*>(x.factor);
  std::fill_n(x.block_sums, num_sums(Index(n)), 0.0);
  for (Index row = x.begin; row < x.end; ++row) {
    const std::span<const Real> of_m(m + row * Index(n), n);
    const auto a = updated<Real>(x, of_m, {factor + row * Index(n), n});
    std::copy(a.begin(), a.end(), factor + row * Index(n));
    double* sum = x.block_sums;
    for (std::size_t top = 0; top < n; top += gram_tile)
      for (std::size_t left = top; left < n; left += gram_tile)
        for (std::size_t i = top; i < top + gram_tile; ++i)
          for (std::size_t j = left; j < left + gram_tile; ++j) *sum++ += double(a[i]) * double(a[j]);
    for (std::size_t c = 0; c < n; ++c) *sum += double(of_m[c]) * double(a[c]);
  }
  return 1;
}

void start_block_sums(const double* block_sums, int num_blocks, Index sums_per_block, double* to) {
  std::fill_n(to, sums_per_block, 0.0);
  for (int block = 0; block < num_blocks; ++block)
    for (Index s = 0; s < sums_per_block; ++s) to[s] += block_sums[block * sums_per_block + s];
}

template <class Real>
void start_row_systems(const SystemsView<Real>& x) {
  const auto size = std::size_t(x.shape().size());
  for (Index p = 0; p < x.num_pieces; ++p) {
    std::vector<Real> system(size);
    add_piece<Real>(x.cells, x.pieces[p], system);
    if (x.pieces[p].partial < 0)
      solve_slice(x, x.pieces[p].slice, std::move(system));
    else
      std::copy(system.begin(), system.end(), x.partial + Index(size) * x.pieces[p].partial);
  }
  for (Index s = 0; s < x.num_cut_slices; ++s) {
    const auto [slice, first, count] = x.cut_slices[s];
    std::vector<Real> system(size);
    for (Index k = first; k < first + count; ++k)
      for (std::size_t e = 0; e < size; ++e) system[e] += x.partial[k * Index(size) + Index(e)];
    solve_slice(x, slice, std::move(system));
  }
}

template <class Real>
void start_cell_errors(const ErrorsView<Real>& x, CellErrorSums* to) {
  for (Index cell = 0; cell < x.cells.num_cells; ++cell) {
    Real m = 0;
    for (int c = 0; c < x.cells.num_columns; ++c)
      m += x.factor[Index(x.row_of[cell]) * x.cells.num_columns + c] * x.cells.product(cell, c);
    auto& sums = to[cell / cells_per_block];
    if (cell % cells_per_block == 0) sums = {};
    const auto errors = x.errors(cell, m);
    for (int i = 0; i < CellErrorSums::count; ++i) sums.x[i] += errors.x[i];
  }
}

template void start_chunk_sums(int, const ChunkView<float>&, const RowTables<float>&, Columns<float>*,
                               Columns<float>*);
template void start_chunk_sums(int, const ChunkView<double>&, const RowTables<double>&, Columns<double>*,
                               Columns<double>*);
template void start_carry_sums(const CarrySum*, Index, int, const Columns<float>*, Columns<float>*);
template void start_carry_sums(const CarrySum*, Index, int, const Columns<double>*, Columns<double>*);
template int start_row_update(const RowUpdate<float>&);
template int start_row_update(const RowUpdate<double>&);
template void start_row_systems(const SystemsView<float>&);
template void start_row_systems(const SystemsView<double>&);
template void start_cell_errors(const ErrorsView<float>&, CellErrorSums*);
template void start_cell_errors(const ErrorsView<double>&, CellErrorSums*);

}  // namespace polyad::gpu
