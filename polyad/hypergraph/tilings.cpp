#include "polyad/hypergraph/tilings.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "polyad/base/parallel.hpp"
#include "polyad/tensor/sort.hpp"

namespace polyad::hypergraph {

namespace {

struct PartRange {
  int begin, end;
  int count() const { return end - begin; }
};

// Cuts the nonzeros in two, again and again, until every piece is a part.
class Halving {
 public:
  Halving(const SparseTensor<double, LocalIndex>& x, int num_parts)
      : x_(x),
        num_parts_(num_parts),
        order_(std::size_t(x.num_nonzeros())),
        scratch_(order_.size()),
        parts_(order_.size(), 0) {
    std::iota(order_.begin(), order_.end(), LocalIndex(0));
    for (int m = 0; m < x.order(); ++m) side_of_.emplace_back(std::size_t(x.extent(m)), 0);
  }

  // choose(range of parts, range of nonzeros) names the mode and the first part of the second half.
  template <class Choose>
  std::vector<int> run(Choose choose) && {
    cut({0, num_parts_}, choose);
    return std::move(parts_);
  }

  // Slices of all modes that have nonzeros on both sides of a cut along the mode.
  Index cost(PartRange range, int mode, int middle) {
    arrange(range, mode, middle);
    Index cost = 0;
    for (int m = 0; m < x_.order(); ++m) cost += straddling(m, range, middle);
    return cost;
  }

 private:
  Index place(int part) const { return part_begin(std::ssize(order_), part, num_parts_); }

  template <class Choose>
  void cut(PartRange range, Choose& choose) {
    if (range.count() == 1 || place(range.begin) == place(range.end)) {
      for (Index i = place(range.begin); i < place(range.end); ++i) parts_[order_[i]] = range.begin;
      return;
    }
    const auto [mode, middle] = choose(*this, range);
    arrange(range, mode, middle);
    cut({range.begin, middle}, choose);
    cut({middle, range.end}, choose);
  }

  // Those with lower indices in the mode to the front; where a slice is cut, by their number.
  void arrange(PartRange range, int mode, int middle) {
    const Index first = place(range.begin), count = place(range.end) - first;
    const auto indices = x_.indices(mode);
    for (Index i = 0; i < count; ++i)
      scratch_[i] = std::uint64_t(indices[order_[first + i]]) << 32 | order_[first + i];
    std::nth_element(scratch_.begin(), scratch_.begin() + (place(middle) - first), scratch_.begin() + count);
    for (Index i = 0; i < count; ++i) order_[first + i] = LocalIndex(scratch_[i]);
  }

  Index straddling(int mode, PartRange range, int middle) {
    const auto indices = x_.indices(mode);
    auto& side = side_of_[mode];
    ++stamp_;
    for (Index i = place(range.begin); i < place(middle); ++i) side[indices[order_[i]]] = stamp_;
    Index count = 0;
    for (Index i = place(middle); i < place(range.end); ++i)
      if (std::exchange(side[indices[order_[i]]], 0) == stamp_) ++count;
    return count;
  }

  const SparseTensor<double, LocalIndex>& x_;
  int num_parts_;
  std::vector<LocalIndex> order_;       // nonzeros, those of part p from place(p) on
  std::vector<std::uint64_t> scratch_;  // index and nonzero
  std::vector<int> parts_;
  std::vector<std::vector<Index>> side_of_;  // [mode][slice]: the stamp of the first half that has it
  Index stamp_ = 0;
};

struct Cut {
  int mode, middle;
};

// How many layers each of several modes gets: nearly the same for all, at most num_parts together.
std::vector<int> layers_of(int num_parts, std::size_t num_modes) {
  std::vector<int> layers;
  double left = num_parts;
  for (std::size_t m = num_modes; m > 0; --m) {
    layers.push_back(std::max(int(std::lround(std::pow(left, 1.0 / double(m)))), 1));
    left /= layers.back();
  }
  return layers;
}

}  // namespace

Tiling block_tiling(const SparseTensor<double, LocalIndex>& x, int num_parts, int mode) {
  return {"block by mode " + std::to_string(mode + 1), Halving(x, num_parts).run([&](auto&, PartRange range) {
            return Cut{mode, range.begin + range.count() / 2};
          })};
}

Tiling grid_tiling(const SparseTensor<double, LocalIndex>& x, int num_parts, std::span<const int> modes) {
  std::string name;
  for (const int mode : modes) name += (name.empty() ? "tiles of modes " : ", ") + std::to_string(mode + 1);
  // below[d]: parts of one layer of the first d + 1 modes.
  std::vector<double> below;
  double parts_left = num_parts;
  for (const int layers : layers_of(num_parts, modes.size())) below.push_back(parts_left /= layers);
  return {name, Halving(x, num_parts).run([&](auto&, PartRange range) {
            std::size_t d = 0;
            while (d + 1 < modes.size() && range.count() < 1.5 * below[d]) ++d;
            const double layers = std::max(std::round(range.count() / below[d]), 2.0);
            const double before = std::floor(layers / 2) / layers;
            const int middle = range.begin + int(std::lround(before * range.count()));
            return Cut{modes[d], std::clamp(middle, range.begin + 1, range.end - 1)};
          })};
}

Tiling halving_tiling(const SparseTensor<double, LocalIndex>& x, int num_parts) {
  return {"halves", Halving(x, num_parts).run([&](Halving& halving, PartRange range) {
            Cut best{0, range.begin + range.count() / 2};
            Index minimum = halving.cost(range, 0, best.middle);
            for (int mode = 1; mode < x.order(); ++mode)
              if (const Index cost = halving.cost(range, mode, best.middle); cost < minimum) {
                best.mode = mode;
                minimum = cost;
              }
            return best;
          })};
}

std::vector<MakeTiling> all_tilings(const SparseTensor<double, LocalIndex>& x, int num_parts) {
  std::vector<MakeTiling> tilings;
  for (int m = 0; m < x.order(); ++m)
    tilings.emplace_back([&x, num_parts, m] { return block_tiling(x, num_parts, m); });
  for (int a = 0; a < x.order(); ++a)
    for (int b = a + 1; b < x.order(); ++b)
      tilings.emplace_back([&x, num_parts, a, b] { return grid_tiling(x, num_parts, std::array{a, b}); });
  if (x.order() > 2)
    tilings.emplace_back(
        [&x, num_parts] { return grid_tiling(x, num_parts, natural_mode_order(x.order())); });
  tilings.emplace_back([&x, num_parts] { return halving_tiling(x, num_parts); });
  return tilings;
}

}  // namespace polyad::hypergraph
