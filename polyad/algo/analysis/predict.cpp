#include "polyad/algo/analysis/predict.hpp"

#include <algorithm>
#include <cmath>

#include "polyad/base/error.hpp"

namespace polyad {
namespace {

std::vector<Index> coordinate_at(kernels::Coordinates coordinates, Index z) {
  std::vector<Index> coordinate;
  for (const auto& column : coordinates) coordinate.push_back(column[z]);
  return coordinate;
}

void check_finite(kernels::Coordinates coordinates, std::span<const double> numbers,
                  const std::string& what) {
  const Index z = kernels::first_not_finite(numbers);
  if (z < 0) return;
  std::string place;
  for (const Index index : coordinate_at(coordinates, z)) place += ' ' + std::to_string(index + 1);
  throw Error(Errc::bad_input, "the " + what + " at" + place + " is beyond what double precision holds");
}

}  // namespace

std::optional<double> PredictionSummary::relative_error() const {
  if (residuals.largest == 0) return 0;
  if (values.largest == 0) return {};
  return residuals.largest / values.largest * std::sqrt(residuals.squares / values.squares);
}

template <class Real>
Predictor<Real>::Predictor(const Kruskal<Real>& model, const PredictorOptions& options)
    : model_(model), options_(options) {
  summary_.has_values = options.has_values;
}

template <class Real>
Index Predictor<Real>::batch_size() const {
  constexpr Index max_numbers = Index(1) << 22;
  const Index per_coordinate = options_.contributions ? model_.num_components() : 8;
  return std::max<Index>(max_numbers / per_coordinate, 1);
}

template <class Real>
void Predictor<Real>::evaluate(kernels::Coordinates coordinates) {
  if (!options_.contributions) return kernels::evaluate(model_, coordinates, std::span(batch_.predictions));
  const Index count = std::ssize(coordinates[0]);
  if (batch_.contributions.num_rows() != count)
    batch_.contributions = Matrix<double>(count, model_.num_components());
  kernels::evaluate_components(model_, coordinates, batch_.contributions);
  kernels::add_components(batch_.contributions, batch_.predictions);
}

template <class Real>
bool Predictor<Real>::is_inside(kernels::Coordinates coordinates, Index z) const {
  return coordinates[0][z] < model_.factors[0].num_rows() && coordinates[1][z] < model_.factors[1].num_rows();
}

template <class Real>
std::array<double, 2> Predictor<Real>::biases_at(kernels::Coordinates coordinates, Index z) const {
  const auto &users = model_.factors[0], &items = model_.factors[1];
  const Index user = coordinates[0][z], item = coordinates[1][z], last = model_.num_components() - 1;
  return {user < users.num_rows() ? double(users(user, last - 1)) : 0,
          item < items.num_rows() ? double(items(item, last)) : *options_.mean};
}

// All are evaluated, those beyond the model at its first coordinate; their predictions are then replaced.
template <class Real>
void Predictor<Real>::estimate_unknown(kernels::Coordinates coordinates) {
  std::vector<Index> unknown;
  for (Index z = 0; z < std::ssize(coordinates[0]); ++z)
    if (!is_inside(coordinates, z)) unknown.push_back(z);
  summary_.num_estimated += std::ssize(unknown);
  if (unknown.empty()) return evaluate(coordinates);
  std::vector<Array<Index>> inside;
  for (const auto& column : coordinates) inside.emplace_back(column.begin(), column.end());
  for (auto& column : inside)
    for (const Index z : unknown) column[z] = 0;
  const std::vector<std::span<const Index>> columns(inside.begin(), inside.end());
  evaluate(columns);
  for (const Index z : unknown) {
    const auto biases = biases_at(coordinates, z);
    batch_.predictions[z] = biases[0] + biases[1];
    if (!options_.contributions) continue;
    const auto row = batch_.contributions.row(z);
    std::ranges::fill(row, 0.0);
    std::ranges::copy(biases, row.end() - 2);
  }
}

template <class Real>
void Predictor<Real>::clip() {
  for (double& prediction : batch_.predictions) {
    const double clipped = options_.range.clip(prediction);
    summary_.num_clipped += clipped != prediction ? 1 : 0;
    prediction = clipped;
  }
}

template <class Real>
const PredictedBatch& Predictor<Real>::predict(kernels::Coordinates coordinates,
                                               std::span<const double> values) {
  const std::size_t count = coordinates[0].size();
  batch_.predictions.resize(count);
  if (options_.mean)
    estimate_unknown(coordinates);
  else
    evaluate(coordinates);
  check_finite(coordinates, batch_.predictions, "prediction");
  clip();
  summary_.num_coordinates += Index(count);
  if (!options_.has_values) return batch_;
  batch_.residuals.resize(count);
  kernels::subtract(values, batch_.predictions, batch_.residuals);
  check_finite(coordinates, batch_.residuals, "residual");
  summary_.values = merge(summary_.values, kernels::measure(values));
  summary_.residuals = merge(summary_.residuals, kernels::measure(batch_.residuals));
  remember_largest(coordinates, values);
  return batch_;
}

template <class Real>
void Predictor<Real>::remember_largest(kernels::Coordinates coordinates, std::span<const double> values) {
  auto& largest = summary_.largest;
  for (const Index z : kernels::largest_places(batch_.residuals, options_.num_largest))
    largest.push_back({coordinate_at(coordinates, z), batch_.predictions[z], values[z], batch_.residuals[z]});
  std::ranges::stable_sort(largest, std::greater<>(), [](const auto& r) { return std::abs(r.residual); });
  if (Index(largest.size()) > options_.num_largest) largest.resize(std::size_t(options_.num_largest));
}

template class Predictor<float>;
template class Predictor<double>;

}  // namespace polyad
