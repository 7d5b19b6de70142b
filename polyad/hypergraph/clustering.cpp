#include "polyad/hypergraph/clustering.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "polyad/base/parallel.hpp"
#include "polyad/hypergraph/shuffled.hpp"

namespace polyad::hypergraph {

namespace {

constexpr Index max_nets = 64;    // that a vertex looks at, the smallest
constexpr Index window = 6;       // pins on either side, and again from a random place
constexpr Index num_rounds = 16;  // ratings of one are made with the clusters of those before

constexpr std::uint64_t clustering_stream = 0x636c7573;

constexpr std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9;
  x ^= x >> 27;
  x *= 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// Sums of ratings by cluster, for the few clusters that a vertex sees: open addressing, cleared by going
// through what was seen.
class Ratings {
 public:
  Ratings() : slots_(std::size_t(1) << max_bits) {}

  // For a vertex with this number of nets: a small table stays in the cache.
  void expect(Index num_nets) {
    const auto max_seen = std::uint64_t(std::min(num_nets, max_nets) * max_looks);
    bits_ = std::bit_width(max_seen * 3 / 2);
  }
  void add(LocalIndex cluster, double rating) {
    const std::size_t last = (std::size_t(1) << bits_) - 1;
    std::size_t at = std::size_t(cluster * 0x9e3779b1u) >> (32 - bits_);
    while (slots_[at].cluster != cluster && slots_[at].cluster != none) at = (at + 1) & last;
    auto& slot = slots_[at];
    if (slot.cluster == none) {
      slot = {0, cluster};
      seen_.push_back(at);
    }
    slot.sum += rating;
  }
  template <class Fn>
  void for_each_and_clear(Fn fn) {
    for (const auto at : seen_) {
      fn(slots_[at].cluster, slots_[at].sum);
      slots_[at].cluster = none;
    }
    seen_.clear();
  }

 private:
  static constexpr LocalIndex none = LocalIndex(max_local_index);
  static constexpr Index max_looks = 4 * window;  // at pins of one net
  static constexpr int max_bits = std::bit_width(std::uint64_t(max_nets * max_looks * 3 / 2));
  struct Slot {
    double sum = 0;
    LocalIndex cluster = none;
  };

  std::vector<Slot> slots_;
  std::vector<std::size_t> seen_;
  int bits_ = max_bits;
};

class Agglomeration {
 public:
  Agglomeration(const Hypergraph& h, const ClusteringOptions& options)
      : h_(h),
        options_(options),
        root_(std::size_t(h.num_vertices())),
        size_(std::size_t(h.num_vertices()), 1),
        num_clusters_(h.num_vertices()) {
    std::iota(root_.begin(), root_.end(), LocalIndex(0));
    for (int c = 0; c < h.num_constraints(); ++c) {
      auto& weights = weights_.emplace_back(std::size_t(h.num_vertices()));
      for (Index v = 0; v < h.num_vertices(); ++v) weights[v] = h.vertex_weight(v, c);
    }
  }

  void run() {
    const auto order = shuffled(h_.num_vertices(), Random(options_.seed, clustering_stream));
    auto ratings = std::vector<Ratings>(std::size_t(num_threads()));
    std::vector<LocalIndex> wish(std::size_t(h_.num_vertices())), ascending;
    for (Index round = 0; round < num_rounds; ++round) {
      const Index first = part_begin(h_.num_vertices(), round, num_rounds);
      const Index last = part_begin(h_.num_vertices(), round + 1, num_rounds);
      // Looked at one after the other, neighbours find the nets that they share in the cache.
      ascending.assign(order.begin() + first, order.begin() + last);
      std::ranges::sort(ascending);
      parallel_parts(last - first, [&](Index begin, Index end, int thread) {
        for (Index i = begin; i < end; ++i) wish[ascending[i]] = best_cluster(ascending[i], ratings[thread]);
      });
      for (Index i = first; i < last && num_clusters_ > options_.min_clusters; ++i)
        join(order[i], wish[order[i]]);
    }
  }

