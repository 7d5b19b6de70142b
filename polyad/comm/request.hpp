#pragma once

#include <memory>
#include <span>

namespace polyad {

// A pending message, from Comm::isend or irecv. Its buffer must remain valid until wait()
// returns. A pending request that is destroyed or assigned to is waited for; only while an
// exception unwinds the stack is a receive cancelled, because its message may never arrive.
class [[nodiscard]] Request {
 public:
  Request() noexcept;  // no message
  ~Request();
  Request(Request&&) noexcept;
  Request& operator=(Request&&) noexcept;

  // Throws Error{comm} if the message is shorter than expected, or longer and MPI detects it.
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
