#include "polyad/kernels/analysis/kruskal_values.hpp"

#include <algorithm>
#include <array>

#include "polyad/base/parallel.hpp"

namespace polyad::kernels {
namespace {

constexpr int components_at_once = 8;  // components at a time, in registers
constexpr Index lookahead = 16;        // coordinates whose rows are prefetched
constexpr Index max_lines = 4;         // cache lines of a row to prefetch; the hardware prefetches the others

template <class Real>
void check_shapes(const Kruskal<Real>& model, Coordinates coordinates, Index count) {
  if (int(coordinates.size()) != model.order() || model.order() > max_order)
    throw Error(Errc::internal, "coordinates and model differ in order");
  for (int m = 0; m < model.order(); ++m) {
    if (Index(coordinates[m].size()) != count || model.factors[m].num_cols() != model.num_components())
      throw Error(Errc::internal, "coordinates, model and result do not fit together");
    const Index rows = model.factors[m].num_rows();
    if (!std::ranges::all_of(coordinates[m], [&](Index i) { return i >= 0 && i < rows; }))
      throw Error(Errc::internal, "a coordinate lies outside the model");
  }
}

template <class Real>
class KruskalEntries {
 public:
  KruskalEntries(const Kruskal<Real>& model, Coordinates coordinates)
      : model_(model), coordinates_(coordinates) {}

  // Passes the contributions at coordinate z, in order, to fn(first component, contributions, count).
  template <class Fn>
  void for_each_block(Index z, Fn fn) const {
    std::array<const Real*, max_order> rows;
    for (std::size_t m = 0; m < coordinates_.size(); ++m) rows[m] = row(m, z);
    Index r = 0;
    for (; r + components_at_once <= model_.num_components(); r += components_at_once)
      fn(r, multiply<components_at_once>(rows, r), components_at_once);
    for (; r < model_.num_components(); ++r) fn(r, multiply<1>(rows, r), 1);
  }

  void prefetch(Index z) const {
    constexpr Index line = 64 / sizeof(Real);
    const Index end = std::min(model_.num_components(), max_lines * line);
    for (std::size_t m = 0; m < coordinates_.size(); ++m)
      for (Index r = 0; r < end; r += line) __builtin_prefetch(row(m, z) + r);
  }

 private:
  const Real* row(std::size_t m, Index z) const { return model_.factors[m].row(coordinates_[m][z]).data(); }

  // The contributions of Width components from `first` on. In double, so that many small factors do not
  // vanish.
  template <int Width>
  std::array<double, Width> multiply(const std::array<const Real*, max_order>& rows, Index first) const {
    std::array<double, Width> products;
    for (int c = 0; c < Width; ++c) products[c] = model_.weights[first + c];
    for (std::size_t m = 0; m < coordinates_.size(); ++m)
      for (int c = 0; c < Width; ++c) products[c] *= double(rows[m][first + c]);
    return products;
  }

  const Kruskal<Real>& model_;
  Coordinates coordinates_;
};

}  // namespace

template <class Real>
void evaluate(const Kruskal<Real>& model, Coordinates coordinates, std::span<double> values) {
  const auto count = Index(values.size());
  check_shapes(model, coordinates, count);
  const KruskalEntries<Real> entries(model, coordinates);
  parallel_for(count, [&](Index z) {
    if (z + lookahead < count) entries.prefetch(z + lookahead);
    double sum = 0;
    entries.for_each_block(z, [&](Index, const auto& contributions, int width) {
      for (int c = 0; c < width; ++c) sum += contributions[c];
    });
    values[z] = sum;
  });
}

template <class Real>
Array<double> values_at(const Kruskal<Real>& model, const SparseTensor<double, LocalIndex>& cells,
                        double divisor) {
  std::vector<Array<Index>> columns;
  for (int m = 0; m < cells.order(); ++m)
    columns.emplace_back(cells.indices(m).begin(), cells.indices(m).end());
  const std::vector<std::span<const Index>> coordinates(columns.begin(), columns.end());
  Array<double> values(cells.values().size());
  evaluate<Real>(model, coordinates, values);
  for (double& value : values) value /= divisor;
  return values;
}

template <class Real>
void evaluate_components(const Kruskal<Real>& model, Coordinates coordinates, Matrix<double>& contributions) {
  check_shapes(model, coordinates, contributions.num_rows());
  const KruskalEntries<Real> entries(model, coordinates);
  parallel_for(contributions.num_rows(), [&](Index z) {
    if (z + lookahead < contributions.num_rows()) entries.prefetch(z + lookahead);
    double* const out = contributions.row(z).data();
    entries.for_each_block(z, [&](Index first, const auto& products, int width) {
      for (int c = 0; c < width; ++c) out[first + c] = products[c];
    });
  });
}

void add_components(const Matrix<double>& contributions, std::span<double> values) {
  parallel_for(contributions.num_rows(), [&](Index z) {
    double sum = 0;
    for (const double contribution : contributions.row(z)) sum += contribution;
    values[z] = sum;
  });
}

template <class Real>
double ref::entry(const Kruskal<Real>& model, std::span<const Index> coordinate) {
  double sum = 0;
  for (Index r = 0; r < model.num_components(); ++r) {
    double product = model.weights[r];
    for (int m = 0; m < model.order(); ++m) product *= double(model.factors[m](coordinate[m], r));
    sum += product;
  }
  return sum;
}

template void evaluate(const Kruskal<float>&, Coordinates, std::span<double>);
template Array<double> values_at(const Kruskal<float>&, const SparseTensor<double, LocalIndex>&, double);
template void evaluate_components(const Kruskal<float>&, Coordinates, Matrix<double>&);
template double ref::entry(const Kruskal<float>&, std::span<const Index>);

template void evaluate(const Kruskal<double>&, Coordinates, std::span<double>);
template Array<double> values_at(const Kruskal<double>&, const SparseTensor<double, LocalIndex>&, double);
template void evaluate_components(const Kruskal<double>&, Coordinates, Matrix<double>&);
template double ref::entry(const Kruskal<double>&, std::span<const Index>);

}  // namespace polyad::kernels
