#include "polyad/distributed/cp/row_stream.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "polyad/base/parallel.hpp"
#include "polyad/comm/collective.hpp"
#include "polyad/comm/runtime.hpp"

namespace polyad {
namespace {

Array<Index> by_ascending(std::span<const Index> keys) {
  Array<Index> order(keys.size());
  std::iota(order.begin(), order.end(), Index(0));
  std::ranges::sort(order, {}, [&](Index i) { return keys[i]; });
  return order;
}

// An error that all processes have, so that none waits for another.
struct CommonError {
  std::exception_ptr error;
};

// As collectively(). Errors of communication are thrown as they are.
template <class Fn>
std::invoke_result_t<Fn> with_common_error(const Comm& comm, Fn fn) {
  try {
    return collectively(comm, fn);
  } catch (const Error& error) {
    if (error.code() == Errc::comm) throw;
    throw CommonError{std::current_exception()};
  }
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

// What became of a file that all were to write.
template <class Real>
struct RowStream<Real>::Written {
  std::optional<std::vector<StoredPiece>> pieces;
  std::exception_ptr error;  // the same on all processes
};

// Of the rows in [begin, end) every process gets those of an equal part of the range.
template <class Real>
RowBlock<Real> RowStream<Real>::share_out(const Request& request) const {
  const Comm& comm = x_.comm();
  const auto own = own_rows(request);
  const Index n = local_.num_components();
  std::vector<Index> send_counts;
  auto place = own.rows.begin();
  for (int p = 0; p < comm.size(); ++p) {
    const Index end = request.begin + part_begin(request.end - request.begin, p + 1, comm.size());
    const auto beyond = std::lower_bound(place, own.rows.end(), end);
    send_counts.push_back(beyond - place);
    place = beyond;
  }
  auto receive_counts = comm.exchange_counts(send_counts);
  Array<Index> rows(std::size_t(std::reduce(receive_counts.begin(), receive_counts.end())));
  comm.template all_to_all<Index>(own.rows, send_counts, rows, receive_counts);
  Array<Real> values(rows.size() * std::size_t(n));
  for (auto* counts : {&send_counts, &receive_counts})
    for (Index& count : *counts) count *= n;
  comm.template all_to_all<Real>(own.values.flat(), send_counts, values, receive_counts);
  const auto order = by_ascending(rows);
  RowBlock<Real> all{Array<Index>(order.size()), Matrix<Real>(std::ssize(order), n)};
  parallel_for(std::ssize(order), [&](Index i) {
    all.rows[i] = rows[order[i]];
    std::copy_n(values.data() + order[i] * n, n, all.values.row(i).data());
  });
  return all;
}

// Appends what each process has. Where pieces meet within a page, the root writes them: file systems that are
// shared by machines may lose bytes of a page that two of them write.
template <class Real>
std::vector<StoredPiece> RowStream<Real>::write_pieces(Index offset, const std::string& own,
                                                       const RowSink& sink) const {
  constexpr Index page = 1 << 16;  // as large as systems have it
  const Comm& comm = x_.comm();
  auto pieces = comm.all_gather(StoredPiece{std::ssize(own), sink.crc(own)});
  struct Edges {
    Index begin, inner_begin, inner_end, end;
  };
  std::vector<Edges> edges;
  for (const auto& piece : pieces) {
    const Index end = offset + piece.bytes;
    const Index inner_begin = std::min(end, (offset + page - 1) / page * page);
    edges.push_back({offset, inner_begin, std::max(inner_begin, end / page * page), end});
    offset = end;
  }
  const auto& mine = edges[comm.rank()];
  const std::string_view bytes(own);
  const auto part = [&](Index begin, Index end) {
    return bytes.substr(std::size_t(begin - mine.begin), std::size_t(end - begin));
  };
  std::string at_edges(part(mine.begin, mine.inner_begin));
  at_edges += part(mine.inner_end, mine.end);
  const auto gathered = comm.template gather_varying<char>(at_edges, root_);
  with_common_error(comm, [&] {
    sink.write(mine.inner_begin, part(mine.inner_begin, mine.inner_end));
    if (comm.rank() != root_) return;
    std::string_view rest(gathered.items.data(), gathered.items.size());
    for (const auto& edge : edges)
      for (const auto& [begin, end] :
           {std::pair(edge.begin, edge.inner_begin), std::pair(edge.inner_end, edge.end)}) {
        sink.write(begin, rest.substr(0, std::size_t(end - begin)));
        rest.remove_prefix(std::size_t(end - begin));
      }
  });
  return pieces;
}

template <class Real>
void RowStream<Real>::write_rows(const Request& request, const RowSink& sink,
                                 std::vector<StoredPiece>& pieces) const {
  const Comm& comm = x_.comm();
  const auto mode = int(request.mode);
  // Text, several times as long as the numbers, is stored in a string.
  const Index divisor = request.form == RowForm::text ? 4 : 1;
  const Index step = std::max<Index>(1, rows_at_once(local_.num_components()) / divisor);
  const Index extent = x_.extents()[mode];
  const auto empty_row =
      empty_rows_.empty() ? std::span<const double>() : std::span<const double>(empty_rows_[mode]);
  Index offset = request.begin;
  for (Index begin = 0, end = 0; begin < extent; begin = end) {
    end = std::min(comm.all_reduce(end_of_stretch(own_[mode], extent, begin, step), Reduce::min),
                   begin + step * comm.size());
    const Index first = begin + part_begin(end - begin, comm.rank(), comm.size());
    const Index last = begin + part_begin(end - begin, comm.rank() + 1, comm.size());
    const auto block = share_out({request.mode, begin, end});
    const auto own = with_common_error(comm, [&] {
      return sink.store(mode, request.form, first, full_block(block, first, last, empty_row));
    });
    for (const auto& piece : write_pieces(offset, own, sink)) {
      pieces.push_back(piece);
      offset += piece.bytes;
    }
  }
}

// Errors of files and values are those of all processes. What fails on one alone, such as memory for rows,
// and communication are thrown, and end the run.
template <class Real>
typename RowStream<Real>::Written RowStream<Real>::write_together(const Request& request, std::string file,
                                                                  const RowSink& sink) const {
  const Comm& comm = x_.comm();
  Written written;
  comm.broadcast(std::span(file), root_);
  try {
    const bool is_open = with_common_error(comm, [&] { return sink.open(file); });
    if (comm.all_reduce(std::int32_t(is_open), Reduce::min) == 1) {
      std::vector<StoredPiece> pieces;
      write_rows(request, sink, pieces);
      written.pieces = std::move(pieces);
    }
    with_common_error(comm, [&] { sink.close(); });
  } catch (const CommonError& common) {
    written = {{}, common.error};
  }
  return written;
}

template <class Real>
void RowStream<Real>::answer(const Request& request, const RowSink& sink) const {
  if (request.writes)
    write_together(request, std::string(std::size_t(request.end), '\0'), sink);
  else if (request.count > 0)
    end_of(request);
  else
    gather(request);
}

template <class Real>
std::exception_ptr RowStream<Real>::serve(const std::function<void(const KruskalRows<Real>&)>& use) const {
  return serve([&](const KruskalRows<Real>& rows, const WriteTogether&) { use(rows); }, {});
}

template <class Real>
std::exception_ptr RowStream<Real>::serve(
    const std::function<void(const KruskalRows<Real>&, const WriteTogether&)>& use,
    const RowSink& sink) const {
  const OneProcessWorks patience;
  const Comm& comm = x_.comm();
  const Request no_more{-1, 0, 0};
  if (comm.rank() != root_) {
    for (Request r = comm.broadcast(no_more, root_); r.mode >= 0; r = comm.broadcast(no_more, root_))
      answer(r, sink);
    return nullptr;
  }
  std::exception_ptr error;
  bool is_under_way = false;
  const auto together = [&](const Request& request, auto answer_it) {
    is_under_way = true;
    auto result = answer_it(comm.broadcast(request, root_));
    is_under_way = false;
    return result;
  };
  const auto write = [&](const FilePlace& place) {
    const auto written = together({place.mode, place.offset, std::ssize(place.file), 0, true, place.form},
                                  [&](const Request& r) { return write_together(r, place.file, sink); });
    if (written.error) std::rethrow_exception(written.error);
    return written.pieces;
  };
  try {
    use({local_.weights, x_.extents(), num_rows_,
         [&](int mode, Index begin, Index end) {
           return together({mode, begin, end}, [&](const Request& r) { return gather(r); });
         },
         [&](int mode, Index begin, Index count) {
           return together({mode, begin, 0, count}, [&](const Request& r) { return end_of(r); });
         },
         empty_rows_},
        comm.size() == 1 ? WriteTogether() : WriteTogether(write));
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
