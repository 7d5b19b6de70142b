#include "polyad/distributed/cp/layers.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "polyad/base/parallel.hpp"

namespace polyad {
namespace {

using Cuts = std::vector<Index>;

std::vector<int> counted_layers(int count) {
  std::vector<int> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

Cuts equal_rows(const SliceProfile& profile, int num_layers) {
  Cuts cuts;
  for (int l = 0; l <= num_layers; ++l) cuts.push_back(part_begin(profile.num_rows(), l, num_layers));
  return cuts;
}

Cuts equal_nonzeros(const SliceProfile& profile, int num_layers, Index row_weight) {
  const Index total = profile.num_nonzeros() + row_weight * profile.num_rows();
  Cuts counts;
  for (int l = 0; l <= num_layers; ++l) counts.push_back(part_begin(total, l, num_layers));
  auto cuts = profile.rows_at(counts, row_weight);
  cuts.front() = 0;
  return cuts;
}

// Keeps a row for every layer: before, for those on the left; behind, for those on the right.
void keep_layers(Cuts& cuts, Index num_rows) {
  const Index num_layers = std::ssize(cuts) - 1;
  const Index minimum = num_rows >= num_layers ? 1 : 0;
  for (Index l = 1; l < num_layers; ++l) cuts[l] = std::max(cuts[l], cuts[l - 1] + minimum);
  for (Index l = num_layers - 1; l > 0; --l) cuts[l] = std::min(cuts[l], cuts[l + 1] - minimum);
}

// In order: layer i gives up, or takes, (m - M / P) / (c S) rows at its right end, m and S being its nonzeros
// and its mean nonzeros per row after its left end has moved.
Cuts ordered(const SliceProfile& profile, int num_layers, int c) {
  auto cuts = equal_rows(profile, num_layers);
  const double target = double(profile.num_nonzeros()) / num_layers;
  const double mean_rows = double(std::max<Index>(1, profile.num_rows())) / num_layers;
  for (int l = 0; l + 1 < num_layers; ++l) {
    const auto ends = profile.nonzeros_before(Cuts{cuts[l], cuts[l + 1]});
    const auto nonzeros = double(ends[1] - ends[0]), rows = double(cuts[l + 1] - cuts[l]);
    // Where nothing is left of the layer, its rows are taken to be like all others.
    const double per_row = nonzeros > 0 ? nonzeros / rows : std::max(1.0, target / mean_rows);
    const double surplus = (nonzeros - target) / (c * per_row);
    const Index minimum = cuts[l] + (profile.num_rows() >= num_layers ? 1 : 0);
    const Index maximum = std::max(minimum, profile.num_rows() - (num_layers - 1 - l));
    cuts[l + 1] =
        Index(std::clamp(double(cuts[l + 1]) - std::trunc(surplus), double(minimum), double(maximum)));
    for (int k = l + 2; k < num_layers && cuts[k] < cuts[k - 1]; ++k) cuts[k] = cuts[k - 1];
  }
  return cuts;
}

Cuts max_min(const SliceProfile& profile, int num_layers) {
  const auto cuts = equal_rows(profile, num_layers);
  const auto before = profile.nonzeros_before(cuts);
  std::vector<int> fullest(static_cast<std::size_t>(num_layers));
  std::iota(fullest.begin(), fullest.end(), 0);
  const auto nonzeros = [&](int l) { return before[l + 1] - before[l]; };
  std::ranges::stable_sort(fullest, std::ranges::greater{}, nonzeros);
  Cuts sizes;
  for (int l = 0; l < num_layers; ++l) sizes.push_back(cuts[l + 1] - cuts[l]);
  const double mean = double(profile.num_nonzeros()) / double(std::max<Index>(1, profile.num_rows()));
  for (int i = 0; i < num_layers / 2; ++i) {
    const int fuller = fullest[i], emptier = fullest[num_layers - 1 - i];
    const auto rows = Index(double(nonzeros(fuller) - nonzeros(emptier)) / 2 / std::max(mean, 1.0));
    const Index moved = std::min(rows, std::max<Index>(0, sizes[fuller] - 1));
    sizes[fuller] -= moved;
    sizes[emptier] += moved;
  }
  Cuts result{0};
  for (const Index size : sizes) result.push_back(result.back() + size);
  return result;
}

// Layers that get pieces of equal nonzeros: each has room for as many, of which a heavy one takes several.
class PieceAssignment {
 public:
  PieceAssignment(int num_layers, Index pieces_per_layer) : by_room_(std::size_t(pieces_per_layer) + 1) {
    for (int l = 0; l < num_layers; ++l) by_room_.back().emplace(0, l);
  }

  // The layer with the fewest rows that has room; if none has enough, with the fewest that has any.
  int assign(Index num_rows, Index room) {
    auto at = emptiest(room);
    if (at == 0) at = emptiest(1);
    if (at == 0) {  // all are full: again from the beginning
      at = by_room_.size() - 1;
      std::swap(by_room_.front(), by_room_.back());
    }
    auto& layers = by_room_[at];
    const auto [rows, layer] = *layers.begin();
    layers.erase(layers.begin());
    by_room_[at - std::min(at, std::size_t(room))].emplace(rows + num_rows, layer);
    return layer;
  }

 private:
  using Entry = std::pair<Index, int>;  // rows so far, layer

  // The room, at least this, of the layers among which is the one with the fewest rows; 0: there is none.
  std::size_t emptiest(Index room) const {
    std::size_t found = 0;
    for (auto at = std::size_t(room); at < by_room_.size(); ++at)
      if (!by_room_[at].empty() && (found == 0 || *by_room_[at].begin() < *by_room_[found].begin()))
        found = at;
    return found;
  }

  std::vector<std::set<Entry>> by_room_;  // [pieces that a layer has room for]
};

// Each layer gets pieces of the mode from several places, so that it has its share of the rows and of the
// nonzeros, also where some parts of the mode have few rows with many nonzeros, and others the opposite.
LayerCuts interleaved(const SliceProfile& profile, int num_layers, int pieces_per_layer) {
  const Index per_layer = std::clamp<Index>(profile.num_rows() / num_layers, 1, pieces_per_layer);
  const auto num_pieces = int(per_layer * num_layers);
  LayerCuts result{equal_nonzeros(profile, num_pieces, 0), {}};
  keep_layers(result.begin, profile.num_rows());
  if (per_layer == 1) return {result.begin, counted_layers(num_layers)};
  const auto before = profile.nonzeros_before(result.begin);
  const double per_piece = double(std::max<Index>(1, profile.num_nonzeros())) / num_pieces;
  const auto num_rows = [&](int i) { return result.begin[i + 1] - result.begin[i]; };
  const auto room = [&](int i) {
    return std::clamp<Index>(std::llround(double(before[i + 1] - before[i]) / per_piece), 1, per_layer);
  };
  auto largest = counted_layers(num_pieces);
  std::ranges::stable_sort(largest, std::ranges::greater{},
                           [&](int i) { return std::tuple(room(i), num_rows(i)); });
  PieceAssignment pieces(num_layers, per_layer);
  result.layer.resize(std::size_t(num_pieces));
  for (const int i : largest) result.layer[i] = pieces.assign(num_rows(i), room(i));
  return result;
}

}  // namespace

std::string to_string(const LayerPolicy& policy) {
  switch (policy.kind) {
    case LayerPolicy::Kind::nnz:
      return "nnz";
    case LayerPolicy::Kind::set:
      return "set";
    case LayerPolicy::Kind::ordered:
      return "ordered-" + std::to_string(policy.c);
    case LayerPolicy::Kind::weighted:
      return "weighted-" + std::to_string(policy.c);
    case LayerPolicy::Kind::interleaved:
      return "interleaved-" + std::to_string(policy.c);
    default:
      return "max-min";
  }
}

std::vector<LayerPolicy> all_policies() {
  using Kind = LayerPolicy::Kind;
  return {{Kind::nnz},     {Kind::set},         {Kind::ordered, 1},  {Kind::ordered, 2},
          {Kind::max_min}, {Kind::weighted, 1}, {Kind::weighted, 4}, {Kind::interleaved, 4}};
}

LayerCuts cut_into_layers(const SliceProfile& profile, int num_layers, const LayerPolicy& policy) {
  if (policy.kind == LayerPolicy::Kind::interleaved) return interleaved(profile, num_layers, policy.c);
  const auto cuts = [&] {
    switch (policy.kind) {
      case LayerPolicy::Kind::nnz:
        return equal_nonzeros(profile, num_layers, 0);
      case LayerPolicy::Kind::set:
        return equal_rows(profile, num_layers);
      case LayerPolicy::Kind::ordered:
        return ordered(profile, num_layers, policy.c);
      case LayerPolicy::Kind::weighted:
        return equal_nonzeros(profile, num_layers, policy.c);
      default:
        return max_min(profile, num_layers);
    }
  };
  auto result = cuts();
  keep_layers(result, profile.num_rows());
  return {std::move(result), counted_layers(num_layers)};
}

}  // namespace polyad
