#include "polyad/hypergraph/refine.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <queue>
#include <utility>

#include "polyad/base/parallel.hpp"
#include "polyad/hypergraph/shuffled.hpp"

namespace polyad::hypergraph {

namespace {

constexpr Index chunk = 64;  // vertices that are looked at in their order
constexpr Index block = 32;  // parts whose sums are compared at once
// Nets that the proposals of a climb read, times the pins of the hypergraph, of which a pass reads each once.
// Where nets are few and large, a move concerns nearly all vertices, and a whole climb would read a thousand
// times the pins for a gain of 1 %.
constexpr Index max_climb_work = 16, little_work = 1000000;
constexpr std::uint64_t refinement_stream = 0x72656669;

// Chunks that are looked at before moves are made; not a matter of threads.
Index chunks_of_batch(Index num_chunks) {
  return std::clamp<Index>(num_chunks / 64, 32, 256);
}

// Sixteen bytes are widened by shifts and masks, which all machines have for vectors; so the sums of sixteen
// parts lie in another order: those of every second part first, or of every fourth.
constexpr int num_bytes = 16;

template <class Sum>
constexpr int place(int part) {
  constexpr int step = int(sizeof(Sum));
  return part / num_bytes * num_bytes + part % step * (num_bytes / step) + part % num_bytes / step;
}

template <class Sum>
struct Lanes {
  using Vector [[gnu::vector_size(num_bytes)]] = Sum;

