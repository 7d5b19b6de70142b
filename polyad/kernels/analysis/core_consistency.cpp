#include "polyad/kernels/analysis/core_consistency.hpp"

#include <algorithm>
#include <vector>

#include "polyad/base/parallel.hpp"
#include "polyad/kernels/cp/normal_equations.hpp"
#include "polyad/kernels/cp/row_update.hpp"

namespace polyad::kernels {
namespace {

// What threads may take together for cores of their own: 256 MB.
constexpr Index max_partial_entries = Index(1) << 25;

Index num_parts(Index core_entries) {
  return std::clamp<Index>(max_partial_entries / core_entries, 1, num_threads());
}

// Row i of A (A^T A)^+ is column i of A^+.
Matrix<double> transposed_pseudo_inverse(const Matrix<double>& a) {
  const auto inverse = pseudo_inverse(gram(a, a.num_rows()));
  Matrix<double> result(a.num_rows(), a.num_cols());
  parallel_for(a.num_rows(), [&](Index row) {
    for (Index k = 0; k < a.num_cols(); ++k)
      for (Index r = 0; r < a.num_cols(); ++r) result(row, r) += a(row, k) * inverse(k, r);
  });
  return result;
}

// One thread's sums over sorted nonzeros. sums_[l] has num_components ^ (order - l) entries: what the nodes
// of level l below the current node of level l - 1 have come to, a node being a distinct prefix of l + 1
// indices.
class CoreSums {
 public:
  CoreSums(const SparseTensor<double, LocalIndex>& x, std::span<const int> mode_order,
           std::span<const Matrix<double>> inverses)
      : n_(inverses[0].num_cols()), values_(x.values()) {
    std::size_t size = 1;
    for (const int mode : mode_order) {
      indices_.push_back(x.indices(mode));
      inverses_.push_back(&inverses[mode]);
      size *= std::size_t(n_);
    }
    for (std::size_t level = 0; level < mode_order.size(); ++level, size /= std::size_t(n_))
      sums_.emplace_back(size, 0.0);
  }

  Array<double> over(Index begin, Index end) && {
    for (Index z = begin; z < end; ++z) {
      if (z > begin) close_nodes(z - 1, branching_level(z));
      add_scaled(sums_.back(), values_[z], inverses_.back()->row(indices_.back()[z]));
    }
    if (end > begin) close_nodes(end - 1, 0);
    return std::move(sums_[0]);
  }

 private:
  // The first level in which a nonzero's path leaves that of the one before it.
  int branching_level(Index z) const {
    int level = 0;
    while (level + 1 < int(indices_.size()) && indices_[level][z] == indices_[level][z - 1]) ++level;
    return level;
  }

  // Adds the nodes above a nonzero, from the last but one level up to `level`, to their parents.
  void close_nodes(Index z, int level) {
    for (int l = int(indices_.size()) - 2; l >= level; --l) {
      const auto row = inverses_[l]->row(indices_[l][z]);
      auto& below = sums_[l + 1];
      for (Index r = 0; r < n_; ++r)
        add_scaled(std::span(sums_[l]).subspan(std::size_t(r) * below.size(), below.size()), row[r], below);
      std::ranges::fill(below, 0.0);
    }
  }

  static void add_scaled(std::span<double> to, double scale, std::span<const double> from) {
    for (std::size_t k = 0; k < to.size(); ++k) to[k] += scale * from[k];
  }

  Index n_;
  std::span<const double> values_;
  std::vector<std::span<const LocalIndex>> indices_;  // [level]
  std::vector<const Matrix<double>*> inverses_;       // [level]
  std::vector<Array<double>> sums_;                   // [level]
};

}  // namespace

std::optional<Index> num_core_entries(Index num_components, int order) {
  Index entries = 1;
  for (int m = 0; m < order; ++m) {
    entries *= num_components;
    if (entries > max_core_entries) return {};
  }
  return entries;
}

Index core_bytes(Index num_components, int order) {
  const auto entries = num_core_entries(num_components, order);
  return entries ? *entries * num_parts(*entries) * Index(sizeof(double)) : 0;
}

Array<double> tucker_core(const CompactTensor<double>& x, std::span<const int> mode_order,
                          const Kruskal<double>& model) {
  std::vector<Matrix<double>> inverses;
  for (int m = 0; m < model.order(); ++m) {
    auto factor = model.factors[m];
    if (m == 0)
      parallel_for(factor.num_rows(), [&](Index row) {
        for (Index r = 0; r < factor.num_cols(); ++r) factor(row, r) *= model.weights[r] / x.value_scale;
      });
    inverses.push_back(transposed_pseudo_inverse(factor));
  }
  const auto entries = num_core_entries(model.num_components(), model.order()).value_or(max_partial_entries);
  std::vector<Array<double>> parts(static_cast<std::size_t>(num_parts(entries)));
  const Index count = x.tensor.num_nonzeros(), n = std::ssize(parts);
  parallel_for(n, [&](Index p) {
    parts[p] =
        CoreSums(x.tensor, mode_order, inverses).over(part_begin(count, p, n), part_begin(count, p + 1, n));
  });
  for (std::size_t p = 1; p < parts.size(); ++p)
    for (std::size_t k = 0; k < parts[0].size(); ++k) parts[0][k] += parts[p][k];
  return std::move(parts[0]);
}

std::optional<double> core_consistency(const CompactTensor<double>& x, std::span<const int> mode_order,
                                       const Kruskal<double>& model) {
  const Index n = model.num_components();
  const auto entries = num_core_entries(n, model.order());
  if (!entries) return {};
  auto core = tucker_core(x, mode_order, model);
  Index step = 0;  // from one entry of the superdiagonal to the next
  for (int m = 0; m < model.order(); ++m) step = step * n + 1;
  for (Index r = 0; r < n; ++r) core[r * step] -= 1;
  return 100 * (1 - squared_norm<double>(core) / double(n));
}

}  // namespace polyad::kernels
