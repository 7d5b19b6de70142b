#pragma once

#include <exception>
#include <functional>
#include <vector>

#include "polyad/distributed/cp/dist_tensor.hpp"
#include "polyad/tensor/kruskal_rows.hpp"
#include "polyad/tensor/row_sink.hpp"

namespace polyad {

// Provides the rows of a distributed model to one process
// in blocks, so that no process holds a whole factor.
template <class Real>
class RowStream {
 public:
  // local: the rows of the model that this process owns; empty_rows: see KruskalRows. The tensor must outlive
  // this object. Collective.
  RowStream(const DistTensor<Real>& x, Kruskal<Real> local, std::vector<std::vector<double>> empty_rows = {},
            int root = 0);

  // Runs use(rows) on the root, while the other processes send the rows that it reads.
  // Returns, on the root, the exception that `use` threw, after the others have been
  // released. Errors of communication are thrown where they occur. Collective.
  [[nodiscard]] std::exception_ptr serve(const std::function<void(const KruskalRows<Real>&)>& use) const;
  // The same, for a `use` that lets all processes write, each through its own sink: rows move to the process
  // that writes them in blocks of bounded size. An error of any process with a file or a value is thrown in
  // `use`. Collective.
  [[nodiscard]] std::exception_ptr serve(
      const std::function<void(const KruskalRows<Real>&, const WriteTogether&)>& use,
      const RowSink& sink) const;

 private:
  // mode -1: end; count > 0: asks only where a block of `count` rows ends; writes: the rest is a FilePlace,
  // its file of `end` bytes
  struct Request {
    Index mode, begin, end, count = 0;
    bool writes = false;
    RowForm form = RowForm::text;
  };
  struct Written;
  void answer(const Request& request, const RowSink& sink) const;
  Written write_together(const Request& request, std::string file, const RowSink& sink) const;
  void write_rows(const Request& request, const RowSink& sink, std::vector<StoredPiece>& pieces) const;
  std::vector<StoredPiece> write_pieces(Index offset, const std::string& own, const RowSink& sink) const;
  RowBlock<Real> share_out(const Request& request) const;
  Index end_of(const Request& request) const;
  RowBlock<Real> gather(const Request& request) const;
  RowBlock<Real> own_rows(const Request& request) const;

  const DistTensor<Real>& x_;
  Kruskal<Real> local_;
  std::vector<std::vector<double>> empty_rows_;
  int root_;
  std::vector<Index> num_rows_;          // [mode]: of all processes
  std::vector<Array<Index>> ascending_;  // [mode]: own local rows, ordered by global row
  std::vector<Array<Index>> own_;        // [mode]: their global rows, ascending
};

}  // namespace polyad
