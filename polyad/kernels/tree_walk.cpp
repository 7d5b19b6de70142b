#include "polyad/kernels/tree_walk.hpp"

#include "polyad/base/parallel.hpp"

namespace polyad {

template <class Real>
std::vector<Index> cut_evenly(const CsfTree<Real>& tree, int num_parts) {
  // In units of a nonzero's work: a node of the second level costs two gathers of rows, a slice a solve.
  const Index nodes = tree.num_nodes(1);
  const auto work_before = [&](Index node) {
    return tree.first_nonzero(1, node) + 2 * node +
           (node < nodes ? 8 * tree.parent(1, node) : 8 * tree.num_nodes(0));
  };
  std::vector<Index> cuts{0};
  for (int part = 1; part < num_parts; ++part) {
    const Index work = part_begin(work_before(nodes), part, num_parts);
    Index low = cuts.back(), high = nodes;
    while (low < high) {
      const Index middle = low + (high - low) / 2;
      if (work_before(middle) < work)
        low = middle + 1;
      else
        high = middle;
    }
    cuts.push_back(low);
  }
  cuts.push_back(nodes);
  return cuts;
}

template std::vector<Index> cut_evenly(const CsfTree<float>&, int);
template std::vector<Index> cut_evenly(const CsfTree<double>&, int);

}  // namespace polyad
