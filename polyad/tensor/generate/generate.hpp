#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "polyad/base/types.hpp"
#include "polyad/tensor/kruskal.hpp"
#include "polyad/tensor/sparse_tensor.hpp"

namespace polyad {

// Synthetic tensors. Each is a function of its options only, independent
// of the number of threads. Nonzeros are sorted by coordinates, first
// mode first. Invalid options throw Error{bad_option}.

// Whether the indices of a mode are a random permutation, or in the
// order of their frequency (index 0 is then the most frequent).
enum class IndexOrder { shuffled, ordered };

// A tensor drawn at random: each draw falls with the given shares into a dense block, into the corner or
// near the diagonal, and otherwise follows a Zipf law in each mode. The tensor holds the first
// num_nonzeros distinct coordinates drawn, so a smaller one of the same seed is a part of a larger.
// Values are counts: 1, 2, 3, ... with probability 1/2, 1/4, 1/8, ...
struct SkewedOptions {
  std::vector<Index> dims = {};
  Index num_nonzeros = 0;
  std::uint64_t seed = 1;
  IndexOrder index_order = IndexOrder::shuffled;

  std::vector<double> exponents =
      {};  // per mode: frequency of the k-th id ~ k^-exponent; empty or 0: uniform

  // Zipf draws come in fibers along this mode (-1: they do not): the number of draws is geometric with
  // this mean, and they share all other indices.
  int fiber_mode = -1;
  double fiber_mean = 1;

  // Communities: blocks at random places, drawn from uniformly. Longer than a mode means all of it.
  Index num_blocks = 0;
  std::vector<Index> block_dims = {};
  double block_share = 0;

  // A block at index 0 of every mode, likewise.
  std::vector<Index> corner_dims = {};
  double corner_share = 0;

  // Near the diagonal of the first two modes, at an exponential distance with this mean; uniform along
  // it, and Zipf in the other modes.
  double diagonal_share = 0;
  double diagonal_distance = 20;
};

// Throws Error{bad_option} with the number of coordinates if the distribution does not have so many.
SparseTensor<double> generate_skewed(const SkewedOptions& options);

// Options for tensors that resemble public ones: "nell", "netflix", "delicious" or "fb". A scale
// multiplies the dimensions, the nonzeros and the number of blocks (or the size of the corner), which
// keeps the nonzeros per slice and the density of the blocks. Any field may be changed afterwards.
SkewedOptions options_like(const std::string& name, double scale = 1);
const std::vector<std::string>& like_names();

struct PlantedOptions {
  std::vector<Index> dims = {};
  Index num_nonzeros = 0;
  Index num_components = 1;
  double noise = 0;  // standard deviation, relative to the root mean square of the nonzeros
  std::uint64_t seed = 1;
  // Above 0: the components are dense, with entries of either sign, and the tensor has this share of all
  // cells, chosen at random, in place of num_nonzeros; the others are unknown.
  double observed = 0;
};

struct Planted {
  SparseTensor<double> tensor;
  Kruskal<double> truth;  // columns of 2-norm 1
};

// A sparse tensor of low rank whose absent coordinates are exactly zero, so that a
// decomposition can find the truth: each component is a block, with columns that are nonzero
// on a random part of each mode, where they vary by a factor of up to three. The blocks have
// similar shapes and together about num_nonzeros entries; the tensor has fewer where they
// overlap. Noise is added to the nonzeros only; without it, the tensor equals the truth.
Planted generate_planted(const PlantedOptions& options);

// rating = mean + bias of the user + bias of the item + product of their latent factors + noise, rounded
// to halves and kept within 0.5 and 5. Each of these terms is normal (the product nearly so); the options
// give the standard deviations. Together they spread by 1.05, like the ratings of MovieLens.
struct RatingsOptions {
  Index num_users = 0, num_items = 0, num_ratings = 0;
  double user_exponent = 0.6, item_exponent = 0.9;
  int num_factors = 10;
  double mean = 3.5, user_bias = 0.4, item_bias = 0.45, latent = 0.5, noise = 0.70;
  double test_fraction = 0.1;
  std::uint64_t seed = 1;
};

struct Ratings {
  SparseTensor<double> train, test;  // users x items; each rating is in one of them
  double noise_floor = 0;            // root mean square error of the generating model on all ratings
};

Ratings generate_ratings(const RatingsOptions& options);

}  // namespace polyad
