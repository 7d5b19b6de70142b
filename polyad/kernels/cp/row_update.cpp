#include "polyad/kernels/cp/row_update.hpp"

#include "polyad/base/parallel.hpp"
#include "polyad/kernels/cp/row_updater.hpp"

namespace polyad::kernels {
namespace {

// Runs fetch(row, to), which puts a row of M into place, over rows and updates them; and keep(row, solved)
// for the new ones.
template <class Real, class Fetch, class Keep>
RowSums update_fetched(const RowSystem& system, Matrix<Real>& factor, const RowRange& range, Fetch fetch,
                       Keep keep) {
  RowSums sums{Matrix<double>(factor.num_cols(), factor.num_cols()), 0};
  with_width(factor.num_cols(), [&](auto width) {
    PartUpdaters<Real, width> updaters(system, factor, static_cast<std::size_t>(num_threads()));
    parallel_parts(range.end - range.begin, [&](Index begin, Index end, int thread) {
      auto& updater = updaters[thread];
      constexpr int batch = RowUpdater<Real, width>::batch;
      for (Index row = begin; row < end; row += batch) {
        Index rows[batch];
        int count = 0;
        for (; count < batch && row + count < end; ++count) {
          rows[count] = range.begin + row + count;
          fetch(rows[count], updater.m(count));
          updater.start_from(count, factor.row(rows[count]).data());
        }
        updater.solve(count, rows);
        for (int b = 0; b < count; ++b) keep(rows[b], updater.a(b));
      }
      updater.settle();
    });
    updaters.add_to(sums);
  });
  return sums;
}

constexpr auto only_in_factor = [](Index, const auto*) {};

// to = the sum of a row over the parts, which become zero; `goes_on`: added to what is there.
template <class Real>
void take_row(PartialRows<Real>& parts, Index row, Real* to, bool goes_on = false) {
  const Index n = parts.num_components();
  for (int p = 0; p < parts.num_parts(); ++p) {
    Real* from = parts.part(p) + row * n;
    for (Index c = 0; c < n; ++c) {
      to[c] = p == 0 && !goes_on ? from[c] : to[c] + from[c];
      from[c] = 0;
    }
  }
}

}  // namespace

void RowSums::operator+=(const RowSums& other) {
  for (std::size_t k = 0; k < gram.flat().size(); ++k) gram.flat()[k] += other.gram.flat()[k];
  inner += other.inner;
}

template <class Real>
PartialRows<Real>::PartialRows(int num_parts, Index max_rows, Index num_components)
    : num_parts_(num_parts),
      num_components_(num_components),
      part_size_((max_rows * num_components + 63) / 64 * 64),  // parts share no cache line
      values_(std::size_t(num_parts * part_size_)) {
  parallel_for(num_parts, [&](Index p) { std::fill_n(part(int(p)), part_size_, Real{}); });
}

template <class Real>
RowSums update_rows(PartialRows<Real>& m, const RowSystem& system, Matrix<Real>& factor, Index num_rows) {
  return update_fetched(
      system, factor, {0, num_rows}, [&](Index row, Real* to) { take_row(m, row, to); }, only_in_factor);
}

template <class Real>
RowSums update_rows(const Matrix<Real>& m, const RowSystem& system, Matrix<Real>& factor,
                    const RowRange& rows) {
  return update_fetched(
      system, factor, rows, [&](Index row, Real* to) { std::ranges::copy(m.row(row - rows.first), to); },
      only_in_factor);
}

template <class Real>
RowSums update_rows_in_both(Matrix<Real>& m, const RowSystem& system, Matrix<Real>& factor,
                            const RowRange& rows) {
  const auto row_of_m = [&](Index row) { return m.row(row - rows.first); };
  return update_fetched(
      system, factor, rows, [&](Index row, Real* to) { std::ranges::copy(row_of_m(row), to); },
      [&](Index row, const Real* a) { std::copy_n(a, m.num_cols(), row_of_m(row).data()); });
}

template <class Real>
void add_up(PartialRows<Real>& parts, Matrix<Real>& m, Index first) {
  parallel_for(m.num_rows(), [&](Index row) { take_row(parts, first + row, m.row(row).data()); });
}

template <class Real>
void add_to(PartialRows<Real>& parts, Matrix<Real>& m) {
  if (parts.num_parts() == 0) return;
  parallel_for(m.num_rows(), [&](Index row) { take_row(parts, row, m.row(row).data(), true); });
}

template <class Real>
Matrix<double> gram(const Matrix<Real>& factor, Index num_rows) {
  const Index n = factor.num_cols();
  std::vector<Matrix<double>> partial(num_threads(), Matrix<double>(n, n));
  parallel_parts(num_rows, [&](Index begin, Index end, int thread) {
    auto& sum = partial[thread];
    for (Index row = begin; row < end; ++row)
      for (Index i = 0; i < n; ++i) {
        const double left = factor(row, i);
        for (Index j = 0; j < n; ++j) sum(i, j) += left * double(factor(row, j));
      }
  });
  Matrix<double> total(n, n);
  for (const auto& sum : partial)
    for (Index k = 0; k < n * n; ++k) total.flat()[k] += sum.flat()[k];
  return total;
}

#define POLYAD_DEFINE_UPDATERS(Width)        \
  template class RowUpdater<float, Width>;   \
  template class RowUpdater<double, Width>;  \
  template class PartUpdaters<float, Width>; \
  template class PartUpdaters<double, Width>;
POLYAD_FOR_WIDTHS(POLYAD_DEFINE_UPDATERS)
#undef POLYAD_DEFINE_UPDATERS

template class PartialRows<float>;
template RowSums update_rows(PartialRows<float>&, const RowSystem&, Matrix<float>&, Index);
template RowSums update_rows(const Matrix<float>&, const RowSystem&, Matrix<float>&, const RowRange&);
template RowSums update_rows_in_both(Matrix<float>&, const RowSystem&, Matrix<float>&, const RowRange&);
template void add_up(PartialRows<float>&, Matrix<float>&, Index);
template void add_to(PartialRows<float>&, Matrix<float>&);
template Matrix<double> gram(const Matrix<float>&, Index);

template class PartialRows<double>;
template RowSums update_rows(PartialRows<double>&, const RowSystem&, Matrix<double>&, Index);
template RowSums update_rows(const Matrix<double>&, const RowSystem&, Matrix<double>&, const RowRange&);
template RowSums update_rows_in_both(Matrix<double>&, const RowSystem&, Matrix<double>&, const RowRange&);
template void add_up(PartialRows<double>&, Matrix<double>&, Index);
template void add_to(PartialRows<double>&, Matrix<double>&);
template Matrix<double> gram(const Matrix<double>&, Index);

}  // namespace polyad::kernels
