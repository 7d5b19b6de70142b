#include "polyad/hypergraph/hypergraph.hpp"

#include <algorithm>
#include <cassert>
#include <string>

#include "polyad/base/error.hpp"

namespace polyad::hypergraph {

void check_countable(Index count, const std::string& things) {
  if (count > max_local_index)
    throw Error(Errc::resource, "a hypergraph may have at most " + std::to_string(max_local_index) + " " +
                                    things + ", this one would have " + std::to_string(count));
}

NumberLists transpose(const NumberLists& lists, Index count) {
  NumberLists result;
  result.begin.assign(std::size_t(count) + 1, 0);
  for (const auto item : lists.items) ++result.begin[item + 1];
  for (Index i = 0; i < count; ++i) result.begin[i + 1] += result.begin[i];
  result.items.resize(lists.items.size());
  std::vector<Index> next(result.begin.begin(), result.begin.end() - 1);
  for (Index list = 0; list < lists.num_lists(); ++list)
    for (const auto item : lists[list]) result.items[next[item]++] = LocalIndex(list);
  return result;
}

Hypergraph::Hypergraph(Index num_vertices, NumberLists pins, Array<Index> net_weights,
                       std::vector<Array<Index>> vertex_weights)
    : pins_(std::move(pins)),
      net_weights_(std::move(net_weights)),
      vertex_weights_(std::move(vertex_weights)) {
  check_countable(num_vertices, "vertices");
  check_countable(pins_.num_lists(), "nets");
  assert(net_weights_.empty() || std::ssize(net_weights_) == pins_.num_lists());
  for ([[maybe_unused]] const auto& weights : vertex_weights_) assert(std::ssize(weights) == num_vertices);
  nets_ = transpose(pins_, num_vertices);
}

Index total_weight(const Hypergraph& h, int constraint) {
  Index total = 0;
  for (Index v = 0; v < h.num_vertices(); ++v) total += h.vertex_weight(v, constraint);
  return total;
}

Index largest_weight(const Hypergraph& h, int constraint) {
  Index largest = 0;
  for (Index v = 0; v < h.num_vertices(); ++v) largest = std::max(largest, h.vertex_weight(v, constraint));
  return largest;
}

}  // namespace polyad::hypergraph
