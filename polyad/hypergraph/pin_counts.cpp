#include "polyad/hypergraph/pin_counts.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "polyad/base/parallel.hpp"

namespace polyad::hypergraph {

namespace {

constexpr Index lanes = 32;  // rows are whole vectors of bytes

// From this many pins on a net has a row.
Index min_pins_of_row(int num_parts) {
  return std::max<Index>(4, num_parts / 8);
}

}  // namespace

Affinity Affinity::exact() {
  Affinity affinity;
  affinity.table_.fill(1);
  affinity.table_[0] = 0;
  return affinity;
}

Affinity Affinity::smoothed(double chance) {
  assert(chance > 0 && chance < 1);
  constexpr double maximum = 63;  // those of four nets, as most vertices have, add up to a byte
  Affinity affinity;
  for (Index n = 0; n < num_steps; ++n)
    affinity.table_[std::size_t(n)] =
        std::uint8_t(std::lround(maximum * (1 - std::pow(1 - chance, double(n)))));
  return affinity;
}

PinCounts::PinCounts(const Hypergraph& h, std::span<const int> parts, int num_parts)
    : width_((num_parts + lanes - 1) / lanes * lanes),
      row_(std::size_t(h.num_nets())),
      lambda_(std::size_t(h.num_nets()), 0) {
  Index num_rows = 0, num_entries = 0;
  for (Index net = 0; net < h.num_nets(); ++net) {
    if (h.net_size(net) >= min_pins_of_row(num_parts)) {
      row_[net] = num_rows++;
    } else {
      row_[net] = ~num_entries;
      num_entries += h.net_size(net);
    }
  }
  counts_.assign(std::size_t(num_rows * width_), 0);
  affinities_.assign(std::size_t(num_rows * 2 * width_), 0);
  entries_.resize(std::size_t(num_entries));
  parallel_for(h.num_nets(), [&](Index net) {
    for (const auto v : h.pins(net)) add_pin(net, parts[v]);
  });
}

void PinCounts::add_pin(Index net, int part) {
  if (const Index row = row_[net]; row >= 0) {
    auto& count = counts_[row * width_ + part];
    lambda_[net] += count++ == 0;
    set_affinities(row, part);
    return;
  }
  for (auto& entry : list(net))
    if (entry.part == part) {
      ++entry.count;
      return;
    }
  entries_[std::size_t(~row_[net] + lambda_[net]++)] = {std::uint16_t(part), 1};
}

void PinCounts::remove_pin(Index net, int part) {
  if (const Index row = row_[net]; row >= 0) {
    auto& count = counts_[row * width_ + part];
    assert(count > 0);
    lambda_[net] -= --count == 0;
    set_affinities(row, part);
    return;
  }
  const auto entries = list(net);
  const auto entry = std::ranges::find(entries, part, &Entry::part);
  assert(entry != entries.end());
  if (--entry->count > 0) return;
  *entry = entries.back();
  --lambda_[net];
}

bool PinCounts::move_pin(Index net, int from, int to) {
  const Index left = of(net, from) - 1, before = of(net, to);
  remove_pin(net, from);
  add_pin(net, to);
  // Leaving a part changes the cost of the net if it depends on the number of parts.
  return left == 0 || affinity_(before + 1) != affinity_(before) || affinity_(left - 1) != affinity_(left);
}

void PinCounts::set_affinities(Index row, int part) {
  const Index count = counts_[row * width_ + part];
  auto* affinities = affinities_.data() + row * 2 * width_ + part;
  affinities[0] = affinity_(count);
  affinities[width_] = affinity_(std::max<Index>(count - 1, 0));
}

void PinCounts::set_affinity(const Affinity& affinity) {
  if (affinity == affinity_) return;
  affinity_ = affinity;
  parallel_for(std::ssize(counts_) / width_, [&](Index row) {
    for (int part = 0; part < width_; ++part) set_affinities(row, part);
  });
}

}  // namespace polyad::hypergraph
