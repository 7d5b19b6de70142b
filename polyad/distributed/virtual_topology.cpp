#include "polyad/distributed/virtual_topology.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

namespace polyad {
namespace {

int divided_up(int a, int b) {
  return a / b + (a % b != 0 ? 1 : 0);
}

class DigitSearch {
 public:
  struct Found {
    int sum = 0, num_inexact = 0;  // of the digits; divisions with a remainder
    std::vector<int> digits;
  };

  const Found& best(int count, int num_digits) {
    const auto [at, is_new] = known_.try_emplace({count, num_digits});
    if (is_new) at->second = search(count, num_digits);
    return at->second;
  }

 private:
  Found search(int count, int num_digits) {
    if (num_digits == 1) return {count, 0, {count}};
    // Digits far from the root have larger sums.
    const double root = std::pow(double(count), 1.0 / num_digits);
    const int least = std::max(2, int(root / 2)), most = std::max(2, int(std::ceil(2 * root)));
    Found found;
    for (int first = least; first <= most; ++first) {
      const int rest = divided_up(count, first);
      if (rest < 2 || max_stages(rest) < num_digits - 1) break;
      const auto& others = best(rest, num_digits - 1);
      const int sum = first + others.sum;
      const int num_inexact = others.num_inexact + (count % first == 0 ? 0 : 1);
      if (!found.digits.empty() && std::tuple(found.sum, found.num_inexact) <= std::tuple(sum, num_inexact))
        continue;
      found = {sum, num_inexact, {first}};
      found.digits.insert(found.digits.end(), others.digits.begin(), others.digits.end());
    }
    return found;
  }

  std::map<std::pair<int, int>, Found> known_;
};

// The length of runs of equal pairs of layer and machine in this order, if all are equally long; otherwise 1.
int ranks_per_run(std::span<const int> ranks, std::span<const int> layer, std::span<const int> machine) {
  const auto is_same = [&](int a, int b) { return layer[a] == layer[b] && machine[a] == machine[b]; };
  std::size_t length = 1;
  while (length < ranks.size() && is_same(ranks[0], ranks[length])) ++length;
  if (ranks.size() % length != 0) return 1;
  for (std::size_t i = 1; i < ranks.size(); ++i)
    if (is_same(ranks[i - 1], ranks[i]) != (i % length != 0)) return 1;
  return int(length);
}

}  // namespace

int max_stages(int num_ranks) {
  int stages = 1;
  while (stages < 30 && 1 << stages < num_ranks) ++stages;
  return stages;
}

std::vector<int> even_digits(int count, int num_digits) {
  assert(num_digits >= 1 && num_digits <= max_stages(count));
  return DigitSearch().best(count, num_digits).digits;
}

VirtualTopology::VirtualTopology(int num_ranks, int num_stages, std::span<const int> layer,
                                 std::span<const int> machine)
    : places_(std::size_t(num_ranks)), ranks_(std::size_t(num_ranks)) {
  std::vector<int> layers(layer.begin(), layer.end()), machines(machine.begin(), machine.end());
  layers.resize(std::size_t(num_ranks), 0);
  machines.resize(std::size_t(num_ranks), 0);
  std::iota(ranks_.begin(), ranks_.end(), 0);
  std::ranges::stable_sort(ranks_, {}, [&](int rank) { return std::tuple(layers[rank], machines[rank]); });
  for (int place = 0; place < num_ranks; ++place) places_[ranks_[place]] = place;
  const int of_layer = int(std::ranges::count(layers, layers[ranks_[0]]));
  choose_digits(num_ranks % of_layer == 0 ? of_layer : num_ranks, ranks_per_run(ranks_, layers, machines),
                num_stages);
}

void VirtualTopology::choose_digits(int num_ranks_of_layer, int num_of_machine, int num_stages) {
  assert(num_stages >= 1 && num_stages <= max_stages(num_ranks()));
  // A layer of few ranks has fewer digits than are asked for; the last stages then also leave the layer.
  const int count = max_stages(num_ranks_of_layer) < num_stages ? num_ranks() : num_ranks_of_layer;
  const int num_machines = count / num_of_machine;
  const bool by_machine = num_stages > 1 && num_of_machine > 1 && count % num_of_machine == 0 &&
                          num_machines > 1 && max_stages(num_machines) >= num_stages - 1;
  if (by_machine) {
    digits_ = {num_of_machine};
    const auto others = even_digits(num_machines, num_stages - 1);
    digits_.insert(digits_.end(), others.begin(), others.end());
  } else {
    digits_ = even_digits(count, num_stages);
  }
  int unit = 1;
  for (const int digit : digits_) {
    units_.push_back(unit);
    unit *= digit;
  }
  digits_.back() = divided_up(num_ranks(), units_.back());
}

int VirtualTopology::next_by_digit(int from, int digit_of_to, int stage) const {
  const int place = places_[from] + (digit_of_to - digit(from, stage)) * units_[stage];
  return ranks_[place < num_ranks() ? place : place - units_.back()];
}

}  // namespace polyad
