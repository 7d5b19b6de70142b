#include "polyad/dist/dist_tensor.hpp"

#include <algorithm>

#include "polyad/base/parallel.hpp"

namespace polyad {

template <class Real>
Kruskal<double> gather_model(const DistTensor<Real>& x, const Kruskal<Real>& local) {
  Kruskal<double> model{local.weights, {}};
  for (int m = 0; m < x.order(); ++m) {
    auto& factor = model.factors.emplace_back(x.extents()[m], local.num_components());
    parallel_for(x.num_rows(m), [&](Index row) {
      std::ranges::copy(local.factors[m].row(row), factor.row(x.rows(m)[row]).begin());
    });
  }
  return model;
}

template Kruskal<double> gather_model(const DistTensor<float>&, const Kruskal<float>&);
template Kruskal<double> gather_model(const DistTensor<double>&, const Kruskal<double>&);

}  // namespace polyad
