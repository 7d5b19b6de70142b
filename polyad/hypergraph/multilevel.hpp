#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "polyad/hypergraph/balance.hpp"
#include "polyad/hypergraph/clustering.hpp"

namespace polyad::hypergraph {

// A hypergraph under ever coarser views of it.
class Hierarchy {
 public:
  // Coarsens until about enough vertices for the parts are left. Clusters stay inside `parts`, if there are
  // any.
  Hierarchy(const Hypergraph& h, const PartLimits& limits, std::span<const int> parts, std::uint64_t seed);

  int num_levels() const { return int(coarser_.size()) + 1; }
  // 0: the hypergraph itself.
  const Hypergraph& level(int i) const { return i == 0 ? *finest_ : coarser_[i - 1].h; }
  const Hypergraph& coarsest() const { return level(num_levels() - 1); }

  // Parts of the vertices of level i, from those of level i + 1.
  std::vector<int> refined(std::span<const int> parts, int level) const;
  // Parts of the coarsest vertices, from those of the finest: of each cluster where most of its weight is.
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
