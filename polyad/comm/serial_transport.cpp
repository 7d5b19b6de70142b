#include <algorithm>
#include <cassert>
#include <cstring>
#include <deque>
#include <functional>
#include <optional>
#include <string>

#include "polyad/base/error.hpp"
#include "polyad/comm/transport.hpp"

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

class SerialPending final : public PendingMessage {
 public:
  explicit SerialPending(std::shared_ptr<Slot> slot) : slot_(std::move(slot)) {}

  void wait() override {
    if (slot_->received == nothing_yet)
      throw Error(Errc::internal, "waits for a message that was never sent");
    if (slot_->received != slot_->bytes)
      throw Error(Errc::comm, "rank 0 sent " + std::to_string(slot_->received) + " bytes, expected were " +
                                  std::to_string(slot_->bytes));
  }

 private:
  std::shared_ptr<Slot> slot_;
};

class SerialRepeated final : public RepeatedMessage {
 public:
  using Send = std::function<std::unique_ptr<PendingMessage>()>;
  explicit SerialRepeated(Send send_or_receive) : send_or_receive_(std::move(send_or_receive)) {}

  void start() override { under_way_ = send_or_receive_(); }
  void wait() override {
    if (const auto finishing = std::move(under_way_)) finishing->wait();
  }

 private:
  Send send_or_receive_;
  std::unique_ptr<PendingMessage> under_way_;
};

// Messages to oneself, matched in the order of posting as MPI does it.
struct Mailbox {
  std::deque<Letter> letters;
  std::deque<std::shared_ptr<Slot>> slots;

  void send(const void* bytes, Index count, int tag) {
    if (count == 0) return;
    // A slot that only the queue still holds was given up.
    std::erase_if(slots, [](const auto& slot) { return slot.use_count() == 1; });
    if (const auto slot = take_first(slots, [&](const auto& s) { return s->tag == tag; })) {
      (*slot)->fill(bytes, count);
      return;
    }
    const auto* begin = static_cast<const std::byte*>(bytes);
    letters.push_back({tag, {begin, begin + count}});
  }

  std::unique_ptr<PendingMessage> receive(void* bytes, Index count, int tag) {
    if (count == 0) return nullptr;
    auto slot = std::make_shared<Slot>(Slot{tag, bytes, count});
    if (const auto letter = take_first(letters, [&](const Letter& l) { return l.tag == tag; }))
      slot->fill(letter->bytes.data(), std::ssize(letter->bytes));
    else
      slots.push_back(slot);
    return std::make_unique<SerialPending>(std::move(slot));
  }
};

Index bytes_of(NumberType type) {
  return type == NumberType::int32 || type == NumberType::float32 ? 4 : 8;
}

class SerialTransport final : public Transport {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  std::unique_ptr<Transport> split(int, int) override { return make_serial_transport(); }
  std::unique_ptr<Transport> split_by_machine() override { return make_serial_transport(); }
  void barrier() override {}
  void barrier_asleep() override {}
  bool all_arrive_within(double) noexcept override { return true; }
  bool takes_device_memory() const override { return false; }

  void all_reduce(void*, Index, NumberType, Reduce, Index) override {}
  void reduce_scatter(const void* all, std::span<const Index> counts, void* mine, NumberType type,
                      Index) override {
    copy_bytes(all, mine, counts[0] * bytes_of(type));
  }
  void broadcast(void*, Index, Index, int, Index) override {}
  void all_gather(const void* mine, void* all, Index item_bytes) override {
    copy_bytes(mine, all, item_bytes);
  }
  void all_gather_varying(const void* mine, void* all, std::span<const Index> counts, Index item_bytes,
                          Index) override {
    copy_bytes(mine, all, counts[0] * item_bytes);
  }
  void gather_varying(const void* mine, void* all, std::span<const Index> counts, Index item_bytes, int,
                      Index) override {
    copy_bytes(mine, all, counts[0] * item_bytes);
  }
  void scatter_varying(const void* all, void* mine, std::span<const Index> counts, Index item_bytes, int,
                       Index) override {
    copy_bytes(all, mine, counts[0] * item_bytes);
  }
  void all_to_all(const void* send, std::span<const Index>, void* recv, std::span<const Index> recv_counts,
                  Index item_bytes, Index) override {
    copy_bytes(send, recv, recv_counts[0] * item_bytes);
  }
  std::vector<Index> exchange_counts(std::span<const Index> send_counts) override {
    return {send_counts.begin(), send_counts.end()};
  }

  std::unique_ptr<PendingMessage> isend(const void* bytes, Index count, Index, [[maybe_unused]] int to,
                                        int tag) override {
    assert(to == 0);
    mailbox_->send(bytes, count, tag);
    return nullptr;
  }
  std::unique_ptr<PendingMessage> irecv(void* bytes, Index count, Index, [[maybe_unused]] int from,
                                        int tag) override {
    assert(from == 0);
    return mailbox_->receive(bytes, count, tag);
  }
  std::unique_ptr<RepeatedMessage> send_channel(const void* bytes, Index count, Index, int,
                                                int tag) override {
    return std::make_unique<SerialRepeated>([=, mailbox = mailbox_]() -> std::unique_ptr<PendingMessage> {
      mailbox->send(bytes, count, tag);
      return nullptr;
    });
  }
  std::unique_ptr<RepeatedMessage> receive_channel(void* bytes, Index count, Index, int, int tag) override {
    return std::make_unique<SerialRepeated>(
        [=, mailbox = mailbox_] { return mailbox->receive(bytes, count, tag); });
  }

 private:
  std::shared_ptr<Mailbox> mailbox_ = std::make_shared<Mailbox>();
};

}  // namespace

std::unique_ptr<Transport> make_serial_transport() {
  return std::make_unique<SerialTransport>();
}

}  // namespace polyad
