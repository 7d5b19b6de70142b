#pragma once

#include <array>
#include <vector>

#include "polyad/tensor/generate/generate.hpp"
#include "polyad/tensor/generate/permutation.hpp"
#include "polyad/tensor/generate/zipf.hpp"

namespace polyad {

// The infinite sequence of draws that SkewedOptions describe. Draw d is a function of the
// options and d, so that any part of the sequence can be computed at any time, by any thread.
class SkewedSampler {
 public:
  explicit SkewedSampler(const SkewedOptions& options);  // options must be valid

  // Draws begin to end - 1, in this order, with all threads; the values are the numbers of the draws.
  SparseTensor<double> draws(Index begin, Index end) const;

 private:
  using Coordinates = std::array<Index, max_order>;
  using Words = std::array<std::uint64_t, max_order>;  // random bits, one word per mode
  enum class Kind { block, corner, diagonal, zipf };
  struct Choice {
    Kind kind;
    std::uint64_t detail;  // which block, or whether a fiber begins
  };
  struct Box {
    std::vector<Index> begin, dims;  // by mode
  };
  struct Fiber {
    Coordinates at;
    bool known = false;
  };

  void draw_part(Index begin, Index end, Index first, SparseTensor<double>& out) const;
  Choice choice(Index draw) const;
  Words words(Index draw) const;
  Coordinates along(Fiber& fiber, const Choice& choice, Index draw) const;
  bool begins_fiber(const Choice& choice) const;
  Index fiber_begin(Index draw) const;
  Coordinates off_fiber(const Choice& choice, Index draw) const;
  Coordinates in(const Box& box, const Words& words) const;
  Coordinates near_diagonal(const Words& words) const;
  Index zipf(int mode, std::uint64_t word) const { return label(mode, laws_[mode](word)); }
  Index label(int mode, Index index) const { return labels_.empty() ? index : labels_[mode](index); }

  std::vector<Index> dims_;
  int order_;
  std::uint64_t seed_;
  int fiber_mode_;
  double fiber_mean_, diagonal_distance_;
  double block_end_, corner_end_, diagonal_end_;  // where the kinds' parts of [0, 1) end
  std::vector<ZipfLaw> laws_;                     // by mode
  std::vector<RandomPermutation> labels_;         // by mode; none where labels are ordered
  std::vector<Box> blocks_;
  Box corner_;
};

}  // namespace polyad
