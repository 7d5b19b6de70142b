#pragma once

#include <exception>
#include <functional>
#include <vector>

#include "polyad/distributed/cp/dist_tensor.hpp"
#include "polyad/tensor/kruskal_rows.hpp"

namespace polyad {

// The rows of a distributed model, handed to one process some at a time, so that no process holds a whole
// factor.
template <class Real>
class RowStream {
 public:
  // local: the rows that this process owns of the tensor, which must outlive this. Collective.
  RowStream(const DistTensor<Real>& x, Kruskal<Real> local, int root = 0);

  // On the root runs use(rows); the other processes hand it what it reads until it has ended. Returns, on the
  // root, what it threw, when they have been let go. What fails while rows are on their way is thrown where
  // it failed, and the others wait. Collective.
  [[nodiscard]] std::exception_ptr serve(const std::function<void(const KruskalRows<Real>&)>& use) const;

 private:
  // mode -1: there are no more; count > 0: not the rows, but where so many of them end
  struct Request {
    Index mode, begin, end, count = 0;
  };
  Index end_of(const Request& request) const;
  RowBlock<Real> gather(const Request& request) const;
  RowBlock<Real> own_rows(const Request& request) const;

  const DistTensor<Real>& x_;
  Kruskal<Real> local_;
  int root_;
  std::vector<Index> num_rows_;          // [mode]: of all processes
  std::vector<Array<Index>> ascending_;  // [mode]: own local rows, by global row
  std::vector<Array<Index>> own_;        // [mode]: their global rows, ascending
};

}  // namespace polyad
