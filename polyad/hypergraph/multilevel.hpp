#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "polyad/hypergraph/balance.hpp"
#include "polyad/hypergraph/clustering.hpp"

namespace polyad::hypergraph {

// A hypergraph with its successively coarser versions.
class Hierarchy {
 public:
  // Coarsens until the number of vertices is suitable for the
  // number of parts. Clusters do not cross `parts`, if given.
  Hierarchy(const Hypergraph& h, const PartLimits& limits, std::span<const int> parts, std::uint64_t seed);

  int num_levels() const { return int(coarser_.size()) + 1; }
  // Level i; 0 is the hypergraph itself.
  const Hypergraph& level(int i) const { return i == 0 ? *finest_ : coarser_[i - 1].h; }
  const Hypergraph& coarsest() const { return level(num_levels() - 1); }

  // Parts of the vertices of level i, given those of level i + 1.
  std::vector<int> refined(std::span<const int> parts, int level) const;
  // Parts of the coarsest vertices, given those of the finest: for each cluster that of most of its weight.
  std::vector<int> coarsened(std::span<const int> parts) const;

 private:
  struct Level {
    Clustering clustering;  // of the vertices of the next finer level
    Hypergraph h;
  };

  const Hypergraph* finest_;
  std::vector<Level> coarser_;
};

}  // namespace polyad::hypergraph