  static Vector load(const void* from) {
    Vector lanes;
    std::memcpy(&lanes, from, sizeof lanes);
    return lanes;
  }
};

template <class Vector>
Vector larger(const Vector& a, const Vector& b) {
  return a > b ? a : b;
}

template <class Sum>
typename Lanes<Sum>::Vector largest_lanes(const Sum* sums) {
  auto maximum = Lanes<Sum>::load(sums);
  for (Index p = num_bytes / sizeof(Sum); p < block; p += num_bytes / sizeof(Sum))
    maximum = larger(maximum, Lanes<Sum>::load(sums + p));
  return maximum;
}

template <class Sum>
Sum largest(const typename Lanes<Sum>::Vector& lanes) {
  std::array<Sum, num_bytes / sizeof(Sum)> numbers;
  std::memcpy(numbers.data(), &lanes, sizeof lanes);
  Sum maximum = 0;
  for (const auto number : numbers) maximum = std::max(maximum, number);
  return maximum;
}

// The sums of one block of parts; those of nets with lists are in them already.
template <class Sum>
void add_block(std::span<const std::uint8_t* const> affinities, std::span<const std::int64_t> weights,
               Sum* sums, Index begin) {
  constexpr int step = int(sizeof(Sum)), num_lanes = num_bytes / step, num_vectors = int(block) / num_lanes;
  std::array<typename Lanes<Sum>::Vector, num_vectors> totals;
  for (int j = 0; j < num_vectors; ++j) totals[j] = Lanes<Sum>::load(sums + begin + num_lanes * j);
  for (std::size_t i = 0; i < affinities.size(); ++i) {
    const auto weight = Sum(weights[i]);
    for (int j = 0; j < num_vectors; ++j) {
      const auto bytes = Lanes<Sum>::load(affinities[i] + begin + j / step * num_bytes);
      totals[j] += (bytes >> Sum(8 * (j % step)) & Sum(0xff)) * weight;
    }
  }
  for (int j = 0; j < num_vectors; ++j)
    std::memcpy(sums + begin + num_lanes * j, &totals[j], sizeof totals[j]);
}

}  // namespace

Refiner::Refiner(const Hypergraph& h, std::vector<int>& parts, const PartLimits& limits,
                 const Objective& objective)
    : h_(h),
      parts_(parts),
      objective_(objective),
      num_parts_(int(limits[0].size())),
      balance_(h, parts, limits),
      counts_(h, parts, num_parts_),
      content_since_(std::size_t(h.num_vertices()), 0),
      changed_(std::size_t(h.num_nets()), 0) {
  for (Index lambda = 0; lambda <= num_parts_; ++lambda) steps_.push_back(objective.units_of_next(lambda));
}

// What a part more would cost the net if a vertex left the part `own`.
std::int64_t Refiner::weight_at(Index net, int own) const {
  if (objective_.kind == Objective::Kind::connectivity) return h_.net_weight(net);
  const Index left = counts_.lambda(net) - (counts_.of(net, own) == 1);
  return h_.net_weight(net) * steps_[left];
}

std::int64_t Refiner::gain(Index vertex, int to) const {
  const int own = parts_[vertex];
  std::int64_t gain = 0;
  for (const auto net : h_.nets(vertex))
    gain += weight_at(net, own) *
            (std::int64_t(counts_.affinity()(counts_.of(net, to))) - counts_.affinity_without_one(net, own));
  return gain;
}

// Nets with lists add to the sums; those with rows are noted.
template <class Sum>
void Refiner::add_lists(std::span<const LocalIndex> nets, Drawn& drawn, Sum* sums) const {
  drawn.affinities.clear();
  drawn.row_weights.clear();
  for (std::size_t i = 0; i < nets.size(); ++i) {
    const auto weight = drawn.weights[i] >> drawn.shift;
    if (const auto* affinities = counts_.affinities(nets[i])) {
      drawn.affinities.push_back(affinities);
      drawn.row_weights.push_back(weight);
    } else {
      counts_.for_each_listed(nets[i], [&](int part, std::uint8_t affinity) {
        auto& sum = sums[place<Sum>(part)];
        sum = Sum(sum + weight * affinity);
      });
    }
  }
}

// The part takes the place of the best so far if it is better, or as good and with more capacity left.
void Refiner::take_better(Proposal& best, int part, std::int64_t gain) const {
  if (gain < best.gain || part == parts_[best.vertex]) return;
  if (!balance_.fits(best.vertex, part)) {
    best.is_blocked = true;
    return;
  }
  if (best.part >= 0 && gain == best.gain && balance_.remaining(part) <= balance_.remaining(best.part))
    return;
  best.part = part;
  best.gain = gain;
}

template <class Sum>
Refiner::Proposal Refiner::best_part(Index vertex, Wish wish, Drawn& drawn, Sum* sums) const {
  const auto nets = h_.nets(vertex);
  const std::int64_t stay = drawn.stay >> drawn.shift;
  Proposal best{vertex, -1, wish == Wish::gain ? 0 : -stay, false};
  add_lists(nets, drawn, sums);
  sums[place<Sum>(parts_[vertex])] = 0;
  if (drawn.affinities.empty() && best.gain + stay > 0) {  // no part is good enough but those in the lists
    for (const auto net : nets)
      counts_.for_each_listed(net, [&](int part, std::uint8_t) {
        take_better(best, part, std::int64_t(std::exchange(sums[place<Sum>(part)], 0)) - stay);
      });
    return best;
  }
  typename Lanes<Sum>::Vector maximum{};
  for (Index begin = 0; begin < num_parts_; begin += block) {
    add_block(drawn.affinities, drawn.row_weights, sums, begin);
    if (parts_[vertex] / block == begin / block) sums[place<Sum>(parts_[vertex])] = 0;
    maximum = larger(maximum, largest_lanes(sums + begin));
  }
  const auto take_from = [&](std::int64_t bar) {
    for (Index begin = 0; begin < num_parts_; begin += block) {
      if (std::int64_t(largest<Sum>(largest_lanes(sums + begin))) < bar) continue;
      for (int part = int(begin); part < std::min<Index>(begin + block, num_parts_); ++part)
        if (const auto sum = std::int64_t(sums[place<Sum>(part)]); sum >= bar)
          take_better(best, part, sum - stay);
    }
  };
  // First the parts that are the best; the others if none of those has capacity left.
  const auto top = std::int64_t(largest<Sum>(maximum)), minimum = best.gain + stay;
  if (top >= minimum) take_from(top);
  if (best.part < 0 && top > minimum) take_from(minimum);
  std::fill_n(sums, counts_.width(), Sum{});
  return best;
}

Refiner::Proposal Refiner::propose(Index vertex, Wish wish, Scratch& scratch) const {
  scratch.num_nets_read += std::ssize(h_.nets(vertex));
  const int own = parts_[vertex];
  const std::int64_t full = counts_.affinity().full();
  auto& drawn = scratch.drawn;
  drawn.weights.clear();
  drawn.stay = 0;
  std::int64_t total = 0;
  for (const auto net : h_.nets(vertex)) {
    const auto weight = weight_at(net, own);
    drawn.weights.push_back(weight);
    drawn.stay += weight * counts_.affinity_without_one(net, own);
    total += weight * full;
  }
  if (wish == Wish::gain && drawn.stay == total) return {vertex, -1, 0, false};
  drawn.shift = 0;
  if (total <= std::numeric_limits<std::uint8_t>::max())
    return best_part(vertex, wish, drawn, scratch.bytes.data());
  if (total <= std::numeric_limits<std::uint16_t>::max())
    return best_part(vertex, wish, drawn, scratch.narrow.data());
  while (total >> drawn.shift > std::numeric_limits<std::uint32_t>::max()) ++drawn.shift;
  return best_part(vertex, wish, drawn, scratch.wide.data());
}

// The move is made if it still gains, or costs nothing and evens the parts out.
bool Refiner::is_wanted(const Proposal& proposal) const {
  const auto vertex = proposal.vertex;
  const int part = proposal.part;
  const int own = parts_[vertex];
  if (part < 0 || balance_.num_vertices(own) == 1 || !balance_.fits(vertex, part)) return false;
  const auto now = gain(vertex, part);
  return now > 0 || (now == 0 && balance_.evens_out(vertex, own, part));
}

void Refiner::move(Index vertex, int to) {
  const int from = parts_[vertex];
  for (const auto net : h_.nets(vertex))
    if (counts_.move_pin(net, from, to)) changed_[net] = now_;
  balance_.move(vertex, from, to);
  parts_[vertex] = to;
}

bool Refiner::is_as_before(Index vertex) const {
  const auto since = content_since_[vertex];
  return since > 0 && std::ranges::all_of(h_.nets(vertex), [&](auto net) { return changed_[net] < since; });
}

// In batches: what the vertices of one wish for does not depend on the order in which they are looked at.
Index Refiner::pass(const Affinity& affinity, std::uint64_t seed) {
  if (affinity != counts_.affinity()) std::ranges::fill(content_since_, 0);
  counts_.set_affinity(affinity);
  const auto chunks = shuffled((h_.num_vertices() + chunk - 1) / chunk, Random(seed, refinement_stream));
  const Index batch = chunks_of_batch(std::ssize(chunks));
  std::vector<Proposal> proposals;
  std::vector<Scratch> scratch(std::size_t(num_threads()), Scratch(counts_.width()));
  Index moved = 0;
  for (Index first = 0; first < std::ssize(chunks); first += batch) {
    const Index count = std::min<Index>(batch, std::ssize(chunks) - first);
    proposals.assign(std::size_t(count * chunk), {});
    parallel_parts(count, [&](Index begin, Index end, int thread) {
      for (Index c = begin; c < end; ++c) {
        const Index from = Index(chunks[first + c]) * chunk, to = std::min(from + chunk, h_.num_vertices());
        for (Index v = from; v < to; ++v) {
          if (v + 1 < to)
            for (const auto net : h_.nets(v + 1)) counts_.prefetch(net, parts_[v + 1]);
          if (is_as_before(v)) continue;
          auto& proposal = proposals[c * chunk + v - from] = propose(v, Wish::gain, scratch[thread]);
          content_since_[v] = proposal.part < 0 && !proposal.is_blocked ? now_ : 0;
        }
      }
    });
    for (const auto& proposal : proposals)
      if (is_wanted(proposal)) {
        move(proposal.vertex, proposal.part);
        ++moved;
      }
    ++now_;
  }
  return moved;
}

bool Refiner::rebalance() {
  if (is_balanced()) return true;
  counts_.set_affinity(Affinity::exact());
  Scratch scratch(counts_.width());
  std::vector<Proposal> leavers;
  for (Index v = 0; v < h_.num_vertices(); ++v)
    if (balance_.is_overloaded(parts_[v])) leavers.push_back(propose(v, Wish::leave, scratch));
  std::ranges::stable_sort(leavers, std::ranges::greater{}, &Proposal::gain);
  for (const auto& leaver : leavers) {
    if (!balance_.is_overloaded(parts_[leaver.vertex])) continue;
    const auto now = leaver.part >= 0 && balance_.fits(leaver.vertex, leaver.part)
                         ? leaver
                         : propose(leaver.vertex, Wish::leave, scratch);
    if (now.part >= 0) move(now.vertex, now.part);
  }
  return is_balanced();
}

// Vertices by what they gain by moving; those that were moved are not taken in again.
class Refiner::MoveQueue {
 public:
  explicit MoveQueue(Index num_vertices) : gain_(std::size_t(num_vertices), unknown) {}

