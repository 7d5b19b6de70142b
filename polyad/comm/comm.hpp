#pragma once

#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <memory>
#include <numeric>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "polyad/base/array.hpp"
#include "polyad/base/types.hpp"
#include "polyad/comm/channel.hpp"
#include "polyad/comm/request.hpp"

namespace polyad {

enum class Reduce { sum, max, min };

template <class T, class... Others>
inline constexpr bool is_one_of = (std::same_as<T, Others> || ...);

template <class T>
concept Number = is_one_of<T, std::int32_t, std::int64_t, std::uint64_t, float, double>;

// Types that can be sent as bytes. Not pointers and views (spans,
// string views), which would contain addresses of another process.
template <class T>
concept Shippable =
    std::is_trivially_copyable_v<T> && !std::is_pointer_v<T> && !std::ranges::borrowed_range<T>;

// The items of all ranks, in the order of the ranks.
template <Shippable T>
struct Gathered {
  Array<T> items;
  std::vector<Index> counts;  // number of items of each rank
};

// A communicator. Copies share it; copying is not collective. Counts are 64-bit: messages that
// are too long for MPI are split. Types are checked at compile time. MPI must be initialised,
// by a Runtime or by a program that passes its communicators to from_mpi() (mpi_comm.hpp).
// Errors of MPI are thrown as Error{comm}. All functions are collective except the accessors
// and those that send or receive a single message. A `root` must be the same on every rank.
class Comm {
 public:
  static constexpr Index default_message_limit = std::numeric_limits<std::int32_t>::max();
  static constexpr int max_tag = 32766;  // largest tag of isend and irecv

  static Comm world();  // all processes; requires a Runtime
  static Comm self();   // this process only; not collective

  int rank() const;
  int size() const;

  // The same communicator, in which messages of more than `max_items` items (at least 1)
  // are split; for tests of very long messages. The value must be the same on every rank.
  Comm with_message_limit(Index max_items) const;
  Index message_limit() const { return limit_; }

  // One communicator per color (>= 0), with ranks ordered by key, then by rank.
  Comm split(int color, int key) const;
  // One communicator per machine, with ranks in the same order.
  Comm split_by_machine() const;
  void barrier() const;
  // The same for long waits: those who wait leave the processor to others, and go on a millisecond late.
  void barrier_asleep() const;
  // After an error: whether every rank calls this function within `seconds`. If not,
  // another rank waits for this one elsewhere, and only Runtime::abort can end the run.
  bool all_arrive_within(double seconds) const noexcept;
  // Whether messages may be in the memory of GPUs: where MPI says so on every rank, and
  // where POLYAD_GPU_AWARE_MPI is 1 or 0, as that says.
  bool takes_device_memory() const;

  // Elementwise reduction over the ranks. All ranks get the same bits, and the same again if a run is
  // repeated on the same layout: for floating-point sums MPI only recommends this, but implementations do it.
  template <Number T>
  void all_reduce(std::span<T> inout, Reduce op = Reduce::sum) const;
  template <Number T>
  [[nodiscard]] T all_reduce(T x, Reduce op = Reduce::sum) const {
    all_reduce(std::span(&x, 1), op);
    return x;
  }

  // Sends the items of the root to all ranks. Vectors are resized; spans have the same size on all ranks.
  template <Shippable T, class Allocator>
  void broadcast(std::vector<T, Allocator>& items, int root) const {
    items.resize(std::size_t(broadcast(std::ssize(items), root)));
    broadcast(std::span<T>(items), root);
  }
  template <Shippable T>
  void broadcast(std::span<T> items, int root) const {
    broadcast_raw(items.data(), std::ssize(items), sizeof(T), root);
  }
  template <Shippable T>
  [[nodiscard]] T broadcast(T x, int root) const {
    broadcast(std::span(&x, 1), root);
    return x;
  }

  // Gathers one value of each rank on all ranks.
  template <Shippable T>
  std::vector<T> all_gather(T mine) const {
    std::vector<T> all(std::size_t(size()), mine);
    all_gather_raw(&mine, all.data(), sizeof(T));
    return all;
  }
  // Gathers any number of items of each rank on all ranks: all_gather_varying<T>(vector of T).
  template <Shippable T>
  Gathered<T> all_gather_varying(std::span<const T> mine) const {
    Gathered<T> all{{}, all_gather<Index>(std::ssize(mine))};
    all.items.resize(std::size_t(sum(all.counts)));
    all_gather_varying_raw(mine.data(), all.items.data(), all.counts, sizeof(T));
    return all;
  }
  // The same into existing memory, if all ranks know the counts.
  template <Shippable T>
  void all_gather_varying(std::span<const T> mine, std::span<const Index> counts, std::span<T> all) const {
    assert(std::ssize(mine) == counts[std::size_t(rank())] && sum(counts) == std::ssize(all));
    all_gather_varying_raw(mine.data(), all.data(), counts, sizeof(T));
  }
  // Gathers any number of items of each rank on the root; the other ranks get only the counts.
  template <Shippable T>
  Gathered<T> gather_varying(std::span<const T> mine, int root) const {
    Gathered<T> all{{}, all_gather<Index>(std::ssize(mine))};
    if (rank() == root) all.items.resize(std::size_t(sum(all.counts)));
    gather_varying_raw(mine.data(), all.items.data(), all.counts, sizeof(T), root);
    return all;
  }

