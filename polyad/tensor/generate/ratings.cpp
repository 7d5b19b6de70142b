#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "polyad/base/parallel.hpp"
#include "polyad/tensor/generate/check.hpp"
#include "polyad/tensor/generate/distinct.hpp"
#include "polyad/tensor/generate/streams.hpp"

namespace polyad {
namespace {

void check(const RatingsOptions& options) {
  check_generated_shape({options.num_users, options.num_items}, options.num_ratings,
                        {options.num_users < 1 ? "num_users" : "num_items", "num_ratings"});
  require_option(options.user_exponent >= 0 && std::isfinite(options.user_exponent), "user_exponent",
                 "each Zipf exponent", "0 or more");
  require_option(options.item_exponent >= 0 && std::isfinite(options.item_exponent), "item_exponent",
                 "each Zipf exponent", "0 or more");
  require_option(options.num_factors >= 0, "num_factors", "the number of latent factors", "0 or more");
  const std::array deviations{std::pair(options.user_bias, "user_bias"),
                              std::pair(options.item_bias, "item_bias"), std::pair(options.latent, "latent"),
                              std::pair(options.noise, "noise")};
  for (const auto& [deviation, field] : deviations)
    require_option(deviation >= 0 && std::isfinite(deviation), field, "each standard deviation", "0 or more");
  require_option(std::isfinite(options.mean), "mean", "the mean rating", "a number");
  require_option(options.test_fraction >= 0 && options.test_fraction <= 1, "test_fraction",
                 "the fraction held out", "between 0 and 1");
}

std::vector<double> normals(Index n, double deviation, const Random& random) {
  std::vector<double> x(n);
  parallel_for(n, [&](Index i) { x[i] = deviation * random.normal(i); });
  return x;
}

// What the ratings would be without noise and rounding.
class NoiselessRatings {
 public:
  explicit NoiselessRatings(const RatingsOptions& o)
      : mean_(o.mean),
        num_factors_(o.num_factors),
        user_bias_(normals(o.num_users, o.user_bias, random_for(o.seed, GeneratorStream::user_bias))),
        item_bias_(normals(o.num_items, o.item_bias, random_for(o.seed, GeneratorStream::item_bias))) {
    // A sum of F products of two normals of deviation s has variance F s^4.
    const double s = std::pow(o.latent * o.latent / std::max(o.num_factors, 1), 0.25);
    users_ = normals(o.num_users * o.num_factors, s, random_for(o.seed, GeneratorStream::user_factor));
    items_ = normals(o.num_items * o.num_factors, s, random_for(o.seed, GeneratorStream::item_factor));
  }

  double operator()(Index user, Index item) const {
    double rating = mean_ + user_bias_[user] + item_bias_[item];
    for (Index f = 0; f < num_factors_; ++f)
      rating += users_[user * num_factors_ + f] * items_[item * num_factors_ + f];
    return rating;
  }

 private:
  double mean_;
  Index num_factors_;
  std::vector<double> user_bias_, item_bias_, users_, items_;
};

double to_halves(double rating) {
  return std::clamp(std::round(2 * rating) / 2, 0.5, 5.0);
}

SkewedOptions who_rates_what(const RatingsOptions& options) {
  SkewedOptions pairs;
  pairs.dims = {options.num_users, options.num_items};
  pairs.num_nonzeros = options.num_ratings;
  pairs.seed = options.seed;
  pairs.exponents = {options.user_exponent, options.item_exponent};
  return pairs;
}

SparseTensor<double> selected(const SparseTensor<double>& x, const std::vector<char>& held_out, bool wanted) {
  std::vector<Index> positions;
  for (Index z = 0; z < x.num_nonzeros(); ++z)
    if (bool(held_out[z]) == wanted) positions.push_back(z);
  SparseTensor<double> out(x.extents());
  out.resize(Index(positions.size()));
  parallel_for(out.num_nonzeros(), [&](Index k) {
    for (int m = 0; m < x.order(); ++m) out.indices(m)[k] = x.indices(m)[positions[k]];
    out.values()[k] = x.values()[positions[k]];
  });
  return out;
}

double root_mean_square(const std::vector<double>& x) {
  double squares = 0;  // by one thread: the order of a sum decides its last bits
  for (const double v : x) squares += v * v;
  return x.empty() ? 0 : std::sqrt(squares / double(x.size()));
}

}  // namespace

Ratings generate_ratings(const RatingsOptions& options) {
  check(options);
  auto x = distinct_draws(who_rates_what(options));
  const NoiselessRatings model(options);
  const Random noise = random_for(options.seed, GeneratorStream::rating_noise);
  const Random split = random_for(options.seed, GeneratorStream::held_out);
  std::vector<double> errors(x.num_nonzeros());
  std::vector<char> held_out(x.num_nonzeros());
  parallel_for(x.num_nonzeros(), [&](Index z) {
    const auto draw = std::uint64_t(x.values()[z]);
    const double exact = model(x.indices(0)[z], x.indices(1)[z]);
    x.values()[z] = to_halves(exact + options.noise * noise.normal(draw));
    errors[z] = std::clamp(exact, 0.5, 5.0) - x.values()[z];
    held_out[z] = split.uniform(draw) < options.test_fraction;
  });
  return {selected(x, held_out, false), selected(x, held_out, true), root_mean_square(errors)};
}

}  // namespace polyad
