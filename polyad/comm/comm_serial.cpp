// The one-process implementation of comm_mpi.cpp, for builds and tests without MPI.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <optional>
#include <string>

#include "polyad/base/error.hpp"
#include "polyad/comm/comm.hpp"
#include "polyad/comm/runtime.hpp"

namespace polyad {
namespace {

constexpr Index nothing_yet = -1;

void copy_bytes(const void* from, void* to, Index bytes) {
  if (bytes > 0) std::memcpy(to, from, std::size_t(bytes));
}

struct Letter {
  int tag;
  std::vector<std::byte> bytes;
};

// A receive that was posted.
struct Slot {
  int tag;
  void* buffer;
  Index bytes;
  Index received = nothing_yet;

  void fill(const void* from, Index n) {
    copy_bytes(from, buffer, std::min(n, bytes));
    received = n;
  }
};

template <class Queue, class Match>
auto take_first(Queue& queue, Match match) -> std::optional<typename Queue::value_type> {
  const auto found = std::find_if(queue.begin(), queue.end(), match);
  if (found == queue.end()) return std::nullopt;
  std::optional<typename Queue::value_type> taken(std::move(*found));
  queue.erase(found);
  return taken;
}

}  // namespace

// Messages to oneself, matched in the order of posting as MPI does it.
struct Comm::Impl {
  std::deque<Letter> letters;
  std::deque<std::shared_ptr<Slot>> slots;
};

// Shared by all callers in one thread, as in MPI: a message sent on one is received on another.
// Threads that compute independently of each other do not meet.
Comm Comm::world() {
  static thread_local const auto impl = std::make_shared<Impl>();
  return {impl, default_message_limit};
}

Comm Comm::self() {
  static thread_local const auto impl = std::make_shared<Impl>();
  return {impl, default_message_limit};
}

int Comm::rank() const {
  return 0;
}

int Comm::size() const {
  return 1;
}

Comm Comm::with_message_limit(Index max_items) const {
  assert(max_items >= 1);
  return {impl_, max_items};
}

Comm Comm::split([[maybe_unused]] int color, int) const {
  assert(color >= 0);
  return {std::make_shared<Impl>(), limit_};
}

int Comm::ranks_on_this_machine() const {
  return 1;
}

void Comm::barrier() const {}

bool Comm::all_arrive_within(double) const noexcept {
  return true;
}

template <Number T>
void Comm::all_reduce(std::span<T>, Reduce) const {}
template void Comm::all_reduce(std::span<std::int32_t>, Reduce) const;
template void Comm::all_reduce(std::span<std::int64_t>, Reduce) const;
template void Comm::all_reduce(std::span<std::uint64_t>, Reduce) const;
template void Comm::all_reduce(std::span<float>, Reduce) const;
template void Comm::all_reduce(std::span<double>, Reduce) const;

void Comm::broadcast_raw(void*, Index, Index, int) const {}

void Comm::all_gather_raw(const void* mine, void* all, Index item_bytes) const {
  copy_bytes(mine, all, item_bytes);
}

void Comm::all_gather_varying_raw(const void* mine, void* all, std::span<const Index> counts,
                                  Index item_bytes) const {
  copy_bytes(mine, all, counts[0] * item_bytes);
}

void Comm::gather_varying_raw(const void* mine, void* all, std::span<const Index> counts, Index item_bytes,
                              int) const {
  copy_bytes(mine, all, counts[0] * item_bytes);
}

void Comm::scatter_varying_raw(const void* all, void* mine, std::span<const Index> counts, Index item_bytes,
                               int) const {
  copy_bytes(all, mine, counts[0] * item_bytes);
}

template <Number T>
void Comm::reduce_scatter(std::span<const T> all, [[maybe_unused]] std::span<const Index> counts,
                          std::span<T> mine) const {
  assert(counts.size() == 1 && counts[0] == std::ssize(all));
  std::copy(all.begin(), all.end(), mine.begin());
}
template void Comm::reduce_scatter(std::span<const float>, std::span<const Index>, std::span<float>) const;
template void Comm::reduce_scatter(std::span<const double>, std::span<const Index>, std::span<double>) const;

void Comm::all_to_all_raw(const void* send, [[maybe_unused]] std::span<const Index> send_counts, void* recv,
                          std::span<const Index> recv_counts, Index item_bytes) const {
  assert(send_counts.size() == 1 && recv_counts.size() == 1 && send_counts[0] == recv_counts[0]);
  copy_bytes(send, recv, recv_counts[0] * item_bytes);
}

std::vector<Index> Comm::exchange_counts(std::span<const Index> send_counts) const {
  assert(send_counts.size() == 1);
  return {send_counts.begin(), send_counts.end()};
}

struct Request::State {
  std::shared_ptr<Slot> slot;
};

Request::Request() noexcept = default;
Request::Request(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
Request::Request(Request&&) noexcept = default;
Request& Request::operator=(Request&&) noexcept = default;
Request::~Request() = default;

void Request::wait() {
  const auto finishing = std::move(state_);
  if (!finishing) return;
  const Slot& slot = *finishing->slot;
  if (slot.received == nothing_yet) throw Error(Errc::internal, "waits for a message that was never sent");
  if (slot.received != slot.bytes)
    throw Error(Errc::comm, "rank 0 sent " + std::to_string(slot.received) + " bytes, expected were " +
                                std::to_string(slot.bytes));
}

Request Comm::isend_raw(const void* items, Index count, Index item_bytes, [[maybe_unused]] int to,
                        int tag) const {
  assert(to == 0 && tag >= 0 && tag <= max_tag);
  const Index bytes = count * item_bytes;
  if (bytes == 0) return {};
  // A slot that only the queue still holds was given up.
  std::erase_if(impl_->slots, [](const auto& slot) { return slot.use_count() == 1; });
  if (const auto slot = take_first(impl_->slots, [&](const auto& s) { return s->tag == tag; })) {
    (*slot)->fill(items, bytes);
    return {};
  }
  const auto* begin = static_cast<const std::byte*>(items);
  impl_->letters.push_back({tag, {begin, begin + bytes}});
  return {};
}

Request Comm::irecv_raw(void* items, Index count, Index item_bytes, [[maybe_unused]] int from,
                        int tag) const {
  assert(from == 0 && tag >= 0 && tag <= max_tag);
  if (count == 0) return {};
  auto slot = std::make_shared<Slot>(Slot{tag, items, count * item_bytes});
  if (const auto letter = take_first(impl_->letters, [&](const Letter& l) { return l.tag == tag; }))
    slot->fill(letter->bytes.data(), std::ssize(letter->bytes));
  else
    impl_->slots.push_back(slot);
  return Request(std::unique_ptr<Request::State>(new Request::State{std::move(slot)}));
}

struct Channel::State {
  std::function<Request()> send_or_receive;
  Request under_way;
};

Channel::Channel(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
Channel::Channel(Channel&&) noexcept = default;
Channel& Channel::operator=(Channel&&) noexcept = default;
Channel::~Channel() = default;

void Channel::start() {
  state_->under_way = state_->send_or_receive();
}

void Channel::wait() {
  state_->under_way.wait();
}

Channel Comm::send_channel_raw(const void* items, Index count, Index item_bytes, int to, int tag) const {
  const auto send = [=, comm = *this] { return comm.isend_raw(items, count, item_bytes, to, tag); };
  return Channel(std::unique_ptr<Channel::State>(new Channel::State{send, {}}));
}

Channel Comm::receive_channel_raw(void* items, Index count, Index item_bytes, int from, int tag) const {
  const auto receive = [=, comm = *this] { return comm.irecv_raw(items, count, item_bytes, from, tag); };
  return Channel(std::unique_ptr<Channel::State>(new Channel::State{receive, {}}));
}

// A single process never waits.
struct Runtime::State {};
void Runtime::watch(double) {}
OneProcessWorks::OneProcessWorks() noexcept {}  // NOLINT(*-equals-default): comm_mpi.cpp has one
OneProcessWorks::~OneProcessWorks() {}  // NOLINT(*-equals-default, performance-trivially-destructible)

Runtime::Runtime(int&, char**&) {}
Runtime::~Runtime() {}  // NOLINT(*-equals-default, performance-trivially-destructible): comm_mpi.cpp has one

void Runtime::abort(int exit_code) const {
  std::fflush(nullptr);
  std::_Exit(exit_code);
}

std::string mpi_description() {
  return "none (one-process build)";
}

}  // namespace polyad
