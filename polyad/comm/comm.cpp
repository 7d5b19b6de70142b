#include "polyad/comm/comm.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "polyad/comm/transport.hpp"

namespace polyad {
namespace {

template <Number T>
constexpr NumberType number_type() {
  if constexpr (std::same_as<T, std::int32_t>) return NumberType::int32;
  if constexpr (std::same_as<T, std::int64_t>) return NumberType::int64;
  if constexpr (std::same_as<T, std::uint64_t>) return NumberType::uint64;
  if constexpr (std::same_as<T, float>) return NumberType::float32;
  if constexpr (std::same_as<T, double>) return NumberType::float64;
}

// The most bytes that go in one message. They are kept below 2^31: counts of bytes are handed to MPI as int.
Index message_bytes(Index limit, Index item_bytes) {
  return std::min(limit, Comm::default_message_limit / item_bytes) * item_bytes;
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
  return {std::make_shared<Impl>(impl_->transport->split(color, key)), limit_};
}

Comm Comm::split_by_machine() const {
  return {std::make_shared<Impl>(impl_->transport->split_by_machine()), limit_};
}

void Comm::barrier() const {
  impl_->transport->barrier();
}

void Comm::barrier_asleep() const {
  impl_->transport->barrier_asleep();
}

bool Comm::all_arrive_within(double seconds) const noexcept {
  return impl_->transport->all_arrive_within(seconds);
}

bool Comm::takes_device_memory() const {
  const char* const said = std::getenv("POLYAD_GPU_AWARE_MPI");
  const bool mine = said == nullptr || *said == '\0' ? impl_->transport->takes_device_memory()
                                                     : std::string_view(said) != "0";
  return all_reduce(std::int32_t(mine), Reduce::min) > 0;
}

template <Number T>
void Comm::all_reduce(std::span<T> inout, Reduce op) const {
  impl_->transport->all_reduce(inout.data(), std::ssize(inout), number_type<T>(), op, limit_);
}
template void Comm::all_reduce(std::span<std::int32_t>, Reduce) const;
template void Comm::all_reduce(std::span<std::int64_t>, Reduce) const;
template void Comm::all_reduce(std::span<std::uint64_t>, Reduce) const;
template void Comm::all_reduce(std::span<float>, Reduce) const;
template void Comm::all_reduce(std::span<double>, Reduce) const;

template <Number T>
void Comm::reduce_scatter(std::span<const T> all, std::span<const Index> counts, std::span<T> mine) const {
  assert(sum(counts) == std::ssize(all) && counts[rank()] == std::ssize(mine));
  impl_->transport->reduce_scatter(all.data(), counts, mine.data(), number_type<T>(), limit_);
}
template void Comm::reduce_scatter(std::span<const float>, std::span<const Index>, std::span<float>) const;
template void Comm::reduce_scatter(std::span<const double>, std::span<const Index>, std::span<double>) const;

void Comm::broadcast_raw(void* items, Index count, Index item_bytes, int root) const {
  impl_->transport->broadcast(items, count, item_bytes, root, limit_);
}

void Comm::all_gather_raw(const void* mine, void* all, Index item_bytes) const {
  impl_->transport->all_gather(mine, all, item_bytes);
}

void Comm::all_gather_varying_raw(const void* mine, void* all, std::span<const Index> counts,
                                  Index item_bytes) const {
  impl_->transport->all_gather_varying(mine, all, counts, item_bytes, limit_);
}

void Comm::gather_varying_raw(const void* mine, void* all, std::span<const Index> counts, Index item_bytes,
                              int root) const {
  impl_->transport->gather_varying(mine, all, counts, item_bytes, root, limit_);
}

void Comm::scatter_varying_raw(const void* all, void* mine, std::span<const Index> counts, Index item_bytes,
                               int root) const {
  impl_->transport->scatter_varying(all, mine, counts, item_bytes, root, limit_);
}

void Comm::all_to_all_raw(const void* send, std::span<const Index> send_counts, void* recv,
                          std::span<const Index> recv_counts, Index item_bytes) const {
  assert(std::ssize(send_counts) == size() && std::ssize(recv_counts) == size());
  assert(send_counts[rank()] == recv_counts[rank()]);
  impl_->transport->all_to_all(send, send_counts, recv, recv_counts, item_bytes, limit_);
}

std::vector<Index> Comm::exchange_counts(std::span<const Index> send_counts) const {
  assert(std::ssize(send_counts) == size());
  return impl_->transport->exchange_counts(send_counts);
}

struct Request::State {
  std::unique_ptr<PendingMessage> message;
};

Request::Request() noexcept = default;
Request::Request(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
Request::Request(Request&&) noexcept = default;
Request& Request::operator=(Request&&) noexcept = default;
Request::~Request() = default;

void Request::wait() {
  const auto finishing = std::move(state_);
  if (finishing && finishing->message) finishing->message->wait();
}

Request Comm::isend_raw(const void* items, Index count, Index item_bytes, int to, int tag) const {
  assert(tag >= 0 && tag <= max_tag);
  auto message =
      impl_->transport->isend(items, count * item_bytes, message_bytes(limit_, item_bytes), to, tag);
  return Request(std::unique_ptr<Request::State>(new Request::State{std::move(message)}));
}

Request Comm::irecv_raw(void* items, Index count, Index item_bytes, int from, int tag) const {
  assert(tag >= 0 && tag <= max_tag);
  auto message =
      impl_->transport->irecv(items, count * item_bytes, message_bytes(limit_, item_bytes), from, tag);
  return Request(std::unique_ptr<Request::State>(new Request::State{std::move(message)}));
}

struct Channel::State {
  std::unique_ptr<RepeatedMessage> message;
};

Channel::Channel(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
Channel::Channel(Channel&&) noexcept = default;
Channel& Channel::operator=(Channel&&) noexcept = default;
Channel::~Channel() = default;

void Channel::start() {
  state_->message->start();
}

void Channel::wait() {
  state_->message->wait();
}

Channel Comm::send_channel_raw(const void* items, Index count, Index item_bytes, int to, int tag) const {
  assert(tag >= 0 && tag <= max_tag);
  auto message =
      impl_->transport->send_channel(items, count * item_bytes, message_bytes(limit_, item_bytes), to, tag);
  return Channel(std::unique_ptr<Channel::State>(new Channel::State{std::move(message)}));
}

Channel Comm::receive_channel_raw(void* items, Index count, Index item_bytes, int from, int tag) const {
  assert(tag >= 0 && tag <= max_tag);
  auto message = impl_->transport->receive_channel(items, count * item_bytes,
                                                   message_bytes(limit_, item_bytes), from, tag);
  return Channel(std::unique_ptr<Channel::State>(new Channel::State{std::move(message)}));
}

}  // namespace polyad
