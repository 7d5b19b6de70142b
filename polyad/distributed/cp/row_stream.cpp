#include "polyad/distributed/cp/row_stream.hpp"

#include <algorithm>
#include <numeric>

#include "polyad/base/parallel.hpp"
#include "polyad/comm/runtime.hpp"

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
RowStream<Real>::RowStream(const DistTensor<Real>& x, Kruskal<Real> local,
                           std::vector<std::vector<double>> empty_rows, int root)
    : x_(x), local_(std::move(local)), empty_rows_(std::move(empty_rows)), root_(root) {
  for (int m = 0; m < x.order(); ++m) {
    ascending_.push_back(by_ascending(x.rows(m).first(std::size_t(x.num_owned(m)))));
    own_.emplace_back();
    for (const Index row : ascending_.back()) own_.back().push_back(x.rows(m)[row]);
    num_rows_.push_back(x.comm().all_reduce(x.num_owned(m)));
  }
}

template <class Real>
RowBlock<Real> RowStream<Real>::own_rows(const Request& request) const {
  const auto mode = int(request.mode);
  const auto& rows = own_[mode];
  const auto first = std::ranges::lower_bound(rows, request.begin) - rows.begin();
  const auto last = std::ranges::lower_bound(rows, request.end) - rows.begin();
  RowBlock<Real> own{{rows.begin() + first, rows.begin() + last},
                     Matrix<Real>(last - first, local_.num_components())};
  parallel_for(last - first, [&](Index i) {
    std::ranges::copy(local_.factors[mode].row(ascending_[mode][first + i]), own.values.row(i).begin());
  });
  return own;
}

// Every process has an equal share of them, at most.
template <class Real>
Index RowStream<Real>::end_of(const Request& request) const {
  const auto mode = int(request.mode);
  const Index count = std::max<Index>(1, request.count / x_.comm().size());
  return x_.comm().all_reduce(end_of_stretch(own_[mode], x_.extents()[mode], request.begin, count),
                              Reduce::min);
}

template <class Real>
RowBlock<Real> RowStream<Real>::gather(const Request& request) const {
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
std::exception_ptr RowStream<Real>::serve(const std::function<void(const KruskalRows<Real>&)>& use) const {
  const OneProcessWorks patience;
  const Comm& comm = x_.comm();
  const Request no_more{-1, 0, 0};
  if (comm.rank() != root_) {
    for (Request r = comm.broadcast(no_more, root_); r.mode >= 0; r = comm.broadcast(no_more, root_))
      r.count > 0 ? void(end_of(r)) : void(gather(r));
    return nullptr;
  }
  std::exception_ptr error;
  bool is_under_way = false;
  const auto together = [&](const Request& request, auto answer) {
    is_under_way = true;
    auto result = answer(comm.broadcast(request, root_));
    is_under_way = false;
    return result;
  };
  try {
    use({local_.weights, x_.extents(), num_rows_,
         [&](int mode, Index begin, Index end) {
           return together({mode, begin, end}, [&](const Request& r) { return gather(r); });
         },
         [&](int mode, Index begin, Index count) {
           return together({mode, begin, 0, count}, [&](const Request& r) { return end_of(r); });
         },
         empty_rows_});
  } catch (...) {
    if (is_under_way) throw;
    error = std::current_exception();
  }
  (void)comm.broadcast(no_more, root_);
  return error;
}

template class RowStream<float>;
template class RowStream<double>;

}  // namespace polyad