  Clustering result() const {
    Clustering result{Array<LocalIndex>(root_.size()), 0};
    std::vector<LocalIndex> number(root_.size(), LocalIndex(max_local_index));
    for (std::size_t v = 0; v < root_.size(); ++v) {
      auto& n = number[root_[v]];
      if (n == max_local_index) n = LocalIndex(result.num_clusters++);
      result.cluster_of[v] = n;
    }
    return result;
  }

 private:
  bool is_alone(Index v) const { return size_[v] == 1 && root_[v] == v; }

  bool fits(Index v, LocalIndex cluster) const {
    for (std::size_t c = 0; c < weights_.size(); ++c)
      if (weights_[c][cluster] + h_.vertex_weight(v, int(c)) > options_.max_weight[c]) return false;
    return true;
  }

  void rate(Index v, Index net, Ratings& ratings) const {
    const auto pins = h_.pins(net);
    const Index size = std::ssize(pins);
    if (size < 2) return;
    const double rating = double(h_.net_weight(net)) / double(size - 1);
    const auto look = [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) {
        const auto u = pins[std::size_t(i)];
        if (u != v && (options_.parts.empty() || options_.parts[u] == options_.parts[v]))
          ratings.add(root_[u], rating);
      }
    };
    if (size <= 4 * window) return look(0, size);
    const Index at = std::ranges::lower_bound(pins, LocalIndex(v)) - pins.begin();
    const Index near = std::clamp<Index>(at - window, 0, size - 2 * window);
    look(near, near + 2 * window);
    const auto far = Index(mix(options_.seed ^ mix(std::uint64_t(v) << 20 ^ std::uint64_t(net))) %
                           std::uint64_t(size - window));
    look(far, far + window);
  }

  LocalIndex best_cluster(Index v, Ratings& ratings) const {
    if (!is_alone(v)) return LocalIndex(v);
    const auto nets = h_.nets(v);
    ratings.expect(std::ssize(nets));
    if (std::ssize(nets) <= max_nets) {
      for (const auto net : nets) rate(v, net, ratings);
    } else {
      std::vector<LocalIndex> smallest(nets.begin(), nets.end());
      const auto by_size = [&](LocalIndex a, LocalIndex b) {
        return std::pair(h_.net_size(a), a) < std::pair(h_.net_size(b), b);
      };
      std::ranges::nth_element(smallest, smallest.begin() + max_nets, by_size);
      std::sort(smallest.begin(), smallest.begin() + max_nets);
      for (Index i = 0; i < max_nets; ++i) rate(v, smallest[i], ratings);
    }
    auto best = LocalIndex(v);
    double maximum = 0;
    std::uint64_t tie = 0;
    ratings.for_each_and_clear([&](LocalIndex cluster, double rating) {
      if (rating < maximum || cluster == v || !fits(v, cluster)) return;
      const auto lot = mix(options_.seed + (std::uint64_t(v) << 32 | cluster));
      if (rating == maximum && lot < tie) return;
      best = cluster;
      maximum = rating;
      tie = lot;
    });
    return best;
  }

  void join(LocalIndex v, LocalIndex wish) {
    if (wish == v || !is_alone(v)) return;
    const auto root = root_[wish];
    if (root == v || !fits(v, root)) return;
    for (std::size_t c = 0; c < weights_.size(); ++c) weights_[c][root] += h_.vertex_weight(v, int(c));
    root_[v] = root;
    ++size_[root];
    --num_clusters_;
  }

  const Hypergraph& h_;
  const ClusteringOptions& options_;
  Array<LocalIndex> root_;             // [vertex]: the vertex that its cluster is named after
  Array<LocalIndex> size_;             // [root]
  std::vector<Array<Index>> weights_;  // [constraint][root]
  Index num_clusters_;
};

}  // namespace

Clustering cluster_vertices(const Hypergraph& h, const ClusteringOptions& options) {
  Agglomeration agglomeration(h, options);
  agglomeration.run();
  return agglomeration.result();
}

}  // namespace polyad::hypergraph
