#include "polyad/kernels/analysis/congruence.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "polyad/base/parallel.hpp"

namespace polyad::kernels {
namespace {

constexpr Index max_compared_components = 1000;  // pairs grow with the square

// Adds the inner products of pairs of columns, the rows of a block at a time while they are in the cache.
template <class Real>
void add_dots(const Matrix<Real>& factor, std::span<const CongruentPair> pairs, std::vector<double>& sums) {
  constexpr Index block = 256;
  parallel_parts(std::ssize(pairs), [&](Index begin, Index end, int) {
    for (Index row = 0; row < factor.num_rows(); row += block) {
      const Index last = std::min(row + block, factor.num_rows());
      for (Index p = begin; p < end; ++p)
        for (Index i = row; i < last; ++i)
          sums[p] += double(factor(i, pairs[p].first)) * double(factor(i, pairs[p].second));
    }
  });
}

// All pairs of components that have not vanished, with the sign of their effect.
std::vector<CongruentPair> all_pairs(std::span<const double> weights) {
  std::vector<CongruentPair> pairs;
  const Index n = std::min<Index>(std::ssize(weights), max_compared_components);
  for (Index i = 0; i < n; ++i)
    for (Index j = i + 1; j < n; ++j)
      if (weights[i] != 0 && weights[j] != 0)
        pairs.push_back({i, j, weights[i] * weights[j] < 0 ? -1.0 : 1.0});
  return pairs;
}

// Multiplies the cosines of one mode in, and leaves out the pairs that cannot reach the limit any more.
template <class Real>
std::vector<CongruentPair> narrow(const KruskalRows<Real>& model, int mode,
                                  std::vector<CongruentPair> pairs) {
  std::vector<CongruentPair> selves;
  for (Index r = 0; r < model.num_components(); ++r) selves.push_back({r, r, 1});
  std::vector<double> squares(selves.size()), products(pairs.size());
  for_each_block<Real>(model, mode, [&](const RowBlock<Real>& block) {
    add_dots(block.values, selves, squares);
    add_dots(block.values, pairs, products);
  });
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    const double norms = std::sqrt(squares[pairs[p].first] * squares[pairs[p].second]);
    pairs[p].congruence *= norms > 0 ? products[p] / norms : 0;
  }
  std::erase_if(pairs, [](const auto& pair) { return !(std::abs(pair.congruence) > congruence_limit); });
  return pairs;
}

}  // namespace

// The short modes first: few pairs are left when it comes to the long ones.
template <class Real>
std::vector<CongruentPair> find_congruent(const KruskalRows<Real>& model) {
  std::vector<int> modes(model.order());
  std::iota(modes.begin(), modes.end(), 0);
  std::ranges::sort(modes, {}, [&](int m) { return model.num_rows[m]; });
  auto pairs = all_pairs(model.weights);
  for (const int m : modes)
    if (!pairs.empty()) pairs = narrow(model, m, std::move(pairs));
  std::ranges::stable_sort(pairs, std::greater{}, [](const auto& pair) { return std::abs(pair.congruence); });
  return pairs;
}

template std::vector<CongruentPair> find_congruent(const KruskalRows<float>&);
template std::vector<CongruentPair> find_congruent(const KruskalRows<double>&);

}  // namespace polyad::kernels