  bool is_empty() const { return heap_.empty(); }
  bool was_moved(Index vertex) const { return gain_[std::size_t(vertex)] == moved; }
  // Only where it gains more than was known.
  void push(Index vertex, std::int64_t gain) {
    if (was_moved(vertex) || gain <= gain_[std::size_t(vertex)]) return;
    gain_[std::size_t(vertex)] = gain;
    heap_.emplace(gain, vertex);
  }
  // The vertex that gained most when it was pushed last, and is then unknown; -1: it is no longer known so.
  Index pop() {
    const auto [gain, vertex] = heap_.top();
    heap_.pop();
    auto& known = gain_[std::size_t(vertex)];
    if (known != gain) return -1;
    known = unknown;
    return vertex;
  }
  std::int64_t top_gain() const { return heap_.top().first; }
  void set_moved(Index vertex) { gain_[std::size_t(vertex)] = moved; }

 private:
  static constexpr auto unknown = std::numeric_limits<std::int64_t>::min();
  static constexpr auto moved = std::numeric_limits<std::int64_t>::max();

  std::vector<std::int64_t> gain_;  // [vertex]
  std::priority_queue<std::pair<std::int64_t, Index>> heap_;
};

// Those to whom the move has made another part better. Who is worse off is noticed when its turn comes.
void Refiner::queue_followers(Index vertex, int from, int to, MoveQueue& queue, Scratch& scratch) const {
  constexpr Index max_net_size = 1000;  // larger nets say little, and take long
  for (const auto net : h_.nets(vertex)) {
    if (h_.net_size(net) > max_net_size) continue;
    const bool is_first = counts_.of(net, to) == 1, leaves_one = counts_.of(net, from) == 1;
    if (!is_first && !leaves_one) continue;
    for (const auto v : h_.pins(net))
      if (!queue.was_moved(v) && (is_first || parts_[v] == from))
        if (const auto proposal = propose(v, Wish::leave, scratch); proposal.part >= 0)
          queue.push(v, proposal.gain);
  }
}

std::int64_t Refiner::climb(Index max_fruitless) {
  const Index max_work = std::max(max_climb_work * h_.num_pins(), little_work);
  counts_.set_affinity(Affinity::exact());
  std::ranges::fill(content_since_, 0);
  Scratch scratch(counts_.width());
  MoveQueue queue(h_.num_vertices());
  for (Index v = 0; v < h_.num_vertices(); ++v)
    if (std::ranges::any_of(h_.nets(v), [&](auto net) { return counts_.lambda(net) > 1; }))
      if (const auto proposal = propose(v, Wish::leave, scratch); proposal.part >= 0)
        queue.push(v, proposal.gain);
  std::vector<std::pair<Index, int>> moves;  // vertex, and the part that it left
  std::size_t num_kept = 0;
  std::int64_t total = 0, best = 0;
  while (!queue.is_empty() && std::ssize(moves) - Index(num_kept) <= max_fruitless &&
         scratch.num_nets_read <= max_work) {
    const Index vertex = queue.pop();
    if (vertex < 0 || balance_.num_vertices(parts_[vertex]) == 1) continue;
    const auto proposal = propose(vertex, Wish::leave, scratch);
    if (proposal.part < 0) continue;
    if (!queue.is_empty() && proposal.gain < queue.top_gain()) {
      queue.push(vertex, proposal.gain);
      continue;
    }
    const int from = parts_[vertex];
    total += gain(vertex, proposal.part);
    move(vertex, proposal.part);
    queue.set_moved(vertex);
    moves.emplace_back(vertex, from);
    if (total > best) best = total, num_kept = moves.size();
    queue_followers(vertex, from, proposal.part, queue, scratch);
  }
  for (; moves.size() > num_kept; moves.pop_back()) move(moves.back().first, moves.back().second);
  ++now_;
  return best;
}

// By how much the parts of two vertices exceed their limits, if these change places.
Index Refiner::excess_after(Index vertex, Index other) const {
  Index excess = 0;
  for (int c = 0; c < h_.num_constraints(); ++c) {
    const Index less = vertex == other ? 0 : h_.vertex_weight(vertex, c) - h_.vertex_weight(other, c);
    excess += std::max<Index>(0, -(balance_.remaining(parts_[vertex], c) + less)) +
              std::max<Index>(0, -(balance_.remaining(parts_[other], c) - less));
  }
  return excess;
}

// Of the exchanges that leave the least excess, one that costs little.
bool Refiner::exchange_one(int part, std::span<const int> partners,
                           std::span<const std::vector<Index>> members) {
  struct Candidate {
    Index excess, vertex, other;
    auto operator<=>(const Candidate&) const = default;
  };
  constexpr std::size_t max_priced = 256;
  Index own_excess = 0;
  for (int c = 0; c < h_.num_constraints(); ++c)
    own_excess += std::max<Index>(0, -balance_.remaining(part, c));
  std::vector<Candidate> candidates;
  for (const Index vertex : members[std::size_t(part)])
    for (const int partner : partners) {
      if (partner == part || balance_.is_overloaded(partner)) continue;
      for (const Index other : members[std::size_t(partner)]) {
        const Candidate candidate{excess_after(vertex, other), vertex, other};
        if (candidate.excess >= own_excess) continue;
        if (!candidates.empty() && candidate.excess < candidates.front().excess) candidates.clear();
        if (candidates.empty() ||
            (candidate.excess == candidates.front().excess && candidates.size() < max_priced))
          candidates.push_back(candidate);
      }
    }
  if (candidates.empty()) return false;
  const auto gain_of = [&](const Candidate& c) {
    return gain(c.vertex, parts_[c.other]) + gain(c.other, part);
  };
  const auto best = std::ranges::max_element(candidates, {}, gain_of);
  const int partner = parts_[best->other];
  move(best->vertex, partner);
  move(best->other, part);
  return true;
}

bool Refiner::exchange() {
  constexpr std::size_t few = 16;
  counts_.set_affinity(Affinity::exact());
  for (int part = 0; part < num_parts_; ++part)
    while (balance_.is_overloaded(part)) {
      std::vector<std::vector<Index>> members(static_cast<std::size_t>(num_parts_));
      for (Index v = 0; v < h_.num_vertices(); ++v) members[std::size_t(parts_[v])].push_back(v);
      std::vector<int> partners(static_cast<std::size_t>(num_parts_));
      std::iota(partners.begin(), partners.end(), 0);
      std::ranges::stable_sort(partners, std::ranges::greater{},
                               [&](int p) { return balance_.remaining(p); });
      const auto roomiest = std::span(partners).first(std::min(few, partners.size()));
      if (!exchange_one(part, roomiest, members) && !exchange_one(part, partners, members)) break;
    }
  return is_balanced();
}

bool Refiner::is_balanced() const {
  for (int part = 0; part < num_parts_; ++part)
    if (balance_.is_overloaded(part)) return false;
  return true;
}

}  // namespace polyad::hypergraph
