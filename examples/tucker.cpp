// A Tucker decomposition by the sequentially truncated higher-order SVD (Vannieuwenhoven et al., 2012), of a
// dense tensor that lies on a grid of processes: for every mode the Gram matrix, its strongest eigenvectors
// U, and the tensor multiplied by U^T. Each is one contraction; the Gram matrix is small, so every process
// gets all of it. The tensor here has multilinear ranks 3, 2 and 4 and a little noise: the program checks
// that the core and its factors give it back.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "polyad/base/matrix.hpp"
#include "polyad/base/random.hpp"
#include "polyad/comm/runtime.hpp"
#include "polyad/dense/contract_tensors.hpp"

namespace {

using polyad::dense::DenseTensor, polyad::Index, polyad::Matrix, polyad::ProcessGrid, polyad::Random;

const std::vector<Index> extents{13, 11, 12}, ranks{3, 2, 4};
constexpr double noise = 1e-6;

template <class Fn>
DenseTensor<double> make(const ProcessGrid& grid, std::vector<Index> size, Fn fn) {
  const int order = int(size.size());
  DenseTensor<double> x(grid, std::move(size),
                        polyad::dense::canonical_distribution(order, grid.shape().order()));
  fill(x, fn);
  return x;
}

DenseTensor<double> zeros(const ProcessGrid& grid, std::vector<Index> size) {
  return make(grid, std::move(size), [](auto) { return 0.0; });
}

// Every process gets all of a small tensor.
DenseTensor<double> replicated(const DenseTensor<double>& x) {
  return redistribute(x, {std::vector<polyad::dense::ModeDistribution>(std::size_t(x.order())), {}, {}});
}

struct Eigenpairs {
  std::vector<double> values;
  Matrix<double> vectors;  // one per column
};

// Jacobi's rotations: slow, short and exact for the small matrices here.
Eigenpairs eigenpairs(Matrix<double> a) {
  const Index n = a.num_rows();
  Matrix<double> v(n, n);
  for (Index i = 0; i < n; ++i) v(i, i) = 1;
  for (int sweep = 0; sweep < 30; ++sweep)
    for (Index p = 0; p < n; ++p)
      for (Index q = p + 1; q < n; ++q) {
        const double angle = 0.5 * std::atan2(2 * a(p, q), a(q, q) - a(p, p));
        const double c = std::cos(angle), s = std::sin(angle);
        const auto rotate = [&](double& x, double& y) {
          const double before = x;
          x = c * x - s * y;
          y = s * before + c * y;
        };
        for (Index i = 0; i < n; ++i) rotate(a(i, p), a(i, q));
        for (Index i = 0; i < n; ++i) rotate(a(p, i), a(q, i));
        for (Index i = 0; i < n; ++i) rotate(v(i, p), v(i, q));
      }
  Eigenpairs result{{}, std::move(v)};
  for (Index i = 0; i < n; ++i) result.values.push_back(a(i, i));
  return result;
}

// The strongest eigenvectors of a symmetric tensor of order 2, as one.
DenseTensor<double> strongest(const DenseTensor<double>& gram, Index count) {
  const auto whole = replicated(gram);
  const Index n = gram.extents()[0];
  Matrix<double> local(n, n);
  std::ranges::copy(whole.local(), local.flat().begin());
  const auto pairs = eigenpairs(std::move(local));
  std::vector<Index> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, std::ranges::greater(), [&](Index i) { return pairs.values[std::size_t(i)]; });
  return make(gram.grid(), {n, count},
              [&](std::span<const Index> i) { return pairs.vectors(i[0], order[std::size_t(i[1])]); });
}

struct Tucker {
  DenseTensor<double> core;
  std::vector<DenseTensor<double>> factors;
};

// Y, whose indices are `from`, with its mode m multiplied by the factor, as long as `extent` then.
DenseTensor<double> multiplied(const DenseTensor<double>& y, const std::string& from,
                               const DenseTensor<double>& factor, std::size_t m, const std::string& to,
                               Index extent) {
  auto size = y.extents();
  size[m] = extent;
  auto next = zeros(y.grid(), size);
  const char whole = from[m] == 'r' ? to[m] : from[m];
  indexed(next, to) += indexed(y, from) * indexed(factor, std::string{whole, 'r'});
  return next;
}

Tucker st_hosvd(const DenseTensor<double>& x) {
  Tucker result{x, {}};
  const std::string indices = "ijk";
  for (std::size_t m = 0; m < indices.size(); ++m) {
    auto& y = result.core;
    auto other = indices, reduced = indices;
    other[m] = 'x';
    reduced[m] = 'r';

    // G = Y(m) Y(m)^T
    auto gram = zeros(x.grid(), {y.extents()[m], y.extents()[m]});
    indexed(gram, indices.substr(m, 1) + "x") += indexed(y, indices) * indexed(y, other);
    // U = its strongest eigenvectors
    result.factors.push_back(strongest(gram, ranks[m]));
    // Y = Y x_m U^T
    y = multiplied(y, indices, result.factors[m], m, reduced, ranks[m]);
  }
  return result;
}

DenseTensor<double> expanded(const Tucker& tucker) {
  auto y = tucker.core;
  const std::string indices = "ijk";
  for (std::size_t m = 0; m < indices.size(); ++m) {
    auto reduced = indices;
    reduced[m] = 'r';
    y = multiplied(y, reduced, tucker.factors[m], m, indices, extents[m]);
  }
  return y;
}

// A core and factors of random numbers, multiplied out, and noise.
DenseTensor<double> planted(const ProcessGrid& grid) {
  const auto number = [](std::uint64_t stream) {
    return [stream](std::span<const Index> i) {
      Index place = 0;
      for (const Index at : i) place = place * 100 + at;
      return Random(7, stream).normal(std::uint64_t(place));
    };
  };
  Tucker truth{make(grid, ranks, number(0)), {}};
  for (std::size_t m = 0; m < extents.size(); ++m)
    truth.factors.push_back(make(grid, {extents[m], ranks[m]}, number(m + 1)));
  auto x = expanded(truth);
  const auto disturbance = make(grid, extents, number(9));
  for (std::size_t i = 0; i < x.local().size(); ++i) x.local()[i] += noise * disturbance.local()[i];
  return x;
}

}  // namespace

int main(int argc, char** argv) {
  const polyad::Runtime runtime(argc, argv);
  const auto world = polyad::Comm::world();
  const ProcessGrid grid(world, polyad::GridShape({1, world.size(), 1}));
  const auto x = planted(grid);
  const auto again = expanded(st_hosvd(x));
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < x.local().size(); ++i) {
    difference += std::pow(x.local()[i] - again.local()[i], 2);
    size += std::pow(x.local()[i], 2);
  }
  const double error = std::sqrt(world.all_reduce(difference) / world.all_reduce(size));
  if (world.rank() == 0) std::printf("relative error %.3g of a core of 3 x 2 x 4\n", error);
  return error < 10 * noise ? 0 : 1;
}
