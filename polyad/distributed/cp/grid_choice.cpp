#include "polyad/distributed/cp/grid_choice.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include "polyad/distributed/cp/layers.hpp"
#include "polyad/distributed/imbalance.hpp"

namespace polyad {
namespace {

std::vector<int> prime_factors_descending(int n) {
  std::vector<int> primes;
  for (int p = 2; n > 1; ++p)
    for (; n % p == 0; n /= p) primes.push_back(p);
  std::ranges::reverse(primes);
  return primes;
}

}  // namespace

GridShape splatt_grid(std::span<const Index> rows, int num_parts) {
  const double target = double(std::accumulate(rows.begin(), rows.end(), Index(0))) / num_parts;
  std::vector<int> dims(rows.size(), 1);
  for (const int prime : prime_factors_descending(num_parts)) {
    const auto above = [&](std::size_t m) { return double(rows[m]) / dims[m] - target; };
    std::size_t furthest = 0;
    for (std::size_t m = 1; m < rows.size(); ++m)
      if (above(m) > above(furthest)) furthest = m;
    dims[furthest] *= prime;
  }
  return GridShape(dims);
}

std::vector<GridShape> candidate_grids(std::span<const Index> rows, int num_parts, int num_free_primes) {
  const auto primes = prime_factors_descending(num_parts);
  const auto num_given = std::max<std::ptrdiff_t>(0, std::ssize(primes) - num_free_primes);
  std::vector<double> rest(rows.begin(), rows.end());
  const double mean = std::accumulate(rest.begin(), rest.end(), 0.0) / double(rest.size());
  std::vector<int> dims(rows.size(), 1);
  for (std::ptrdiff_t i = 0; i < num_given; ++i) {
    const auto longest = std::ranges::max_element(rest) - rest.begin();
    dims[longest] *= primes[i];
    rest[longest] -= mean;
  }
  const auto free = std::span(primes).subspan(std::size_t(num_given));
  std::vector<GridShape> grids;
  for (const auto& last :
       all_grids(int(rows.size()), std::accumulate(free.begin(), free.end(), 1, std::multiplies<>{}))) {
    auto whole = dims;
    for (std::size_t m = 0; m < whole.size(); ++m) whole[m] *= last.dim(int(m));
    grids.emplace_back(whole);
  }
  return grids;
}

std::optional<int> number_with_small_factors(int num_parts) {
  constexpr int largest = 7;
  const auto is_small = [](int n) { return n < 2 || prime_factors_descending(n).front() <= largest; };
  if (is_small(num_parts)) return std::nullopt;
  int found = num_parts - 1;
  while (!is_small(found)) --found;
  return found;
}

std::vector<GridShape> neighbouring_grids(const GridShape& grid) {
  std::vector<GridShape> found;
  for (int from = 0; from < grid.order(); ++from) {
    auto primes = prime_factors_descending(grid.dim(from));
    const auto repeated = std::ranges::unique(primes);
    primes.erase(repeated.begin(), repeated.end());
    for (const int prime : primes)
      for (int to = 0; to < grid.order(); ++to) {
        if (to == from) continue;
        auto dims = grid.dims();
        dims[from] /= prime;
        dims[to] *= prime;
        found.emplace_back(dims);
      }
  }
  return found;
}

double layer_imbalance(std::span<const SliceProfile> profiles, const GridShape& grid) {
  double sum = 0;
  for (int m = 0; m < grid.order(); ++m) {
    const auto before = profiles[m].nonzeros_before(
        cut_into_layers(profiles[m], grid.dim(m), {LayerPolicy::Kind::set}).begin);
    std::vector<double> nonzeros;
    for (std::size_t l = 1; l < before.size(); ++l) nonzeros.push_back(double(before[l] - before[l - 1]));
    sum += imbalance_ratio(nonzeros);
  }
  return sum / grid.order();
}

GridShape predicted_grid(std::span<const SliceProfile> profiles, int num_parts, int num_free_primes) {
  std::vector<Index> rows;
  for (const auto& profile : profiles) rows.push_back(profile.num_rows());
  const auto grids = candidate_grids(rows, num_parts, num_free_primes);
  std::vector<double> imbalances;
  for (const auto& grid : grids) imbalances.push_back(layer_imbalance(profiles, grid));
  return grids[std::ranges::min_element(imbalances) - imbalances.begin()];
}

}  // namespace polyad
