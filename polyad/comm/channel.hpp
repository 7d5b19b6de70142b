#pragma once

#include <memory>

namespace polyad {

// A message that is sent repeatedly between the same buffers, from Comm::send_channel or
// receive_channel: a persistent request of MPI. Between start() and wait() the buffer
// must not be accessed (by the sender: not modified). A channel that is destroyed while
// active behaves like a Request. The message is sent or received each time it is started.
class [[nodiscard]] Channel {
 public:
  ~Channel();
  Channel(Channel&&) noexcept;
  Channel& operator=(Channel&&) noexcept;

  void start();
  void wait();  // returns at once if the channel was not started

 private:
  friend class Comm;
  struct State;
  explicit Channel(std::unique_ptr<State> state) noexcept;

  std::unique_ptr<State> state_;
};

}  // namespace polyad
