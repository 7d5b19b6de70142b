#include "polyad/kernels/ratings/rating_start.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "polyad/base/parallel.hpp"
#include "polyad/base/random.hpp"
#include "polyad/kernels/cp/factor.hpp"

namespace polyad::kernels {
namespace {

// The root mean square of a row's product with another is this squared, with biases; without, the mean.
constexpr double spread_with_biases = 0.1, mean_of_plain = 1;

std::uint64_t stream_of(RatingSide side, Index row) {
  return (side == RatingSide::user ? std::uint64_t(1) : std::uint64_t(2)) << 60 | std::uint64_t(row);
}

double start_entry(const RatingStart& start, RatingSide side, Index row, Index column) {
  const Random random(start.seed, stream_of(side, row));
  const double unit = 1 / std::sqrt(double(start.num_factors));
  return start.has_biases ? spread_with_biases * std::pow(double(start.num_factors), -0.25) *
                                random.normal(std::uint64_t(column))
                          : 2 * mean_of_plain * unit * random.uniform(std::uint64_t(column));
}

}  // namespace

template <class Real>
RatingRows<Real> start_rows(const RatingStart& start, RatingSide side, std::span<const Index> global_rows,
                            Index num_trained) {
  RatingRows<Real> rows;
  rows.factors = Matrix<Real>(std::ssize(global_rows), padded_components(start.num_factors));
  rows.biases.assign(global_rows.size(), Real(0));
  if (start.is_adaptive) rows.squares.assign(global_rows.size(), Real(0));
  parallel_for(num_trained, [&](Index i) {
    const auto row = rows.factors.row(i);
    for (Index c = 0; c < start.num_factors; ++c)
      row[std::size_t(c)] = Real(start_entry(start, side, global_rows[std::size_t(i)], c));
  });
  return rows;
}

template <class Real>
Array<RowPull<Real>> row_pulls(const Shrinkage& shrinkage, std::span<const Index> num_ratings) {
  Array<RowPull<Real>> pulls(num_ratings.size());
  parallel_for(std::ssize(num_ratings), [&](Index i) {
    const Index count = std::max(num_ratings[std::size_t(i)], Index(1));
    pulls[std::size_t(i)] = {Real(shrinkage.of_factors(count)), Real(shrinkage.of_bias(count))};
  });
  return pulls;
}

template <class Real>
RatingRows<Real> resumed_rows(RatingRows<Real> start, const RatingModel<Real>& model,
                              std::span<const Real> squares, RatingSide side, const RatingUnits& units,
                              std::span<const Index> model_rows) {
  const auto& factors = side == RatingSide::user ? model.users : model.items;
  const auto& biases = side == RatingSide::user ? model.user_biases : model.item_biases;
  const Real unit = Real(1 / std::sqrt(units.scale));
  const Real shift = Real(side == RatingSide::user ? (model.mean - units.mean) / units.scale : 0);
  parallel_for(std::ssize(model_rows), [&](Index i) {
    const Index row = model_rows[std::size_t(i)];
    if (row < 0 || row >= factors.num_rows()) return;
    const auto from = factors.row(row);
    const bool is_known = std::ranges::any_of(from, [](Real f) { return f != 0; });
    if (!is_known) return;
    std::ranges::transform(from, start.factors.row(i).begin(), [&](Real f) { return unit * f; });
    if (!biases.empty()) start.biases[i] = biases[row] / Real(units.scale) + shift;
    if (!start.squares.empty() && row < std::ssize(squares)) start.squares[i] = squares[std::size_t(row)];
  });
  return start;
}

template <class Real>
void keep_rows(const ModelSide<Real>& earlier, std::span<const Index> model_rows, Real shift,
               const ModelSideToChange<Real>& now) {
  const auto is_zero = [](Real x) { return x == 0; };
  for (Index row = 0; row < now.factors.num_rows(); ++row) {
    const Index from = model_rows.empty() ? row : model_rows[std::size_t(row)];
    if (from < 0 || from >= earlier.factors.num_rows()) continue;
    if (!std::ranges::all_of(now.factors.row(row), is_zero) ||
        std::ranges::all_of(earlier.factors.row(from), is_zero))
      continue;
    std::ranges::copy(earlier.factors.row(from), now.factors.row(row).begin());
    if (!now.biases.empty() && !earlier.biases.empty()) now.biases[row] = earlier.biases[from] + shift;
    if (!now.squares.empty() && !earlier.squares.empty()) now.squares[row] = earlier.squares[from];
  }
}

template <class Real>
void copy_rows(const RatingRows<Real>& from, RatingRows<Real>& to) {
  if (to.factors.num_rows() != from.factors.num_rows() || to.factors.num_cols() != from.factors.num_cols())
    to.factors = Matrix<Real>(from.factors.num_rows(), from.factors.num_cols());
  const auto source = from.factors.flat();
  parallel_parts(std::ssize(source), [&](Index begin, Index end, int) {
    std::copy(source.begin() + begin, source.begin() + end, to.factors.flat().begin() + begin);
  });
  to.biases = from.biases;
  to.squares = from.squares;
}

template <class Real>
bool are_bounded(const RatingRows<Real>& rows) {
  const auto is_bounded = [](Real x) { return std::abs(x) < Real(1e9); };  // false for NaN
  std::vector<char> parts(std::size_t(num_threads()), 1);
  const auto factors = rows.factors.flat();
  parallel_parts(std::ssize(factors), [&](Index begin, Index end, int thread) {
    parts[std::size_t(thread)] =
        std::all_of(factors.begin() + begin, factors.begin() + end, is_bounded) ? 1 : 0;
  });
  return std::ranges::all_of(parts, [](char part) { return part == 1; }) &&
         std::ranges::all_of(rows.biases, is_bounded);
}

template Array<RowPull<double>> row_pulls(const Shrinkage&, std::span<const Index>);
template Array<RowPull<float>> row_pulls(const Shrinkage&, std::span<const Index>);
template RatingRows<float> start_rows(const RatingStart&, RatingSide, std::span<const Index>, Index);
template RatingRows<double> start_rows(const RatingStart&, RatingSide, std::span<const Index>, Index);
template RatingRows<float> resumed_rows(RatingRows<float>, const RatingModel<float>&, std::span<const float>,
                                        RatingSide, const RatingUnits&, std::span<const Index>);
template RatingRows<double> resumed_rows(RatingRows<double>, const RatingModel<double>&,
                                         std::span<const double>, RatingSide, const RatingUnits&,
                                         std::span<const Index>);
template void keep_rows(const ModelSide<float>&, std::span<const Index>, float,
                        const ModelSideToChange<float>&);
template void keep_rows(const ModelSide<double>&, std::span<const Index>, double,
                        const ModelSideToChange<double>&);
template void copy_rows(const RatingRows<float>&, RatingRows<float>&);
template void copy_rows(const RatingRows<double>&, RatingRows<double>&);
template bool are_bounded(const RatingRows<float>&);
template bool are_bounded(const RatingRows<double>&);

}  // namespace polyad::kernels
