#include <algorithm>
#include <cmath>

#include "polyad/base/parallel.hpp"
#include "polyad/tensor/generate/check.hpp"
#include "polyad/tensor/generate/distinct.hpp"
#include "polyad/tensor/generate/permutation.hpp"
#include "polyad/tensor/sort.hpp"

namespace polyad {
namespace {

// Where a component's column is not zero, and what it is there.
struct SparseColumn {
  std::vector<Index> rows;
  std::vector<double> values;
};

std::vector<Index> block_at(const std::vector<Index>& dims, double share) {
  std::vector<Index> block(dims);
  for (Index& length : block) length = std::clamp<Index>(std::llround(share * double(length)), 1, length);
  return block;
}

double volume(const std::vector<Index>& block) {
  double product = 1;
  for (const Index length : block) product *= double(length);
  return product;
}

// A block with about `cells` cells that takes the same share of each mode, and at least one index.
std::vector<Index> block_dims(const std::vector<Index>& dims, double cells) {
  double low = 0, high = 1;
  for (int step = 0; step < 100; ++step) {
    const double middle = (low + high) / 2;
    (volume(block_at(dims, middle)) < cells ? low : high) = middle;
  }
  auto below = block_at(dims, low), above = block_at(dims, high);
  return cells - volume(below) < volume(above) - cells ? below : above;
}

class PlantedBlocks {
 public:
  explicit PlantedBlocks(const PlantedOptions& options)
      : options_(options),
        order_(int(options.dims.size())),
        block_dims_(
            polyad::block_dims(options.dims, double(options.num_nonzeros) / double(options.num_components))),
        columns_(options.num_components * order_),
        weights_(options.num_components, 1) {
    parallel_for(Index(columns_.size()),
                 [&](Index c) { columns_[c] = make_column(c / order_, int(c % order_)); });
    for (Index c = 0; c < Index(columns_.size()); ++c) weights_[c / order_] *= normalise(columns_[c]);
  }

  Kruskal<double> truth() const {
    Kruskal<double> model{weights_, {}};
    for (int m = 0; m < order_; ++m) {
      auto& factor = model.factors.emplace_back(options_.dims[m], options_.num_components);
      for (Index r = 0; r < options_.num_components; ++r)
        for (Index k = 0; k < block_dims_[m]; ++k) factor(column(r, m).rows[k], r) = column(r, m).values[k];
    }
    return model;
  }

  // All cells of all blocks, component after component: a coordinate in two blocks comes twice.
  SparseTensor<double> cells() const {
    SparseTensor<double> x(options_.dims);
    const auto block_cells = Index(volume(block_dims_));
    x.resize(block_cells * options_.num_components);
    parallel_for(x.num_nonzeros(), [&](Index z) { set_cell(x, z, z / block_cells, z % block_cells); });
    return x;
  }

 private:
  const SparseColumn& column(Index r, int mode) const { return columns_[r * order_ + mode]; }

  // Away from zero, so that every part of a block matters.
  SparseColumn make_column(Index r, int mode) const {
    const Index dim = options_.dims[mode], c = r * order_ + mode;
    const RandomPermutation shuffled(dim, random_for(options_.seed, GeneratorStream::support),
                                     c * RandomPermutation::keys_drawn);
    const Random random = random_for(options_.seed, GeneratorStream::factor_value, mode);
    SparseColumn column;
    for (Index k = 0; k < block_dims_[mode]; ++k) {
      column.rows.push_back(shuffled(k));
      column.values.push_back(0.5 + random.uniform(r * block_dims_[mode] + k));
    }
    return column;
  }

  // Scales to 2-norm 1 and returns what the norm was.
  static double normalise(SparseColumn& column) {
    double squares = 0;
    for (const double v : column.values) squares += v * v;
    for (double& v : column.values) v /= std::sqrt(squares);
    return std::sqrt(squares);
  }

  void set_cell(SparseTensor<double>& x, Index z, Index r, Index cell) const {
    double value = weights_[r];
    for (int m = 0; m < order_; ++m) {
      const Index k = cell % block_dims_[m];
      cell /= block_dims_[m];
      x.indices(m)[z] = column(r, m).rows[k];
      value *= column(r, m).values[k];
    }
    x.values()[z] = value;
  }

