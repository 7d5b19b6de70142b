#include "polyad/comm/mpi_transport.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <numeric>

#include "polyad/base/error.hpp"
#include "polyad/base/timings.hpp"
#include "polyad/comm/mpi_transfers.hpp"

#if defined(OPEN_MPI) && __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

namespace polyad::mpi {
namespace {

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
void reduce_pieces(T* inout, Index n, Reduce op, MPI_Comm comm, Index limit) {
  const Waiting waiting(Call::all_reduce);
  for_each_piece(n, piece_items(limit, sizeof(T)), [&](Index begin, int count) {
    check(MPI_Allreduce(MPI_IN_PLACE, inout + begin, count, mpi_type<T>(), mpi_op(op), comm),
          "MPI_Allreduce");
  });
}

// Unsigned numbers with the highest bit flipped are in the order of signed ones. Open MPI 4.1 and
// MPICH 4.0 compare them as signed anyway (open-mpi/ompi#10276, pmodels/mpich#6083).
void reduce_unsigned(std::span<std::uint64_t> inout, Reduce op, MPI_Comm comm, Index limit) {
  const std::uint64_t flipped = op == Reduce::sum ? 0 : std::uint64_t(1) << 63;
  for (std::uint64_t& x : inout) x ^= flipped;
  reduce_pieces(reinterpret_cast<std::int64_t*>(inout.data()), std::ssize(inout), op, comm, limit);
  for (std::uint64_t& x : inout) x ^= flipped;
}

// begin[r] = counts[0] + ... + counts[r - 1], in bytes.
std::vector<Index> byte_offsets(std::span<const Index> counts, Index item_bytes) {
  std::vector<Index> begin(counts.size() + 1, 0);
  for (std::size_t r = 0; r < counts.size(); ++r) begin[r + 1] = begin[r] + counts[r] * item_bytes;
  return begin;
}

// One call, or where that is too long one reduction for every rank, piece by piece: all know the counts, so
// all take the same way.
template <Number T>
void reduce_scatter_in(const T* all, std::span<const Index> counts, T* mine, int rank, MPI_Comm comm,
                       Index limit) {
  const Index longest = piece_items(limit, sizeof(T));
  const Index total = std::accumulate(counts.begin(), counts.end(), Index(0));
  if (total == 0) return;
  const Waiting waiting(Call::reduce_scatter);
  if (total <= longest) {
    const std::vector<int> lengths(counts.begin(), counts.end());
    check(MPI_Reduce_scatter(all, mine, lengths.data(), mpi_type<T>(), MPI_SUM, comm), "MPI_Reduce_scatter");
    return;
  }
  const T* part = all;
  for (int r = 0; r < int(counts.size()); part += counts[r], ++r)
    for_each_piece(counts[r], longest, [&](Index begin, int count) {
      check(MPI_Reduce(part + begin, r == rank ? mine + begin : nullptr, count, mpi_type<T>(), MPI_SUM, r,
                       comm),
            "MPI_Reduce");
    });
}

class MpiPending final : public PendingMessage {
 public:
  MpiPending(MPI_Comm comm, Index piece_bytes, int tag) : transfers_(comm, piece_bytes, tag) {}
  Transfers& transfers() { return transfers_; }
  void wait() override { transfers_.wait(); }

 private:
  Transfers transfers_;
};

class MpiRepeated final : public RepeatedMessage {
 public:
  MpiRepeated(MPI_Comm comm, Index piece_bytes, int tag) : transfers_(comm, piece_bytes, tag) {}
  Transfers& transfers() { return transfers_; }
  void start() override { transfers_.start(); }
  void wait() override { transfers_.wait_until_next_start(); }

