#include <algorithm>
#include <cstring>

#include "polyad/base/error.hpp"
#include "polyad/base/timings.hpp"
#include "polyad/comm/comm.hpp"
#include "polyad/comm/comm_impl.hpp"
#include "polyad/comm/mpi_transfers.hpp"

namespace polyad {
namespace {

using mpi::Call, mpi::check, mpi::for_each_piece, mpi::Transfers, mpi::Waiting;

constexpr int internal_tag = Comm::max_tag + 1;  // MPI promises tags up to 32767

template <Number T>
MPI_Datatype mpi_type() {
  if constexpr (std::same_as<T, std::int32_t>) return MPI_INT32_T;
  if constexpr (std::same_as<T, std::int64_t>) return MPI_INT64_T;
  if constexpr (std::same_as<T, float>) return MPI_FLOAT;
  if constexpr (std::same_as<T, double>) return MPI_DOUBLE;
}

MPI_Op mpi_op(Reduce op) {
  switch (op) {
    case Reduce::sum:
      return MPI_SUM;
    case Reduce::max:
      return MPI_MAX;
    case Reduce::min:
      return MPI_MIN;
  }
  return MPI_OP_NULL;
}

const std::byte* as_bytes(const void* p) {
  return static_cast<const std::byte*>(p);
}

std::byte* as_bytes(void* p) {
  return static_cast<std::byte*>(p);
}

void copy_bytes(const std::byte* from, std::byte* to, Index bytes) {
  if (bytes > 0) std::memcpy(to, from, std::size_t(bytes));
}

// The most items that go in one message. Bytes are kept below 2^31 as well: counts of bytes are handed to
// MPI as int, and an all_reduce has a buffer of this size inside.
Index piece_items(Index limit, Index item_bytes) {
  return std::min(limit, Comm::default_message_limit / item_bytes);
}

template <Number T>
void reduce_pieces(std::span<T> inout, Reduce op, MPI_Comm comm, Index limit) {
  const Waiting waiting(Call::all_reduce);
  for_each_piece(std::ssize(inout), piece_items(limit, sizeof(T)), [&](Index begin, int count) {
    check(MPI_Allreduce(MPI_IN_PLACE, inout.data() + begin, count, mpi_type<T>(), mpi_op(op), comm),
          "MPI_Allreduce");
  });
}

// Unsigned numbers with the highest bit flipped are in the order of signed ones. Open MPI 4.1 and
// MPICH 4.0 compare them as signed anyway (open-mpi/ompi#10276, pmodels/mpich#6083).
void reduce_unsigned(std::span<std::uint64_t> inout, Reduce op, MPI_Comm comm, Index limit) {
  const std::uint64_t flipped = op == Reduce::sum ? 0 : std::uint64_t(1) << 63;
  for (std::uint64_t& x : inout) x ^= flipped;
  reduce_pieces(std::span(reinterpret_cast<std::int64_t*>(inout.data()), inout.size()), op, comm, limit);
  for (std::uint64_t& x : inout) x ^= flipped;
}

// begin[r] = counts[0] + ... + counts[r - 1], in bytes.
std::vector<Index> byte_offsets(std::span<const Index> counts, Index item_bytes) {
  std::vector<Index> begin(counts.size() + 1, 0);
  for (std::size_t r = 0; r < counts.size(); ++r) begin[r + 1] = begin[r] + counts[r] * item_bytes;
  return begin;
}

}  // namespace

int Comm::rank() const {
  return impl_->rank;
}

int Comm::size() const {
  return impl_->size;
}

Comm Comm::with_message_limit(Index max_items) const {
  assert(max_items >= 1);
  return {impl_, max_items};
}

Comm Comm::split(int color, int key) const {
  assert(color >= 0);
  const Waiting waiting(Call::split);
  MPI_Comm part = MPI_COMM_NULL;
  check(MPI_Comm_split(impl_->comm, color, key, &part), "MPI_Comm_split");
  return {std::make_shared<Impl>(part), limit_};
}

int Comm::ranks_on_this_machine() const {
  const Waiting waiting(Call::split);
  MPI_Comm neighbours = MPI_COMM_NULL;
  check(MPI_Comm_split_type(impl_->comm, MPI_COMM_TYPE_SHARED, rank(), MPI_INFO_NULL, &neighbours),
        "MPI_Comm_split_type");
  int count = 0;
  check(MPI_Comm_size(neighbours, &count), "MPI_Comm_size");
  check(MPI_Comm_free(&neighbours), "MPI_Comm_free");
  return count;
}

void Comm::barrier() const {
  const Waiting waiting(Call::barrier);
  check(MPI_Barrier(impl_->comm), "MPI_Barrier");
}

bool Comm::all_arrive_within(double seconds) const noexcept {
  MPI_Request request = MPI_REQUEST_NULL;
  if (MPI_Ibarrier(impl_->comm, &request) != MPI_SUCCESS) return false;
  const Stopwatch watch;
  for (int done = 0;; mpi::nap()) {
    if (MPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) return false;
    if (done != 0) return true;
    if (watch.seconds() >= seconds) return false;
  }
}

template <Number T>
void Comm::all_reduce(std::span<T> inout, Reduce op) const {
  if constexpr (std::same_as<T, std::uint64_t>)
    reduce_unsigned(inout, op, impl_->comm, limit_);
  else
    reduce_pieces(inout, op, impl_->comm, limit_);
}
template void Comm::all_reduce(std::span<std::int32_t>, Reduce) const;
template void Comm::all_reduce(std::span<std::int64_t>, Reduce) const;
template void Comm::all_reduce(std::span<std::uint64_t>, Reduce) const;
template void Comm::all_reduce(std::span<float>, Reduce) const;
template void Comm::all_reduce(std::span<double>, Reduce) const;

void Comm::broadcast_raw(void* items, Index count, Index item_bytes, int root) const {
  const Waiting waiting(Call::broadcast);
  const Index piece_bytes = piece_items(limit_, item_bytes) * item_bytes;
  for_each_piece(count * item_bytes, piece_bytes, [&](Index begin, int length) {
    check(MPI_Bcast(as_bytes(items) + begin, length, MPI_BYTE, root, impl_->comm), "MPI_Bcast");
  });
}

void Comm::all_gather_raw(const void* mine, void* all, Index item_bytes) const {
  const Waiting waiting(Call::all_gather);
  check(MPI_Allgather(mine, int(item_bytes), MPI_BYTE, all, int(item_bytes), MPI_BYTE, impl_->comm),
        "MPI_Allgather");
}

// Every rank knows all counts, so all take the same way: one call, or one broadcast per rank where the
// offsets are too large for MPI.
void Comm::all_gather_varying_raw(const void* mine, void* all, std::span<const Index> counts,
                                  Index item_bytes) const {
  const auto begin = byte_offsets(counts, item_bytes);
  if (begin.back() == 0) return;
  if (begin.back() > piece_items(limit_, item_bytes) * item_bytes) {
    copy_bytes(as_bytes(mine), as_bytes(all) + begin[rank()], counts[rank()] * item_bytes);
    for (int r = 0; r < size(); ++r) broadcast_raw(as_bytes(all) + begin[r], counts[r], item_bytes, r);
    return;
  }
  const std::vector<int> offsets(begin.begin(), begin.end());
  std::vector<int> lengths(counts.size());
  for (int r = 0; r < size(); ++r) lengths[r] = offsets[r + 1] - offsets[r];
  const Waiting waiting(Call::all_gather);
  check(MPI_Allgatherv(mine, lengths[rank()], MPI_BYTE, all, lengths.data(), offsets.data(), MPI_BYTE,
                       impl_->comm),
        "MPI_Allgatherv");
}

void Comm::gather_varying_raw(const void* mine, void* all, std::span<const Index> counts, Index item_bytes,
                              int root) const {
  Transfers transfers(impl_->comm, piece_items(limit_, item_bytes) * item_bytes, internal_tag);
  if (rank() != root) {
    transfers.send(as_bytes(mine), counts[rank()] * item_bytes, root);
    return transfers.wait();
  }
  const auto begin = byte_offsets(counts, item_bytes);
  for (int r = 0; r < size(); ++r)
    if (r != root) transfers.receive(as_bytes(all) + begin[r], counts[r] * item_bytes, r);
  copy_bytes(as_bytes(mine), as_bytes(all) + begin[root], counts[root] * item_bytes);
  transfers.wait();
}

void Comm::scatter_varying_raw(const void* all, void* mine, std::span<const Index> counts, Index item_bytes,
                               int root) const {
  Transfers transfers(impl_->comm, piece_items(limit_, item_bytes) * item_bytes, internal_tag);
  if (rank() != root) {
    transfers.receive(as_bytes(mine), counts[rank()] * item_bytes, root);
    return transfers.wait();
  }
  const auto begin = byte_offsets(counts, item_bytes);
  for (int r = 0; r < size(); ++r)
    if (r != root) transfers.send(as_bytes(all) + begin[r], counts[r] * item_bytes, r);
  copy_bytes(as_bytes(all) + begin[root], as_bytes(mine), counts[root] * item_bytes);
  transfers.wait();
}

// One call, or where that is too long one reduction for every rank, piece by piece: all know the counts, so
// all take the same way.
template <Number T>
void Comm::reduce_scatter(std::span<const T> all, std::span<const Index> counts, std::span<T> mine) const {
  assert(sum(counts) == std::ssize(all) && counts[rank()] == std::ssize(mine));
  const Index longest = piece_items(limit_, sizeof(T));
  if (all.empty()) return;
  const Waiting waiting(Call::reduce_scatter);
  if (std::ssize(all) <= longest) {
    const std::vector<int> lengths(counts.begin(), counts.end());
    check(MPI_Reduce_scatter(all.data(), mine.data(), lengths.data(), mpi_type<T>(), MPI_SUM, impl_->comm),
          "MPI_Reduce_scatter");
    return;
  }
  const T* part = all.data();
  for (int r = 0; r < size(); part += counts[r], ++r)
    for_each_piece(counts[r], longest, [&](Index begin, int count) {
      check(MPI_Reduce(part + begin, r == rank() ? mine.data() + begin : nullptr, count, mpi_type<T>(),
                       MPI_SUM, r, impl_->comm),
            "MPI_Reduce");
    });
}
template void Comm::reduce_scatter(std::span<const float>, std::span<const Index>, std::span<float>) const;
template void Comm::reduce_scatter(std::span<const double>, std::span<const Index>, std::span<double>) const;

// Pair by pair: this needs no agreement on whether a message must be split, and nothing for pairs that
// have nothing to say. Each rank begins with its neighbour, so that not all send to rank 0 first.
void Comm::all_to_all_raw(const void* send, std::span<const Index> send_counts, void* recv,
                          std::span<const Index> recv_counts, Index item_bytes) const {
  assert(std::ssize(send_counts) == size() && std::ssize(recv_counts) == size());
  assert(send_counts[rank()] == recv_counts[rank()]);
  const auto send_begin = byte_offsets(send_counts, item_bytes);
  const auto recv_begin = byte_offsets(recv_counts, item_bytes);
  Transfers transfers(impl_->comm, piece_items(limit_, item_bytes) * item_bytes, internal_tag);
  for (int step = 1; step < size(); ++step) {
    const int from = (rank() + size() - step) % size();
    transfers.receive(as_bytes(recv) + recv_begin[from], recv_counts[from] * item_bytes, from);
  }
  for (int step = 1; step < size(); ++step) {
    const int to = (rank() + step) % size();
    transfers.send(as_bytes(send) + send_begin[to], send_counts[to] * item_bytes, to);
  }
  copy_bytes(as_bytes(send) + send_begin[rank()], as_bytes(recv) + recv_begin[rank()],
             recv_counts[rank()] * item_bytes);
  transfers.wait();
}

std::vector<Index> Comm::exchange_counts(std::span<const Index> send_counts) const {
  assert(std::ssize(send_counts) == size());
  std::vector<Index> recv_counts(send_counts.size());
  const Waiting waiting(Call::all_to_all);
  check(MPI_Alltoall(send_counts.data(), 1, MPI_INT64_T, recv_counts.data(), 1, MPI_INT64_T, impl_->comm),
        "MPI_Alltoall");
  return recv_counts;
}

struct Request::State {
  Transfers transfers;
};

Request::Request() noexcept = default;
Request::Request(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
Request::Request(Request&&) noexcept = default;
Request& Request::operator=(Request&&) noexcept = default;
Request::~Request() = default;

void Request::wait() {
  if (const auto finishing = std::move(state_)) finishing->transfers.wait();
}

Request Comm::isend_raw(const void* items, Index count, Index item_bytes, int to, int tag) const {
  assert(tag >= 0 && tag <= max_tag);
  std::unique_ptr<Request::State> state(
      new Request::State{{impl_->comm, piece_items(limit_, item_bytes) * item_bytes, tag}});
  state->transfers.send(as_bytes(items), count * item_bytes, to);
  return Request(std::move(state));
}

Request Comm::irecv_raw(void* items, Index count, Index item_bytes, int from, int tag) const {
  assert(tag >= 0 && tag <= max_tag);
  std::unique_ptr<Request::State> state(
      new Request::State{{impl_->comm, piece_items(limit_, item_bytes) * item_bytes, tag}});
  state->transfers.receive(as_bytes(items), count * item_bytes, from);
  return Request(std::move(state));
}

struct Channel::State {
  Transfers transfers;
};

Channel::Channel(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
Channel::Channel(Channel&&) noexcept = default;
Channel& Channel::operator=(Channel&&) noexcept = default;
Channel::~Channel() = default;

void Channel::start() {
  state_->transfers.start();
}

void Channel::wait() {
  state_->transfers.wait_until_next_start();
}

Channel Comm::send_channel_raw(const void* items, Index count, Index item_bytes, int to, int tag) const {
  assert(tag >= 0 && tag <= max_tag);
  std::unique_ptr<Channel::State> state(
      new Channel::State{{impl_->comm, piece_items(limit_, item_bytes) * item_bytes, tag}});
  state->transfers.prepare_to_send(as_bytes(items), count * item_bytes, to);
  return Channel(std::move(state));
}

Channel Comm::receive_channel_raw(void* items, Index count, Index item_bytes, int from, int tag) const {
  assert(tag >= 0 && tag <= max_tag);
  std::unique_ptr<Channel::State> state(
      new Channel::State{{impl_->comm, piece_items(limit_, item_bytes) * item_bytes, tag}});
  state->transfers.prepare_to_receive(as_bytes(items), count * item_bytes, from);
  return Channel(std::move(state));
}

}  // namespace polyad
