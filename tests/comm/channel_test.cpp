#include "polyad/comm/channel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "polyad/comm/comm.hpp"

namespace polyad {
namespace {

// Whole messages, and messages in pieces.
std::vector<Comm> worlds() {
  const Comm world = Comm::world();
  return {world, world.with_message_limit(1), world.with_message_limit(7)};
}

// What rank `from` has for rank `to` in a round.
std::vector<double> message(int from, int to, int round, Index count) {
  std::vector<double> items(std::size_t(count), 0.0);
  std::iota(items.begin(), items.end(), 1000 * from + 100 * to + 10 * round);
  return items;
}

Index message_length(int from, int to) {
  return (from * 5 + to * 3) % 11;  // none, for some
}

// Every rank to every rank, itself included, in buffers that stay where they are.
struct Exchange {
  explicit Exchange(const Comm& comm) : out(std::size_t(comm.size())), in(std::size_t(comm.size())) {
    const int me = comm.rank();
    for (int r = 0; r < comm.size(); ++r) {
      out[r].resize(std::size_t(message_length(me, r)));
      in[r].resize(std::size_t(message_length(r, me)));
      receiving.push_back(comm.receive_channel<double>(in[r], r, 3));
      sending.push_back(comm.send_channel<double>(out[r], r, 3));
    }
  }

  void start() {
    for (auto& channel : receiving) channel.start();
    for (auto& channel : sending) channel.start();
  }

  void wait() {
    for (auto& channel : sending) channel.wait();
    for (auto& channel : receiving) channel.wait();
  }

  std::vector<std::vector<double>> out, in;
  std::vector<Channel> receiving, sending;
};

TEST(Channel, a_message_goes_every_time_it_is_started_with_what_its_buffer_holds_then) {
  for (const Comm& comm : worlds()) {
    Exchange exchange(comm);
    for (int round = 0; round < 4; ++round) {
      for (int r = 0; r < comm.size(); ++r)
        std::ranges::copy(message(comm.rank(), r, round, message_length(comm.rank(), r)),
                          exchange.out[r].begin());
      exchange.start();
      exchange.wait();
      for (int r = 0; r < comm.size(); ++r)
        EXPECT_EQ(exchange.in[r], message(r, comm.rank(), round, message_length(r, comm.rank())));
    }
  }
}

TEST(Channel, waiting_for_what_was_not_started_or_is_through_returns_at_once) {
  for (const Comm& comm : worlds()) {
    Exchange exchange(comm);
    exchange.wait();
    exchange.start();
    exchange.wait();
    exchange.wait();
    EXPECT_EQ(std::ssize(exchange.in), comm.size());
  }
}

TEST(Channel, collectives_may_happen_while_messages_are_under_way) {
  for (const Comm& comm : worlds()) {
    Exchange exchange(comm);
    for (int r = 0; r < comm.size(); ++r) std::ranges::fill(exchange.out[r], comm.rank() + 0.5);
    exchange.start();
    EXPECT_EQ(comm.all_reduce(Index(1)), comm.size());
    exchange.wait();
    for (int r = 0; r < comm.size(); ++r)
      EXPECT_EQ(exchange.in[r], std::vector<double>(exchange.in[r].size(), r + 0.5));
  }
}

TEST(Channel, one_that_is_let_go_or_overwritten_under_way_is_waited_for) {
  for (const Comm& comm : worlds()) {
    const int next = (comm.rank() + 1) % comm.size(),
              previous = (comm.rank() + comm.size() - 1) % comm.size();
    const auto out = message(comm.rank(), 0, 0, 20);
    std::vector<double> first(20), second(20);
    {
      Channel receiving = comm.receive_channel<double>(first, previous, 1);
      Channel sending = comm.send_channel<double>(out, next, 1);
      receiving.start();
      sending.start();
      receiving = comm.receive_channel<double>(second, previous, 2);
      EXPECT_EQ(first, message(previous, 0, 0, 20));
      sending = comm.send_channel<double>(out, next, 2);
      receiving.start();
      sending.start();
    }
    EXPECT_EQ(second, message(previous, 0, 0, 20));
  }
}

}  // namespace
}  // namespace polyad
