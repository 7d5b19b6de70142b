#pragma once

#include <span>
#include <string>
#include <vector>

#include "polyad/base/array.hpp"
#include "polyad/base/types.hpp"

namespace polyad::hypergraph {

// Consecutive lists of numbers: list i is items[begin[i]], ..., items[begin[i + 1] - 1].
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

// The transpose: for each number of [0, count) the lists that contain it, ascending.
NumberLists transpose(const NumberLists& lists, Index count);

// Throws Error{resource} if there are more vertices or nets than 32-bit numbers.
void check_countable(Index count, const std::string& things);

// A hypergraph: vertices, and nets (hyperedges) that contain some of them. A vertex
// has a weight for each balance constraint, a net one weight, its cost per additional
// part that it touches. Vertices and nets have 32-bit numbers, pins 64-bit.
class Hypergraph {
 public:
  Hypergraph() = default;
  // `pins`: the vertices of each net, ascending and distinct. Weights default
  // to 1. Throws Error{resource} if there are too many vertices or nets.
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
  // [constraint][vertex], for as many constraints as before.
  void set_vertex_weights(std::vector<Array<Index>> weights) { vertex_weights_ = std::move(weights); }

  friend bool operator==(const Hypergraph&, const Hypergraph&) = default;

 private:
  NumberLists pins_, nets_;
  Array<Index> net_weights_;                  // [net]; empty: 1
  std::vector<Array<Index>> vertex_weights_;  // [constraint][vertex]; empty: one constraint, all 1
};

// Total weight of all vertices, and weight of the heaviest.
Index total_weight(const Hypergraph& h, int constraint);
Index largest_weight(const Hypergraph& h, int constraint);

}  // namespace polyad::hypergraph
