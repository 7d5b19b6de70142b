#include "polyad/distributed/cp/tree_nodes.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "polyad/base/parallel.hpp"

namespace polyad {
namespace {

double rounded(double count) {
  constexpr double per_one = 1024;
  return std::round(count * per_one) / per_one;
}

// How many nodes there are for each that is seen, where a fraction of the nonzeros is drawn: by the estimator
// of Shlosser (docs/algorithms.md), from how many nodes have one nonzero drawn, two, and so on.
class UnseenNodes {
 public:
  explicit UnseenNodes(double fraction) : fraction_(fraction) {}

  void add(Index num_drawn) {
    ++num_seen_;
    if (fraction_ >= 1) return;
    const auto count = double(num_drawn);
    const double before_last = std::pow(1 - fraction_, count - 1);
    if (num_drawn == 1) ++num_single_;
    none_ += (1 - fraction_) * before_last;
    one_ += count * fraction_ * before_last;
  }

  double ratio_of_all() const { return one_ > 0 ? 1 + num_single_ / num_seen_ * none_ / one_ : 1; }

 private:
  double fraction_, num_seen_ = 0, num_single_ = 0, none_ = 0, one_ = 0;
};

class NodeCounter {
 public:
  NodeCounter(const NonzerosByRow& rows, int order, std::span<const int> parts, int num_parts,
              std::span<const double> weights, double weight)
      : rows_(rows),
        last_level_(order - 1),
        parts_(parts),
        weights_(weights),
        weight_(weight),
        in_fiber_(std::size_t(num_parts), 0),
        found_(std::size_t(num_parts), 0),
        counts_{std::vector<double>(std::size_t(num_parts), 0),
                std::vector<double>(std::size_t(num_parts), 0)} {}

  void add_row(Index row) {
    const Index begin = rows_.begin[row], end = rows_.begin[row + 1];
    double all = 0;
    for (Index k = begin; k < end; ++k) {
      const double weight = weights_.empty() ? weight_ : weights_[rows_.nonzeros[k]];
      counts_.nonzeros[part_of(k)] += rounded(weight);
      all += weight;
    }
    for (int level = 1; level < last_level_; ++level) add_level(level, begin, end, all);
  }

  const TreeNodes& counts() const { return counts_; }

 private:
  int part_of(Index k) const { return parts_.empty() ? 0 : parts_[rows_.nonzeros[k]]; }

  // Nodes of one level, in nonzeros [begin, end), which stand for `all`.
  void add_level(int level, Index begin, Index end, double all) {
    UnseenNodes unseen(double(end - begin) / all);
    for (Index k = begin; k < end; ++k) {
      if (int(rows_.level[k]) <= level) end_fiber(unseen);
      const int part = part_of(k);
      if (in_fiber_[part]++ == 0) parts_of_fiber_.push_back(part);
    }
    end_fiber(unseen);
    const double ratio = unseen.ratio_of_all();
    for (const int part : parts_of_row_) {
      counts_.nodes[part] += rounded(ratio * double(found_[part]));
      found_[part] = 0;
    }
    parts_of_row_.clear();
  }

  void end_fiber(UnseenNodes& unseen) {
    for (const int part : parts_of_fiber_) {
      if (found_[part]++ == 0) parts_of_row_.push_back(part);
      unseen.add(std::exchange(in_fiber_[part], 0));
    }
    parts_of_fiber_.clear();
  }

  const NonzerosByRow& rows_;
  int last_level_;
  std::span<const int> parts_;
  std::span<const double> weights_;
  double weight_;
  std::vector<Index> in_fiber_, found_;             // [part]: nonzeros of the fiber, nodes of the row
  std::vector<int> parts_of_fiber_, parts_of_row_;  // those that have some
  TreeNodes counts_;
};

}  // namespace

void TreeNodes::add(const TreeNodes& other) {
  for (std::size_t p = 0; p < nodes.size(); ++p) {
    nodes[p] += other.nodes[p];
    nonzeros[p] += other.nonzeros[p];
  }
}

TreeNodes count_tree_nodes(const NonzerosByRow& rows, int order, std::span<const int> parts, int num_parts,
                           std::span<const double> weights, double weight) {
  std::vector<TreeNodes> pieces(static_cast<std::size_t>(num_threads()));
  parallel_rows(rows, [&](Index begin, Index end, int thread) {
    NodeCounter counter(rows, order, parts, num_parts, weights, weight);
    for (Index row = begin; row < end; ++row) counter.add_row(row);
    pieces[std::size_t(thread)] = counter.counts();
  });
  const auto none = std::vector<double>(std::size_t(num_parts), 0);
  TreeNodes sum{none, none};
  for (const auto& piece : pieces)
    if (!piece.nodes.empty()) sum.add(piece);
  return sum;
}

}  // namespace polyad
