#pragma once

#include <memory>

namespace polyad {

// A message that goes again and again from the same place to the same place, from Comm::send_channel or
// receive_channel: what MPI can prepare is prepared once. Between start() and wait() its buffer is not to be
// touched (a sender's: not to be changed). One that goes out of scope under way is dealt with as a Request
// is.
class [[nodiscard]] Channel {
 public:
  ~Channel();
  Channel(Channel&&) noexcept;
  Channel& operator=(Channel&&) noexcept;

  void start();
  void wait();  // returns at once when nothing was started

 private:
  friend class Comm;
  struct State;
  explicit Channel(std::unique_ptr<State> state) noexcept;

  std::unique_ptr<State> state_;
};

}  // namespace polyad
