#pragma once

#include <algorithm>
#include <numeric>

#include "polyad/base/parallel.hpp"
#include "polyad/distributed/cp/dist_tensor.hpp"

namespace polyad::test {

// The rows of a model that exist: those of slices that hold nonzeros.
template <class Real>
struct SparseModel {
  Kruskal<Real> model;
  std::vector<Array<Index>> rows;  // [mode][row of the factor]: row of the whole, ascending
};

// From the rows that each process owns; on the root, and without rows elsewhere. Collective.
template <class Real>
SparseModel<Real> gather_rows(const DistTensor<Real>& x, Kruskal<Real> local, int root = 0) {
  const Comm& comm = x.comm();
  SparseModel<Real> result{{local.weights, {}}, {}};
  const Index n = local.num_components();
  for (int m = 0; m < x.order(); ++m) {
    const auto own = x.rows(m).first(std::size_t(x.num_owned(m)));
    if (comm.size() == 1) {
      result.rows.emplace_back(own.begin(), own.end());
      result.model.factors.push_back(std::move(local.factors[m]));
      continue;
    }
    const auto rows = comm.template gather_varying<Index>(own, root);
    const auto values = comm.template gather_varying<Real>(local.factors[m].flat(), root);
    local.factors[m] = {};
    std::vector<Index> order(rows.items.size());
    std::iota(order.begin(), order.end(), Index(0));
    std::ranges::sort(order, {}, [&](Index i) { return rows.items[i]; });
    auto& factor = result.model.factors.emplace_back(std::ssize(order), n);
    auto& sorted = result.rows.emplace_back(order.size());
    parallel_for(std::ssize(order), [&](Index i) {
      sorted[i] = rows.items[order[i]];
      std::copy_n(values.items.data() + order[i] * n, n, factor.row(i).data());
    });
  }
  return result;
}

// With a row for every index of every mode, those of empty slices zero.
template <class Real>
Kruskal<double> with_all_rows(const SparseModel<Real>& sparse, std::span<const Index> extents) {
  Kruskal<double> whole{sparse.model.weights, {}};
  for (int m = 0; m < sparse.model.order(); ++m) {
    const auto& from = sparse.model.factors[m];
    auto& to = whole.factors.emplace_back(extents[m], from.num_cols());
    parallel_for(from.num_rows(),
                 [&](Index row) { std::ranges::copy(from.row(row), to.row(sparse.rows[m][row]).begin()); });
  }
  return whole;
}

}  // namespace polyad::test
