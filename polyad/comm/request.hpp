#pragma once

#include <memory>
#include <span>

namespace polyad {

// A message under way, from Comm::isend or irecv. Its buffer must stay where it is until wait() returns.
// A request that goes out of scope or is assigned to is waited for, never dropped; only when an exception
// unwinds the stack is a receive given up, because its message may never come.
class [[nodiscard]] Request {
 public:
  Request() noexcept;  // nothing under way
  ~Request();
  Request(Request&&) noexcept;
  Request& operator=(Request&&) noexcept;

  // Throws Error{comm} when the message is shorter than was expected, or longer and MPI notices.
  void wait();

 private:
  friend class Comm;
  struct State;
  explicit Request(std::unique_ptr<State> state) noexcept;

  std::unique_ptr<State> state_;
};

inline void wait_all(std::span<Request> requests) {
  for (Request& request : requests) request.wait();
}

}  // namespace polyad