  const PlantedOptions& options_;
  int order_;
  std::vector<Index> block_dims_;
  std::vector<SparseColumn> columns_;  // by component and mode
  std::vector<double> weights_;
};

void add_noise(SparseTensor<double>& x, double noise, const Random& random) {
  double squares = 0;  // by one thread: the order of a sum decides its last bits
  for (const double v : x.values()) squares += v * v;
  const double deviation = noise * std::sqrt(squares / double(x.num_nonzeros()));
  parallel_for(x.num_nonzeros(), [&](Index z) { x.values()[z] += deviation * random.normal(z); });
}

// From -1.5 to -0.5, and from 0.5 to 1.5.
double away_from_zero(double uniform) {
  return uniform < 0.5 ? -0.5 - 2 * uniform : 2 * uniform - 0.5;
}

// Columns of 2-norm 1, of numbers that vary by a factor of up to three and have either sign; all components
// have about the same size.
Kruskal<double> dense_components(const PlantedOptions& options) {
  Kruskal<double> model{std::vector<double>(std::size_t(options.num_components), 1.0), {}};
  for (int m = 0; m < std::ssize(options.dims); ++m) {
    const Random random = random_for(options.seed, GeneratorStream::factor_value, m);
    auto& factor = model.factors.emplace_back(options.dims[m], options.num_components);
    for (Index k = 0; k < std::ssize(factor.flat()); ++k)
      factor.flat()[k] = away_from_zero(random.uniform(k));
    for (Index r = 0; r < options.num_components; ++r) {
      double squares = 0;
      for (Index i = 0; i < factor.num_rows(); ++i) squares += factor(i, r) * factor(i, r);
      const double norm = std::sqrt(squares);
      for (Index i = 0; i < factor.num_rows(); ++i) factor(i, r) /= norm;
      model.weights[r] *= norm;
    }
  }
  return model;
}

double value_at(const Kruskal<double>& model, const SparseTensor<double>& x, Index z) {
  double sum = 0;
  for (Index r = 0; r < model.num_components(); ++r) {
    double product = model.weights[r];
    for (int m = 0; m < model.order(); ++m) product *= model.factors[m](x.indices(m)[z], r);
    sum += product;
  }
  return sum;
}

Planted generate_observed(const PlantedOptions& options) {
  require_option(options.observed > 0 && options.observed <= 1, "observed", "the share of observed cells",
                 "between 0 and 1");
  require_option(options.num_nonzeros == 0, "num_nonzeros", "the number of nonzeros",
                 "left out where a share of the cells is observed");
  const double cells = std::round(options.observed * volume(options.dims));
  require_option(cells < 0x1p40, "observed", "the number of observed cells", "less than 2^40");
  check_generated_shape(options.dims, Index(cells));
  Planted planted{distinct_draws({.dims = options.dims, .num_nonzeros = Index(cells), .seed = options.seed}),
                  dense_components(options)};
  auto& x = planted.tensor;
  parallel_for(x.num_nonzeros(), [&](Index z) { x.values()[z] = value_at(planted.truth, x, z); });
  return planted;
}

Planted generate_blocks(const PlantedOptions& options) {
  check_generated_shape(options.dims, options.num_nonzeros);
  require_option(options.num_nonzeros >= options.num_components, "num_nonzeros", "the number of nonzeros",
                 "at least the number of components");
  const PlantedBlocks blocks(options);
  Planted planted{blocks.cells(), blocks.truth()};
  sort_nonzeros(planted.tensor, natural_mode_order(planted.tensor.order()));
  merge_duplicates(planted.tensor);
  return planted;
}

}  // namespace

Planted generate_planted(const PlantedOptions& options) {
  require_option(options.num_components >= 1, "num_components", "the number of components", "positive");
  require_option(options.noise >= 0 && std::isfinite(options.noise), "noise", "the noise", "0 or more");
  auto planted = options.observed != 0 ? generate_observed(options) : generate_blocks(options);
  if (options.noise > 0)
    add_noise(planted.tensor, options.noise, random_for(options.seed, GeneratorStream::factor_noise));
  return planted;
}

}  // namespace polyad
