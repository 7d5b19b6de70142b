#include "polyad/tensor/generate/sampler.hpp"

#include <algorithm>
#include <cmath>

#include "polyad/base/parallel.hpp"

namespace polyad {
namespace {

std::vector<Index> clipped(std::vector<Index> box, const std::vector<Index>& dims) {
  for (std::size_t m = 0; m < box.size(); ++m) box[m] = std::min(box[m], dims[m]);
  return box;
}

// An index that a step has carried beyond an end of [0, n), mirrored there.
Index reflected(Index i, Index n) {
  if (i < 0) i = -i;
  if (i >= n) i = 2 * (n - 1) - i;
  return std::clamp<Index>(i, 0, n - 1);  // a step longer than the mode
}

}  // namespace

SkewedSampler::SkewedSampler(const SkewedOptions& options)
    : dims_(options.dims),
      order_(int(dims_.size())),
      seed_(options.seed),
      fiber_mode_(options.fiber_mode),
      fiber_mean_(options.fiber_mean),
      diagonal_distance_(options.diagonal_distance),
      block_end_(options.block_share),
      corner_end_(block_end_ + options.corner_share),
      diagonal_end_(corner_end_ + options.diagonal_share),
      corner_{std::vector<Index>(dims_.size(), 0), clipped(options.corner_dims, dims_)} {
  for (int m = 0; m < order_; ++m) {
    laws_.emplace_back(dims_[m], options.exponents.empty() ? 0 : options.exponents[m]);
    if (options.index_order == IndexOrder::shuffled)
      labels_.emplace_back(dims_[m], random_for(seed_, GeneratorStream::label, m));
  }
  const Random places = random_for(seed_, GeneratorStream::block_place);
  blocks_.resize(options.num_blocks, {{}, clipped(options.block_dims, dims_)});
  for (Index b = 0; b < options.num_blocks; ++b)
    for (int m = 0; m < order_; ++m)
      blocks_[b].begin.push_back(places.below(dims_[m] - blocks_[b].dims[m] + 1, b * order_ + m));
}

SparseTensor<double> SkewedSampler::draws(Index begin, Index end) const {
  SparseTensor<double> out(dims_);
  out.resize(end - begin);
  parallel_parts(end - begin,
                 [&](Index from, Index to, int) { draw_part(begin + from, begin + to, begin, out); });
  return out;
}

void SkewedSampler::draw_part(Index begin, Index end, Index first, SparseTensor<double>& out) const {
  Fiber fiber;
  for (Index d = begin; d < end; ++d) {
    const Choice kind = choice(d);
    const auto at = kind.kind == Kind::zipf ? along(fiber, kind, d) : off_fiber(kind, d);
    for (int m = 0; m < order_; ++m) out.indices(m)[d - first] = at[m];
    out.values()[d - first] = double(d);
  }
}

SkewedSampler::Choice SkewedSampler::choice(Index draw) const {
  const auto [kind, detail] = random_for(seed_, GeneratorStream::kind).bits(draw);
  const double u = unit_interval(kind);
  if (u < block_end_) return {Kind::block, detail};
  if (u < corner_end_) return {Kind::corner, detail};
  if (u < diagonal_end_) return {Kind::diagonal, detail};
  return {Kind::zipf, detail};
}

SkewedSampler::Words SkewedSampler::words(Index draw) const {
  Words words;
  for (int m = 0; m < order_; m += 2) {
    const auto pair = random_for(seed_, GeneratorStream::coordinates, m / 2).bits(draw);
    std::copy(pair.begin(), pair.end(), words.begin() + m);
  }
  return words;
}

// A Zipf draw: the begin of a fiber, or one more index on the fiber that the last Zipf draw was on.
SkewedSampler::Coordinates SkewedSampler::along(Fiber& fiber, const Choice& choice, Index draw) const {
  const bool begins = begins_fiber(choice);
  if (begins || !fiber.known) {
    const Words bits = words(begins ? draw : fiber_begin(draw));
    for (int m = 0; m < order_; ++m) fiber.at[m] = zipf(m, bits[m]);
    fiber.known = true;
  }
  if (!begins) {
    const auto pair = random_for(seed_, GeneratorStream::coordinates, fiber_mode_ / 2).bits(draw);
    fiber.at[fiber_mode_] = zipf(fiber_mode_, pair[fiber_mode_ % 2]);
  }
  return fiber.at;
}

// Each Zipf draw begins a fiber with probability 1 / mean: the lengths are geometric, and no draw needs
// to know how long the fibers before it were.
bool SkewedSampler::begins_fiber(const Choice& choice) const {
  if (choice.kind != Kind::zipf) return false;
  return fiber_mode_ < 0 || unit_interval(choice.detail) * fiber_mean_ < 1;
}

// The draw that began the fiber which this one continues; the first draw begins one in any case.
Index SkewedSampler::fiber_begin(Index draw) const {
  while (draw > 0 && !begins_fiber(choice(draw))) --draw;
  return draw;
}

SkewedSampler::Coordinates SkewedSampler::off_fiber(const Choice& choice, Index draw) const {
  const Words bits = words(draw);
  if (choice.kind == Kind::diagonal) return near_diagonal(bits);
  if (choice.kind == Kind::corner) return in(corner_, bits);
  return in(blocks_[index_below(Index(blocks_.size()), choice.detail)], bits);
}

SkewedSampler::Coordinates SkewedSampler::in(const Box& box, const Words& words) const {
  Coordinates at;
  for (int m = 0; m < order_; ++m) at[m] = label(m, box.begin[m] + index_below(box.dims[m], words[m]));
  return at;
}

SkewedSampler::Coordinates SkewedSampler::near_diagonal(const Words& words) const {
  const Index i = index_below(dims_[0], words[0]);
  const auto opposite = Index(double(i) / double(dims_[0]) * double(dims_[1]));
  const double distance = -diagonal_distance_ * std::log1p(-unit_interval(words[1]));
  const auto step = Index(std::min(distance + 0.5, double(dims_[1])));
  const bool backward = words[1] % 2 != 0;  // unit_interval leaves the low bits unused
  Coordinates at;
  at[0] = label(0, i);
  at[1] = label(1, reflected(backward ? opposite - step : opposite + step, dims_[1]));
  for (int m = 2; m < order_; ++m) at[m] = zipf(m, words[m]);
  return at;
}

}  // namespace polyad
