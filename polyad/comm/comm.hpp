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

// What may travel as bytes. Pointers and views (spans, string views) would arrive as another process's
// addresses.
template <class T>
concept Shippable =
    std::is_trivially_copyable_v<T> && !std::is_pointer_v<T> && !std::ranges::borrowed_range<T>;

// The items of all ranks, one rank after the other.
template <Shippable T>
struct Gathered {
  Array<T> items;
  std::vector<Index> counts;  // of each rank
};

// All that we ask of MPI. Copying shares the communicator (no hidden collective); counts are 64-bit, and
// messages that are too long for MPI are split inside; types are checked at compile time. MPI must be
// running: by a Runtime, or by a program that passes its communicators to from_mpi() (mpi_comm.hpp). Failures
// of MPI are Error{comm}. Collective: all but the accessors and what sends or receives a single message. A
// `root` is the same on every rank.
class Comm {
 public:
  static constexpr Index default_message_limit = std::numeric_limits<std::int32_t>::max();
  static constexpr int max_tag = 32766;  // the largest of isend and irecv

  static Comm world();  // all processes; needs a living Runtime
  static Comm self();   // this process alone; not collective

  int rank() const;
  int size() const;

  // The same communicator, but messages of more than `max_items` items (at least 1) are split. The same
  // on every rank. For tests: nobody wants to send 2^31 items to see that it works.
  Comm with_message_limit(Index max_items) const;
  Index message_limit() const { return limit_; }

  // One communicator per color (>= 0), ranks in the order of key, then of rank.
  Comm split(int color, int key) const;
  // How many ranks run on this rank's machine.
  int ranks_on_this_machine() const;
  void barrier() const;
  // After an error: whether every rank calls this within `seconds`. If not, somebody waits elsewhere for
  // this rank, and nothing but Runtime::abort helps.
  bool all_arrive_within(double seconds) const noexcept;

  // Elementwise over the ranks. All ranks get the same bits, and again the same when a run is repeated on
  // the same layout: MPI only recommends this for sums of floating-point numbers, but does it.
  template <Number T>
  void all_reduce(std::span<T> inout, Reduce op = Reduce::sum) const;
  template <Number T>
  [[nodiscard]] T all_reduce(T x, Reduce op = Reduce::sum) const {
    all_reduce(std::span(&x, 1), op);
    return x;
  }

  // The root's items to all; vectors are resized, spans have the same size everywhere.
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

  // One value of each rank, to all.
  template <Shippable T>
  std::vector<T> all_gather(T mine) const {
    std::vector<T> all(std::size_t(size()), mine);
    all_gather_raw(&mine, all.data(), sizeof(T));
    return all;
  }
  // Any number of items of each rank, to all: all_gather_varying<T>(vector of T).
  template <Shippable T>
  Gathered<T> all_gather_varying(std::span<const T> mine) const {
    Gathered<T> all{{}, all_gather<Index>(std::ssize(mine))};
    all.items.resize(std::size_t(sum(all.counts)));
    all_gather_varying_raw(mine.data(), all.items.data(), all.counts, sizeof(T));
    return all;
  }
  // Into a place that is there, when all know the counts already.
  template <Shippable T>
  void all_gather_varying(std::span<const T> mine, std::span<const Index> counts, std::span<T> all) const {
    assert(std::ssize(mine) == counts[std::size_t(rank())] && sum(counts) == std::ssize(all));
    all_gather_varying_raw(mine.data(), all.data(), counts, sizeof(T));
  }
  // The same, to the root: the others get the counts and no items.
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
  // The other way: the root's `all` holds counts[0] items for rank 0, then counts[1] for rank 1, ... All know
  // the counts.
  template <Shippable T>
  void scatter_varying(std::span<const T> all, std::span<const Index> counts, std::span<T> mine,
                       int root) const {
    assert(std::ssize(mine) == counts[std::size_t(rank())]);
    assert(rank() != root || sum(counts) == std::ssize(all));
    scatter_varying_raw(all.data(), mine.data(), counts, sizeof(T), root);
  }
  // The sum over the ranks of `all`, cut as for scatter_varying: every rank gets its stretch of it. The same
  // bits when a run is repeated on the same layout.
  template <Number T>
  void reduce_scatter(std::span<const T> all, std::span<const Index> counts, std::span<T> mine) const;

  // `send` holds send_counts[0] items for rank 0, then send_counts[1] for rank 1, ...; `recv` likewise by
  // sender, whose counts the receiver knows (from a plan or exchange_counts). Costs nothing for a pair
  // of ranks without items.
  template <Shippable T>
  void all_to_all(std::span<const T> send, std::span<const Index> send_counts, std::span<T> recv,
                  std::span<const Index> recv_counts) const {
    assert(sum(send_counts) == std::ssize(send) && sum(recv_counts) == std::ssize(recv));
    all_to_all_raw(send.data(), send_counts, recv.data(), recv_counts, sizeof(T));
  }
  // How many items each rank has for this one, from how many this one has for each.
  std::vector<Index> exchange_counts(std::span<const Index> send_counts) const;

  // A message of which both sides know the length; one without items is not sent. Messages between the
  // same two ranks with the same tag (0 to max_tag) arrive in order.
  template <Shippable T>
  Request isend(std::span<const T> items, int to, int tag = 0) const {
    return isend_raw(items.data(), std::ssize(items), sizeof(T), to, tag);
  }
  template <Shippable T>
  Request irecv(std::span<T> items, int from, int tag = 0) const {
    return irecv_raw(items.data(), std::ssize(items), sizeof(T), from, tag);
  }
  // The same for a message that is sent every time it is started. Not collective.
  template <Shippable T>
  Channel send_channel(std::span<const T> items, int to, int tag = 0) const {
    return send_channel_raw(items.data(), std::ssize(items), sizeof(T), to, tag);
  }
  template <Shippable T>
  Channel receive_channel(std::span<T> items, int from, int tag = 0) const {
    return receive_channel_raw(items.data(), std::ssize(items), sizeof(T), from, tag);
  }

 private:
  struct Impl;  // the only owner of an MPI_Comm; lives in comm_impl.hpp or comm_serial.cpp
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
