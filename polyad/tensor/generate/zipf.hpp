#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "polyad/tensor/generate/streams.hpp"

namespace polyad {

// Index k of [0, n) with probability proportional to (k + 1)^-s, nearly: the continuous power law x^-s
// on [1, n + 1), rounded down. Its distribution function can be inverted, so one random word gives one
// index, without a table:  x = (1 + u ((n + 1)^(1 - s) - 1))^(1 / (1 - s)),  or (n + 1)^u for s = 1.
class ZipfLaw {
 public:
  ZipfLaw(Index n, double exponent)
      : n_(n),
        exponent_(exponent),
        log_end_(std::log(double(n) + 1)),
        mass_(std::expm1((1 - exponent) * log_end_)) {}

  Index operator()(std::uint64_t bits) const {
    if (exponent_ == 0) return index_below(n_, bits);
    const double u = unit_interval(bits), t = 1 - exponent_;
    // expm1 and log1p keep exponents near 1 exact, where mass_ is tiny.
    const double log_x = t == 0 ? u * log_end_ : std::log1p(u * mass_) / t;
    // Compared as numbers: for large dimensions, x may round to one that no Index holds.
    const double x = std::exp(log_x) - 1;
    return x < double(n_) ? std::min(std::max<Index>(Index(x), 0), n_ - 1) : n_ - 1;
  }

 private:
  Index n_;
  double exponent_, log_end_, mass_;
};

}  // namespace polyad
