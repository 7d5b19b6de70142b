#pragma once

#include <functional>
#include <vector>

#include "polyad/dist/dist_tensor.hpp"
#include "polyad/tensor/kruskal_rows.hpp"

namespace polyad {

// The rows of a distributed model, handed to one process some at a time, so that no process holds a whole
// factor.
template <class Real>
class ServedRows {
 public:
  // local: the rows that this process owns of the tensor, which must outlive this. Collective.
  ServedRows(const DistTensor<Real>& x, Kruskal<Real> local, int root = 0);

  // On the root runs use(rows); the other processes hand it what it reads until it has ended. What it throws
  // is thrown on the root only, when they have been let go. Collective.
  void serve(const std::function<void(const KruskalRows<Real>&)>& use) const;

 private:
  struct Request {
    Index mode, begin, end;  // mode -1: there are no more
  };
  RowBlock<Real> gather(const Request& request) const;
  RowBlock<Real> own_rows(const Request& request) const;

  const DistTensor<Real>& x_;
  Kruskal<Real> local_;
  int root_;
  std::vector<Index> num_rows_;          // [mode]: of all processes
  std::vector<Array<Index>> ascending_;  // [mode]: own local rows, by global row
};

}  // namespace polyad
