#include "polyad/dist/served_rows.hpp"

#include <algorithm>
#include <exception>
#include <numeric>

#include "polyad/base/parallel.hpp"

namespace polyad {
namespace {

Array<Index> by_ascending(std::span<const Index> keys) {
  Array<Index> order(keys.size());
  std::iota(order.begin(), order.end(), Index(0));
  std::ranges::sort(order, {}, [&](Index i) { return keys[i]; });
  return order;
}

}  // namespace

template <class Real>
ServedRows<Real>::ServedRows(const DistTensor<Real>& x, Kruskal<Real> local, int root)
    : x_(x), local_(std::move(local)), root_(root) {
  for (int m = 0; m < x.order(); ++m) {
    ascending_.push_back(by_ascending(x.rows(m).first(std::size_t(x.num_owned(m)))));
    num_rows_.push_back(x.comm().all_reduce(x.num_owned(m)));
  }
}

template <class Real>
RowBlock<Real> ServedRows<Real>::own_rows(const Request& request) const {
  const auto mode = int(request.mode);
  const auto global = x_.rows(mode);
  const auto row_of = [&](Index local) { return global[local]; };
  const auto& order = ascending_[mode];
  const auto first = std::ranges::lower_bound(order, request.begin, {}, row_of);
  const auto last = std::ranges::lower_bound(order, request.end, {}, row_of);
  RowBlock<Real> own{Array<Index>(std::size_t(last - first)),
                     Matrix<Real>(last - first, local_.num_components())};
  parallel_for(last - first, [&](Index i) {
    own.rows[i] = row_of(first[i]);
    std::ranges::copy(local_.factors[mode].row(first[i]), own.values.row(i).begin());
  });
  return own;
}

template <class Real>
RowBlock<Real> ServedRows<Real>::gather(const Request& request) const {
  auto own = own_rows(request);
  if (x_.comm().size() == 1) return own;
  const auto rows = x_.comm().template gather_varying<Index>(own.rows, root_);
  const auto values = x_.comm().template gather_varying<Real>(own.values.flat(), root_);
  const auto order = by_ascending(rows.items);
  const Index n = local_.num_components();
  RowBlock<Real> all{Array<Index>(order.size()), Matrix<Real>(std::ssize(order), n)};
  parallel_for(std::ssize(order), [&](Index i) {
    all.rows[i] = rows.items[order[i]];
    std::copy_n(values.items.data() + order[i] * n, n, all.values.row(i).data());
  });
  return all;
}

template <class Real>
void ServedRows<Real>::serve(const std::function<void(const KruskalRows<Real>&)>& use) const {
  const Comm& comm = x_.comm();
  const Request no_more{-1, 0, 0};
  if (comm.rank() != root_) {
    for (Request r = comm.broadcast(no_more, root_); r.mode >= 0; r = comm.broadcast(no_more, root_))
      gather(r);
    return;
  }
  std::exception_ptr error;
  try {
    use({local_.weights, x_.extents(), num_rows_, [&](int mode, Index begin, Index end) {
           return gather(comm.broadcast(Request{mode, begin, end}, root_));
         }});
  } catch (...) {
    error = std::current_exception();
  }
  (void)comm.broadcast(no_more, root_);
  if (error) std::rethrow_exception(error);
}

template class ServedRows<float>;
template class ServedRows<double>;

}  // namespace polyad
