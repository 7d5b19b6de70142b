#pragma once

#include "polyad/kernels/ratings/rating_blocks.hpp"
#include "polyad/tensor/ratings/rating_model.hpp"

namespace polyad::kernels {

// Step size of stochastic gradient descent.
struct SgdStep {
  double size = 0;
  bool moves_biases = true;
  // AdaGrad: a row with past gradients g moves by size / sqrt(1 + sum of |g|^2 per factor).
  bool is_adaptive = false;
  Index num_factors = 1;  // of the model, for AdaGrad
  // Whether the pull acts where the step begins, as published, and not where it ends.
  bool is_explicit = false;
};

// Learns from every rating once, in the order of the blocks. With e = value - biases - <w, h>, of a user's
// row w and an item's row h, both from the values before:
//   w = (w + size e h) / (1 + size pull),  h = (h + size e w) / (1 + size pull)
// and likewise the biases, as if their partner were 1: a step along the error, and back by the pull of the
// row where it ends, so that no pull is too strong. Explicit steps are instead
//   w = (1 - size pull) w + size e h,  h = (1 - size pull) h + size e w
// the gradient of the loss as it is (Abubaker et al. 2023, (2) and (3), with their sign corrected). Returns
// the errors as they were met. The same bits for any number of threads. Values are given without the mean.
template <class Real>
ErrorSums sgd_sweep(const RatingBlocks<Real>& blocks, RatingRows<Real>& users, RatingRows<Real>& items,
                    const RatingPulls<Real>& pulls, const SgdStep& step);

// The errors of ratings, without updates; of predictions that are clipped to a range, which is in the units
// of the values. The same bits for any number of threads.
template <class Real>
ErrorSums rating_errors(std::span<const LocalRating<Real>> ratings, const RatingRows<Real>& users,
                        const RatingRows<Real>& items, const RatingRange& range = {});

namespace ref {
template <class Real>
ErrorSums sgd_sweep(std::span<const LocalRating<Real>> ratings, RatingRows<Real>& users,
                    RatingRows<Real>& items, const RatingPulls<Real>& pulls, const SgdStep& step);
}

}  // namespace polyad::kernels
