#pragma once
// Private to the files of comm/.

#include <memory>
#include <span>
#include <vector>

#include "polyad/base/types.hpp"
#include "polyad/comm/comm.hpp"

namespace polyad {

// A message under way; Request says what its destruction does.
class PendingMessage {
 public:
  PendingMessage() = default;
  PendingMessage(const PendingMessage&) = delete;
  PendingMessage& operator=(const PendingMessage&) = delete;
  virtual ~PendingMessage() = default;
  virtual void wait() = 0;
};

// A message that is sent repeatedly: what a Channel does.
class RepeatedMessage : public PendingMessage {
 public:
  virtual void start() = 0;
};

enum class NumberType { int32, int64, uint64, float32, float64 };

// How the processes of a communicator exchange data: by MPI, or not at all where there is one. A Comm calls
// one function for each of its own, which says what it does. Counts are in items of item_bytes bytes;
// messages of more than `limit` items are split.
class Transport {
 public:
  Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  virtual ~Transport() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual std::unique_ptr<Transport> split(int color, int key) = 0;
  virtual std::unique_ptr<Transport> split_by_machine() = 0;
  virtual void barrier() = 0;
  virtual void barrier_asleep() = 0;
  virtual bool all_arrive_within(double seconds) noexcept = 0;
  virtual bool takes_device_memory() const = 0;

  virtual void all_reduce(void* inout, Index count, NumberType type, Reduce op, Index limit) = 0;
  // Sums, of float32 or float64.
  virtual void reduce_scatter(const void* all, std::span<const Index> counts, void* mine, NumberType type,
                              Index limit) = 0;
  virtual void broadcast(void* items, Index count, Index item_bytes, int root, Index limit) = 0;
  virtual void all_gather(const void* mine, void* all, Index item_bytes) = 0;
  virtual void all_gather_varying(const void* mine, void* all, std::span<const Index> counts,
                                  Index item_bytes, Index limit) = 0;
  virtual void gather_varying(const void* mine, void* all, std::span<const Index> counts, Index item_bytes,
                              int root, Index limit) = 0;
  virtual void scatter_varying(const void* all, void* mine, std::span<const Index> counts, Index item_bytes,
                               int root, Index limit) = 0;
  virtual void all_to_all(const void* send, std::span<const Index> send_counts, void* recv,
                          std::span<const Index> recv_counts, Index item_bytes, Index limit) = 0;
  virtual std::vector<Index> exchange_counts(std::span<const Index> send_counts) = 0;

  // Of so many bytes, in pieces of at most piece_bytes. Null: there is nothing to wait for.
  virtual std::unique_ptr<PendingMessage> isend(const void* bytes, Index count, Index piece_bytes, int to,
                                                int tag) = 0;
  virtual std::unique_ptr<PendingMessage> irecv(void* bytes, Index count, Index piece_bytes, int from,
                                                int tag) = 0;
  virtual std::unique_ptr<RepeatedMessage> send_channel(const void* bytes, Index count, Index piece_bytes,
                                                        int to, int tag) = 0;
  virtual std::unique_ptr<RepeatedMessage> receive_channel(void* bytes, Index count, Index piece_bytes,
                                                           int from, int tag) = 0;
};

// This process alone, with messages to itself.
std::unique_ptr<Transport> make_serial_transport();

// The inside of a communicator.
struct Comm::Impl {
  explicit Impl(std::unique_ptr<Transport> by, std::shared_ptr<const void> keeps = nullptr)
      : transport(std::move(by)), rank(transport->rank()), size(transport->size()), kept(std::move(keeps)) {}

  std::unique_ptr<Transport> transport;
  int rank, size;
  std::shared_ptr<const void> kept;  // lives as long as the communicator
};

// What the other files of comm/ may do with the inside of a Comm.
struct MpiAccess {
  static Comm make(std::unique_ptr<Transport> transport, std::shared_ptr<const void> kept = nullptr) {
    return {std::make_shared<Comm::Impl>(std::move(transport), std::move(kept)), Comm::default_message_limit};
  }
  static Transport& transport(const Comm& comm) { return *comm.impl_->transport; }
};

}  // namespace polyad