 private:
  Transfers transfers_;
};

// The info hints of the original, such as an assertion that no receive takes any tag, are promises of its
// owner and not ours: the duplicate has none.
MPI_Comm duplicate_of(MPI_Comm comm) {
  MPI_Comm copy = MPI_COMM_NULL;
  check(MPI_Comm_dup_with_info(comm, MPI_INFO_NULL, &copy), "MPI_Comm_dup_with_info");
  check(MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  return copy;
}

bool is_running() {
  int initialized = 0, finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  return initialized != 0 && finalized == 0;
}

}  // namespace

MpiTransport::MpiTransport(MPI_Comm comm) : comm_(comm) {
  check(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
  check(MPI_Comm_size(comm_, &size_), "MPI_Comm_size");
}

MpiTransport::~MpiTransport() {
  if (is_running()) MPI_Comm_free(&comm_);
}

std::unique_ptr<Transport> MpiTransport::split(int color, int key) {
  const Waiting waiting(Call::split);
  MPI_Comm part = MPI_COMM_NULL;
  check(MPI_Comm_split(comm_, color, key, &part), "MPI_Comm_split");
  return std::make_unique<MpiTransport>(part);
}

std::unique_ptr<Transport> MpiTransport::split_by_machine() {
  const Waiting waiting(Call::split);
  MPI_Comm part = MPI_COMM_NULL;
  check(MPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &part), "MPI_Comm_split_type");
  return std::make_unique<MpiTransport>(part);
}

void MpiTransport::barrier() {
  const Waiting waiting(Call::barrier);
  check(MPI_Barrier(comm_), "MPI_Barrier");
}

void MpiTransport::barrier_asleep() {
  const Waiting waiting(Call::barrier);
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Ibarrier(comm_, &request), "MPI_Ibarrier");
  for (int done = 0;; nap()) {
    check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (done != 0) return;
  }
}

bool MpiTransport::takes_device_memory() const {
#ifdef MPIX_CUDA_AWARE_SUPPORT
  return MPIX_Query_cuda_support() == 1;
#else
  return false;
#endif
}

bool MpiTransport::all_arrive_within(double seconds) noexcept {
  MPI_Request request = MPI_REQUEST_NULL;
  if (MPI_Ibarrier(comm_, &request) != MPI_SUCCESS) return false;
  const Stopwatch watch;
  for (int done = 0;; nap()) {
    if (MPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) return false;
    if (done != 0) return true;
    if (watch.seconds() >= seconds) return false;
  }
}

void MpiTransport::all_reduce(void* inout, Index count, NumberType type, Reduce op, Index limit) {
  switch (type) {
    case NumberType::int32:
      return reduce_pieces(static_cast<std::int32_t*>(inout), count, op, comm_, limit);
    case NumberType::int64:
      return reduce_pieces(static_cast<std::int64_t*>(inout), count, op, comm_, limit);
    case NumberType::uint64:
      return reduce_unsigned({static_cast<std::uint64_t*>(inout), std::size_t(count)}, op, comm_, limit);
    case NumberType::float32:
      return reduce_pieces(static_cast<float*>(inout), count, op, comm_, limit);
    case NumberType::float64:
      return reduce_pieces(static_cast<double*>(inout), count, op, comm_, limit);
  }
}

void MpiTransport::broadcast(void* items, Index count, Index item_bytes, int root, Index limit) {
  const Waiting waiting(Call::broadcast);
  const Index piece_bytes = piece_items(limit, item_bytes) * item_bytes;
  for_each_piece(count * item_bytes, piece_bytes, [&](Index begin, int length) {
    check(MPI_Bcast(as_bytes(items) + begin, length, MPI_BYTE, root, comm_), "MPI_Bcast");
  });
}

void MpiTransport::all_gather(const void* mine, void* all, Index item_bytes) {
  const Waiting waiting(Call::all_gather);
  check(MPI_Allgather(mine, int(item_bytes), MPI_BYTE, all, int(item_bytes), MPI_BYTE, comm_),
        "MPI_Allgather");
}

// Every rank knows all counts, so all take the same way: one call, or one broadcast per rank where the
// offsets are too large for MPI.
void MpiTransport::all_gather_varying(const void* mine, void* all, std::span<const Index> counts,
                                      Index item_bytes, Index limit) {
  const auto begin = byte_offsets(counts, item_bytes);
  if (begin.back() == 0) return;
  if (begin.back() > piece_items(limit, item_bytes) * item_bytes) {
    copy_bytes(as_bytes(mine), as_bytes(all) + begin[rank_], counts[rank_] * item_bytes);
    for (int r = 0; r < size_; ++r) broadcast(as_bytes(all) + begin[r], counts[r], item_bytes, r, limit);
    return;
  }
  const std::vector<int> offsets(begin.begin(), begin.end());
  std::vector<int> lengths(counts.size());
  for (int r = 0; r < size_; ++r) lengths[r] = offsets[r + 1] - offsets[r];
  const Waiting waiting(Call::all_gather);
  check(MPI_Allgatherv(mine, lengths[rank_], MPI_BYTE, all, lengths.data(), offsets.data(), MPI_BYTE, comm_),
        "MPI_Allgatherv");
}

void MpiTransport::gather_varying(const void* mine, void* all, std::span<const Index> counts,
                                  Index item_bytes, int root, Index limit) {
  Transfers transfers(comm_, piece_items(limit, item_bytes) * item_bytes, internal_tag);
  if (rank_ != root) {
    transfers.send(as_bytes(mine), counts[rank_] * item_bytes, root);
    return transfers.wait();
  }
  const auto begin = byte_offsets(counts, item_bytes);
  for (int r = 0; r < size_; ++r)
    if (r != root) transfers.receive(as_bytes(all) + begin[r], counts[r] * item_bytes, r);
  copy_bytes(as_bytes(mine), as_bytes(all) + begin[root], counts[root] * item_bytes);
  transfers.wait();
}

void MpiTransport::scatter_varying(const void* all, void* mine, std::span<const Index> counts,
                                   Index item_bytes, int root, Index limit) {
  Transfers transfers(comm_, piece_items(limit, item_bytes) * item_bytes, internal_tag);
  if (rank_ != root) {
    transfers.receive(as_bytes(mine), counts[rank_] * item_bytes, root);
    return transfers.wait();
  }
  const auto begin = byte_offsets(counts, item_bytes);
  for (int r = 0; r < size_; ++r)
    if (r != root) transfers.send(as_bytes(all) + begin[r], counts[r] * item_bytes, r);
  copy_bytes(as_bytes(all) + begin[root], as_bytes(mine), counts[root] * item_bytes);
  transfers.wait();
}

void MpiTransport::reduce_scatter(const void* all, std::span<const Index> counts, void* mine, NumberType type,
                                  Index limit) {
  if (type == NumberType::float32)
    reduce_scatter_in(static_cast<const float*>(all), counts, static_cast<float*>(mine), rank_, comm_, limit);
  else
    reduce_scatter_in(static_cast<const double*>(all), counts, static_cast<double*>(mine), rank_, comm_,
                      limit);
}

// Pair by pair: this needs no agreement on whether a message must be split, and nothing for pairs that
// have nothing to say. Each rank begins with its neighbour, so that not all send to rank 0 first.
void MpiTransport::all_to_all(const void* send, std::span<const Index> send_counts, void* recv,
                              std::span<const Index> recv_counts, Index item_bytes, Index limit) {
  const auto send_begin = byte_offsets(send_counts, item_bytes);
  const auto recv_begin = byte_offsets(recv_counts, item_bytes);
  Transfers transfers(comm_, piece_items(limit, item_bytes) * item_bytes, internal_tag);
  for (int step = 1; step < size_; ++step) {
    const int from = (rank_ + size_ - step) % size_;
    transfers.receive(as_bytes(recv) + recv_begin[from], recv_counts[from] * item_bytes, from);
  }
  for (int step = 1; step < size_; ++step) {
    const int to = (rank_ + step) % size_;
    transfers.send(as_bytes(send) + send_begin[to], send_counts[to] * item_bytes, to);
  }
  copy_bytes(as_bytes(send) + send_begin[rank_], as_bytes(recv) + recv_begin[rank_],
             recv_counts[rank_] * item_bytes);
  transfers.wait();
}

std::vector<Index> MpiTransport::exchange_counts(std::span<const Index> send_counts) {
  std::vector<Index> recv_counts(send_counts.size());
  const Waiting waiting(Call::all_to_all);
  check(MPI_Alltoall(send_counts.data(), 1, MPI_INT64_T, recv_counts.data(), 1, MPI_INT64_T, comm_),
        "MPI_Alltoall");
  return recv_counts;
}

std::unique_ptr<PendingMessage> MpiTransport::isend(const void* bytes, Index count, Index piece_bytes, int to,
                                                    int tag) {
  auto message = std::make_unique<MpiPending>(comm_, piece_bytes, tag);
  message->transfers().send(as_bytes(bytes), count, to);
  return message;
}

std::unique_ptr<PendingMessage> MpiTransport::irecv(void* bytes, Index count, Index piece_bytes, int from,
                                                    int tag) {
  auto message = std::make_unique<MpiPending>(comm_, piece_bytes, tag);
  message->transfers().receive(as_bytes(bytes), count, from);
  return message;
}

std::unique_ptr<RepeatedMessage> MpiTransport::send_channel(const void* bytes, Index count, Index piece_bytes,
                                                            int to, int tag) {
  auto message = std::make_unique<MpiRepeated>(comm_, piece_bytes, tag);
  message->transfers().prepare_to_send(as_bytes(bytes), count, to);
  return message;
}

std::unique_ptr<RepeatedMessage> MpiTransport::receive_channel(void* bytes, Index count, Index piece_bytes,
                                                               int from, int tag) {
  auto message = std::make_unique<MpiRepeated>(comm_, piece_bytes, tag);
  message->transfers().prepare_to_receive(as_bytes(bytes), count, from);
  return message;
}

std::unique_ptr<MpiTransport> duplicate(MPI_Comm comm) {
  return std::make_unique<MpiTransport>(duplicate_of(comm));
}

void check_running() {
  if (!is_running())
    throw Error(Errc::comm, "MPI is not running: a communicator needs MPI_Init_thread first");
  int level = MPI_THREAD_SINGLE;
  check(MPI_Query_thread(&level), "MPI_Query_thread");
  if (level < MPI_THREAD_FUNNELED)
    throw Error(
        Errc::comm,
        "MPI was initialised for MPI_THREAD_SINGLE; Polyad uses threads and needs MPI_THREAD_FUNNELED or "
        "better, from MPI_Init_thread");
}

void check_usable(MPI_Comm comm) {
  check_running();
  if (comm == MPI_COMM_NULL)
    throw Error(Errc::comm, "the communicator is MPI_COMM_NULL; expected one that this process belongs to");
  int is_inter = 0;
  check(MPI_Comm_test_inter(comm, &is_inter), "MPI_Comm_test_inter");
  if (is_inter != 0)
    throw Error(Errc::comm, "the communicator is an intercommunicator; expected an intracommunicator");
}

}  // namespace polyad::mpi