  template <Shippable T>
  void gather_varying(std::span<const T> mine, std::span<const Index> counts, std::span<T> all,
                      int root) const {
    assert(std::ssize(mine) == counts[std::size_t(rank())]);
    assert(rank() != root || sum(counts) == std::ssize(all));
    gather_varying_raw(mine.data(), all.data(), counts, sizeof(T), root);
  }
  // The inverse of gather_varying: `all` on the root holds counts[0] items
  // for rank 0, then counts[1] for rank 1, ... All ranks know the counts.
  template <Shippable T>
  void scatter_varying(std::span<const T> all, std::span<const Index> counts, std::span<T> mine,
                       int root) const {
    assert(std::ssize(mine) == counts[std::size_t(rank())]);
    assert(rank() != root || sum(counts) == std::ssize(all));
    scatter_varying_raw(all.data(), mine.data(), counts, sizeof(T), root);
  }
  // Sums `all` over the ranks; each rank gets its part of the sum, divided as
  // for scatter_varying. The same bits if a run is repeated on the same layout.
  template <Number T>
  void reduce_scatter(std::span<const T> all, std::span<const Index> counts, std::span<T> mine) const;

  // `send` holds send_counts[0] items for rank 0, then send_counts[1] for rank 1,
  // ...; `recv` is ordered by sender in the same way. The receiver knows the counts
  // from a plan or from exchange_counts. Pairs of ranks without items cost nothing.
  template <Shippable T>
  void all_to_all(std::span<const T> send, std::span<const Index> send_counts, std::span<T> recv,
                  std::span<const Index> recv_counts) const {
    assert(sum(send_counts) == std::ssize(send) && sum(recv_counts) == std::ssize(recv));
    all_to_all_raw(send.data(), send_counts, recv.data(), recv_counts, sizeof(T));
  }
  // Number of items that each rank sends to this one, given the numbers that this one sends to each rank.
  std::vector<Index> exchange_counts(std::span<const Index> send_counts) const;

  // Sends or receives a message whose length both sides know; an empty message is not
  // sent. Messages between two ranks with the same tag (0 to max_tag) arrive in order.
  template <Shippable T>
  Request isend(std::span<const T> items, int to, int tag = 0) const {
    return isend_raw(items.data(), std::ssize(items), sizeof(T), to, tag);
  }
  template <Shippable T>
  Request irecv(std::span<T> items, int from, int tag = 0) const {
    return irecv_raw(items.data(), std::ssize(items), sizeof(T), from, tag);
  }
  // The same for a message that is sent each time the channel is started. Not collective.
  template <Shippable T>
  Channel send_channel(std::span<const T> items, int to, int tag = 0) const {
    return send_channel_raw(items.data(), std::ssize(items), sizeof(T), to, tag);
  }
  template <Shippable T>
  Channel receive_channel(std::span<T> items, int from, int tag = 0) const {
    return receive_channel_raw(items.data(), std::ssize(items), sizeof(T), from, tag);
  }

 private:
  struct Impl;  // by which messages go; lives in transport.hpp
  friend struct MpiAccess;

  Comm(std::shared_ptr<Impl> impl, Index limit) : impl_(std::move(impl)), limit_(limit) {}
  static Index sum(std::span<const Index> counts) {
    return std::accumulate(counts.begin(), counts.end(), Index(0));
  }

  // Counts are in items of item_bytes bytes.
  void broadcast_raw(void* items, Index count, Index item_bytes, int root) const;
  void all_gather_raw(const void* mine, void* all, Index item_bytes) const;
  void all_gather_varying_raw(const void* mine, void* all, std::span<const Index> counts,
                              Index item_bytes) const;
  void gather_varying_raw(const void* mine, void* all, std::span<const Index> counts, Index item_bytes,
                          int root) const;
  void scatter_varying_raw(const void* all, void* mine, std::span<const Index> counts, Index item_bytes,
                           int root) const;
  void all_to_all_raw(const void* send, std::span<const Index> send_counts, void* recv,
                      std::span<const Index> recv_counts, Index item_bytes) const;
  Request isend_raw(const void* items, Index count, Index item_bytes, int to, int tag) const;
  Request irecv_raw(void* items, Index count, Index item_bytes, int from, int tag) const;
  Channel send_channel_raw(const void* items, Index count, Index item_bytes, int to, int tag) const;
  Channel receive_channel_raw(void* items, Index count, Index item_bytes, int from, int tag) const;

  std::shared_ptr<Impl> impl_;
  Index limit_;
};

}  // namespace polyad
