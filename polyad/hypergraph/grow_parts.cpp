#include "polyad/hypergraph/grow_parts.hpp"

#include <algorithm>
#include <utility>

#include "polyad/hypergraph/shuffled.hpp"

namespace polyad::hypergraph {

namespace {

constexpr std::uint64_t growing_stream = 0x67726f77;
constexpr Index max_net_size = 300;  // larger nets say little about who belongs together

// The vertices that a growing part draws, the one that is drawn most on top: a heap in which a vertex moves
// up when it is drawn more.
class Front {
 public:
  explicit Front(Index num_vertices) : place_(std::size_t(num_vertices), outside) {}

  bool is_empty() const { return heap_.empty(); }
  void clear() {
    for (const auto& entry : heap_) place_[entry.vertex] = outside;
    heap_.clear();
  }
  void draw(LocalIndex vertex, double attraction) {
    auto place = place_[vertex];
    if (place == outside) {
      place = LocalIndex(heap_.size());
      heap_.push_back({0, vertex});
    }
    rise(place, {heap_[place].attraction + attraction, vertex});
  }
  LocalIndex take_top() {
    const auto top = heap_.front().vertex;
    place_[top] = outside;
    const auto last = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) sink(last);
    return top;
  }

 private:
  static constexpr auto outside = LocalIndex(max_local_index);
  struct Entry {
    double attraction;
    LocalIndex vertex;
    friend auto operator<=>(const Entry&, const Entry&) = default;
  };

  void put(std::size_t place, const Entry& entry) {
    heap_[place] = entry;
    place_[entry.vertex] = LocalIndex(place);
  }
  void rise(std::size_t place, const Entry& entry) {
    for (; place > 0 && heap_[(place - 1) / 2] < entry; place = (place - 1) / 2)
      put(place, heap_[(place - 1) / 2]);
    put(place, entry);
  }
  // From the top.
  void sink(const Entry& entry) {
    std::size_t place = 0;
    for (auto child = std::size_t(1); child < heap_.size(); child = 2 * place + 1) {
      if (child + 1 < heap_.size() && heap_[child] < heap_[child + 1]) ++child;
      if (!(entry < heap_[child])) break;
      put(place, heap_[child]);
      place = child;
    }
    put(place, entry);
  }

  std::vector<Entry> heap_;
  std::vector<LocalIndex> place_;  // [vertex]: in the heap
};

class Growth {
 public:
  Growth(const Hypergraph& h, const PartLimits& limits, std::uint64_t seed)
      : h_(h),
        limits_(limits),
        order_(shuffled(h.num_vertices(), Random(seed, growing_stream))),
        parts_(std::size_t(h.num_vertices()), nowhere),
        touched_by_(std::size_t(h.num_nets()), nowhere),
        front_(h.num_vertices()) {
    for (int c = 0; c < h.num_constraints(); ++c) left_.push_back(total_weight(h, c));
  }

  std::vector<int> run() && {
    const auto num_parts = int(limits_[0].size());
    for (int part = 0; part < num_parts; ++part) grow(part, num_parts - part);
    for (auto& part : parts_)
      if (part == nowhere) part = num_parts - 1;
    return std::move(parts_);
  }

 private:
  static constexpr int nowhere = -1;

  // Until the part has its share of what is left, in some constraint.
  void grow(int part, int parts_left) {
    std::vector<Index> wanted;
    for (const Index left : left_) wanted.push_back(left / parts_left);
    std::vector<Index> weight(left_.size(), 0);
    front_.clear();
    while (true) {
      const Index vertex = next();
      if (vertex == nowhere) return;
      parts_[vertex] = part;
      for (std::size_t c = 0; c < left_.size(); ++c) {
        weight[c] += h_.vertex_weight(vertex, int(c));
        left_[c] -= h_.vertex_weight(vertex, int(c));
      }
      for (std::size_t c = 0; c < left_.size(); ++c)
        if (weight[c] >= wanted[c] && wanted[c] > 0) return;
      draw_neighbours(vertex, part);
    }
  }

  Index next() {
    if (!front_.is_empty()) return front_.take_top();
    for (; first_ < std::ssize(order_); ++first_)
      if (parts_[order_[first_]] == nowhere) return order_[first_];
    return nowhere;
  }

  void draw_neighbours(Index vertex, int part) {
    for (const auto net : h_.nets(vertex)) {
      if (h_.net_size(net) > max_net_size || std::exchange(touched_by_[net], part) == part) continue;
      const double attraction = double(h_.net_weight(net)) / double(h_.net_size(net));
      for (const auto v : h_.pins(net))
        if (parts_[v] == nowhere) front_.draw(v, attraction);
    }
  }

  const Hypergraph& h_;
  const PartLimits& limits_;
  std::vector<LocalIndex> order_;
  Index first_ = 0;  // all in the order before it have parts
  std::vector<int> parts_;
  std::vector<int> touched_by_;  // [net]: the last part that got a pin
  std::vector<Index> left_;      // [constraint]: weight of vertices without a part
  Front front_;
};

}  // namespace

std::vector<int> grow_parts(const Hypergraph& h, const PartLimits& limits, std::uint64_t seed) {
  return Growth(h, limits, seed).run();
}

}  // namespace polyad::hypergraph
