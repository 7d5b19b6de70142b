#include "polyad/kernels/analysis/distances.hpp"

#include <cmath>
#include <limits>

#include "polyad/base/parallel.hpp"
#include "polyad/tensor/compact.hpp"

namespace polyad::kernels {

void move_towards(std::span<double> from, std::span<const double> to, double step) {
  parallel_for(std::ssize(from), [&](Index k) { from[k] += step * (to[k] - from[k]); });
}

double distance(std::span<const double> a, std::span<const double> b) {
  Array<double> difference(a.size());
  parallel_for(std::ssize(a), [&](Index k) { difference[k] = a[k] - b[k]; });
  return std::sqrt(squared_norm<double>(difference));
}

double relative_distance(std::span<const double> a, std::span<const double> b) {
  const double apart = distance(a, b), norm = std::sqrt(squared_norm(b));
  if (apart == 0) return 0;
  return norm > 0 ? apart / norm : std::numeric_limits<double>::infinity();
}

}  // namespace polyad::kernels
