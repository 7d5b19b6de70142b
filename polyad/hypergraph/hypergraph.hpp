#pragma once

#include <span>
#include <string>
#include <vector>

#include "polyad/base/array.hpp"
#include "polyad/base/types.hpp"

namespace polyad::hypergraph {

// Lists of numbers, one list after the other: list i is items[begin[i]], ..., items[begin[i + 1] - 1].
struct NumberLists {
  Array<Index> begin = Array<Index>(1, 0);
  Array<LocalIndex> items;

  Index num_lists() const { return std::ssize(begin) - 1; }
  Index length(Index i) const { return begin[i + 1] - begin[i]; }
  std::span<const LocalIndex> operator[](Index i) const {
    return {items.data() + begin[i], std::size_t(length(i))};
  }
  friend bool operator==(const NumberLists&, const NumberLists&) = default;
};

// In which lists each number of [0, count) occurs, ascending: the transpose.
NumberLists transpose(const NumberLists& lists, Index count);

// Throws Error{resource} when there are more vertices or nets than can be numbered.
void check_countable(Index count, const std::string& things);

// Vertices, and nets (hyperedges) that hold some of them: a value. A vertex has a weight for each balance
// constraint, a net one weight, which is what it costs per further part that it touches. Vertices and nets
// are numbered with 32 bits, pins with 64.
class Hypergraph {
 public:
  Hypergraph() = default;
  // The vertices of each net, ascending, each once. Weights that are left out are 1. Throws Error{resource}
  // when there are too many vertices or nets to be numbered.
  Hypergraph(Index num_vertices, NumberLists pins, Array<Index> net_weights = {},
             std::vector<Array<Index>> vertex_weights = {});

  Index num_vertices() const { return nets_.num_lists(); }
  Index num_nets() const { return pins_.num_lists(); }
  Index num_pins() const { return std::ssize(pins_.items); }
  int num_constraints() const { return vertex_weights_.empty() ? 1 : int(vertex_weights_.size()); }

  std::span<const LocalIndex> pins(Index net) const { return pins_[net]; }
  std::span<const LocalIndex> nets(Index vertex) const { return nets_[vertex]; }
  Index net_size(Index net) const { return pins_.length(net); }
  const NumberLists& pins() const { return pins_; }

  Index net_weight(Index net) const { return net_weights_.empty() ? 1 : net_weights_[net]; }
  Index vertex_weight(Index vertex, int constraint = 0) const {
    return vertex_weights_.empty() ? 1 : vertex_weights_[constraint][vertex];
  }
  bool has_net_weights() const { return !net_weights_.empty(); }
  bool has_vertex_weights() const { return !vertex_weights_.empty(); }

  friend bool operator==(const Hypergraph&, const Hypergraph&) = default;

 private:
  NumberLists pins_, nets_;
  Array<Index> net_weights_;                  // [net]; empty: 1
  std::vector<Array<Index>> vertex_weights_;  // [constraint][vertex]; empty: one constraint, 1
};

// The weight of all vertices, and of the heaviest.
Index total_weight(const Hypergraph& h, int constraint);
Index largest_weight(const Hypergraph& h, int constraint);

}  // namespace polyad::hypergraph
