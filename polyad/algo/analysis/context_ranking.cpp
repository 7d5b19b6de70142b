#include "polyad/algo/analysis/context_ranking.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "polyad/base/random.hpp"
#include "polyad/base/types.hpp"
#include "polyad/kernels/ratings/ranking_metrics.hpp"

namespace polyad {
namespace {

// Places of all modes; that of the items is 0.
using Places = std::array<Index, max_order>;

class Contexts {
 public:
  Contexts(const SplitCells& split, int item_mode) : cells_(split.cells), item_mode_(item_mode) {
    for (Index z = 0; z < cells_.num_nonzeros(); ++z)
      if (split.marks[z] < 0 && cells_.values()[z] > 0) all_.push_back(places_of(z));
    std::ranges::sort(all_);
    const auto repeated = std::ranges::unique(all_);
    all_.erase(repeated.begin(), repeated.end());
  }

  void keep(Index count) {
    if (size() <= count) return;
    std::vector<std::pair<std::uint64_t, Places>> drawn;
    for (const auto& places : all_) drawn.emplace_back(hash_of(places), places);
    std::ranges::sort(drawn);
    drawn.resize(std::size_t(count));
    all_.clear();
    for (const auto& [hash, places] : drawn) all_.push_back(places);
    std::ranges::sort(all_);
  }

  Index size() const { return std::ssize(all_); }
  const Places& places(Index context) const { return all_[std::size_t(context)]; }
  // Its context; size(): another.
  Index of_cell(Index z) const {
    const auto places = places_of(z);
    const auto found = std::ranges::lower_bound(all_, places);
    return found != all_.end() && *found == places ? found - all_.begin() : size();
  }

 private:
  Places places_of(Index z) const {
    Places places{};
    for (int m = 0; m < cells_.order(); ++m)
      if (m != item_mode_) places[std::size_t(m)] = cells_.indices(m)[z];
    return places;
  }
  static std::uint64_t hash_of(const Places& places) {
    constexpr std::uint64_t stream = 0x637478;
    std::uint64_t hash = 0;
    for (const Index place : places) hash = Random(hash, stream).bits(std::uint64_t(place))[0];
    return hash;
  }

  const SparseTensor<double>& cells_;
  int item_mode_;
  std::vector<Places> all_;  // ascending
};

// The last user stands for all contexts that are not asked about.
RatingModel<double> model_of(const Kruskal<double>& model, const Contexts& contexts, int item_mode) {
  RatingModel<double> result;
  result.items = model.factors[std::size_t(item_mode)];
  result.users = Matrix<double>(contexts.size() + 1, model.num_components());
  for (Index i = 0; i < contexts.size(); ++i)
    for (Index r = 0; r < model.num_components(); ++r) {
      double product = model.weights[std::size_t(r)];
      for (int m = 0; m < model.order(); ++m)
        if (m != item_mode) product *= model.factors[std::size_t(m)](contexts.places(i)[std::size_t(m)], r);
      result.users(i, r) = product;
    }
  return result;
}

}  // namespace

RankingMetrics rank_in_context(const Kruskal<double>& model, const SplitCells& split, int item_mode, Index k,
                               Index max_contexts) {
  Contexts contexts(split, item_mode);
  contexts.keep(max_contexts);
  const std::vector extents{contexts.size() + 1, split.cells.extent(item_mode)};
  SparseTensor<double> train(extents), test(extents);
  for (Index z = 0; z < split.cells.num_nonzeros(); ++z) {
    const std::array place{contexts.of_cell(z), split.cells.indices(item_mode)[z]};
    if (split.marks[z] > 0)
      train.append(place, 1);
    else if (split.cells.values()[z] > 0 && place[0] < contexts.size())
      test.append(place, 1);
  }
  return kernels::measure_ranking(model_of(model, contexts, item_mode), train, test, k, 1.0);
}

}  // namespace polyad
