#pragma once
// Private to the files of comm/ that use MPI.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "polyad/base/error.hpp"
#include "polyad/base/timings.hpp"
#include "polyad/base/types.hpp"
#include "polyad/comm/mpi_watchdog.hpp"

namespace polyad::mpi {

inline constexpr double patience = 10;  // seconds for the last messages after an error

inline void check(int code, const char* function) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  throw Error(Errc::comm, std::string(function) + ": " + std::string(text.data(), std::size_t(length)));
}

inline void nap() {
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

[[noreturn]] inline void stop_all(int exit_code) {
  std::fflush(nullptr);
  MPI_Abort(MPI_COMM_WORLD, exit_code);
  std::_Exit(exit_code);
}

// fn(begin, count) for consecutive pieces of [0, n). A receiver cuts as its sender does, because both
// know n.
template <class Fn>
void for_each_piece(Index n, Index piece, Fn fn) {
  for (Index begin = 0; begin < n; begin += piece) fn(begin, int(std::min(piece, n - begin)));
}

// Messages under way, each in pieces of at most piece_bytes. Never destroyed before they are through.
class Transfers {
 public:
  Transfers(MPI_Comm comm, Index piece_bytes, int tag) : comm_(comm), piece_bytes_(piece_bytes), tag_(tag) {}
  Transfers(const Transfers&) = delete;
  Transfers& operator=(const Transfers&) = delete;
  ~Transfers() {
    if (std::uncaught_exceptions() > 0) give_up();
    const Waiting waiting(Call::message);
    for (MPI_Request& request : requests_) {
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
    }
  }

  void send(const std::byte* bytes, Index count, int to) {
    for_each_piece(count, piece_bytes_, [&](Index begin, int length) {
      check(MPI_Isend(bytes + begin, length, MPI_BYTE, to, tag_, comm_, add(sent)), "MPI_Isend");
    });
  }

  void receive(std::byte* bytes, Index count, int from) {
    for_each_piece(count, piece_bytes_, [&](Index begin, int length) {
      check(MPI_Irecv(bytes + begin, length, MPI_BYTE, from, tag_, comm_, add(length, from)), "MPI_Irecv");
    });
  }

  // The same for messages that go whenever start() is called.
  void prepare_to_send(const std::byte* bytes, Index count, int to) {
    for_each_piece(count, piece_bytes_, [&](Index begin, int length) {
      check(MPI_Send_init(bytes + begin, length, MPI_BYTE, to, tag_, comm_, add(sent)), "MPI_Send_init");
    });
    is_under_way_ = false;
  }
  void prepare_to_receive(std::byte* bytes, Index count, int from) {
    for_each_piece(count, piece_bytes_, [&](Index begin, int length) {
      check(MPI_Recv_init(bytes + begin, length, MPI_BYTE, from, tag_, comm_, add(length, from)),
            "MPI_Recv_init");
    });
    is_under_way_ = false;
  }
  void start() {
    for (MPI_Request& request : requests_) check(MPI_Start(&request), "MPI_Start");
    is_under_way_ = true;
  }
  void wait_until_next_start() {
    if (is_under_way_) wait_for_each();
    is_under_way_ = false;
  }

  void wait() {
    wait_for_each();
    requests_.clear();
    expected_.clear();
  }

 private:
  static constexpr int sent = -1;  // in the place of the length that a receive expects

  struct Expected {
    int length, from;
  };

  MPI_Request* add(int length, int from = 0) {
    is_under_way_ = true;
    expected_.push_back({length, from});
    return &requests_.emplace_back(MPI_REQUEST_NULL);
  }

  // One by one: the MPI_Waitall of Open MPI 4.1 never returns when a message has failed already.
  void wait_for_each() {
    const Waiting waiting(Call::message);
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      MPI_Status status;
      check(MPI_Wait(&requests_[i], &status), "MPI_Wait");
      if (expected_[i].length != sent) check_length(status, expected_[i]);
    }
  }

  static void check_length(const MPI_Status& status, const Expected& expected) {
    int length = 0;
    check(MPI_Get_count(&status, MPI_BYTE, &length), "MPI_Get_count");
    if (length != expected.length)
      throw Error(Errc::comm, "rank " + std::to_string(expected.from) + " sent " + std::to_string(length) +
                                  " bytes, expected were " + std::to_string(expected.length));
  }

  bool all_done() {
    return std::all_of(requests_.begin(), requests_.end(), [](MPI_Request& request) {
      int done = 0;
      MPI_Test(&request, &done, MPI_STATUS_IGNORE);
      return done != 0;
    });
  }

  // An exception is on its way to main. Messages that never come must not hold it up; those that leave
  // still read their buffers, which are about to go.
  void give_up() {
    for (std::size_t i = 0; i < requests_.size() && is_under_way_; ++i)
      if (expected_[i].length != sent && requests_[i] != MPI_REQUEST_NULL) MPI_Cancel(&requests_[i]);
    for (const Stopwatch watch; !all_done(); nap())
      if (watch.seconds() > patience) {
        std::fputs("polyad: messages of a failed rank do not get through; stopping all\n", stderr);
        stop_all(1);
      }
  }

  MPI_Comm comm_;
  Index piece_bytes_;
  int tag_;
  std::vector<MPI_Request> requests_;
  std::vector<Expected> expected_;
  bool is_under_way_ = false;
};

}  // namespace polyad::mpi
