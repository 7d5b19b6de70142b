#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

namespace polyad {

enum class Errc {
  bad_input,   // the user's file says something impossible
  bad_option,  // the user's command does
  io,          // a file that cannot be opened, read or written
  resource,    // memory, disk or time has run out
  comm,        // MPI reported a failure
  internal     // our bug
};

// Where in the user's data the fault lies. Empty file: not about a file. Line 0: no particular line.
struct InputPos {
  std::string file;
  std::int64_t line = 0;

  friend bool operator==(const InputPos&, const InputPos&) = default;
};

// The one exception type of the library. what() is written for the user:
// "uber.tns:7: expected 5 fields as on line 3, found 4".
class Error : public std::runtime_error {
 public:
  Error(Errc code, const std::string& message, InputPos input = {})
      : std::runtime_error(describe(input, message)), code_(code), input_(std::move(input)) {}

  Errc code() const noexcept { return code_; }
  const InputPos& input() const noexcept { return input_; }

 private:
  static std::string describe(const InputPos& in, const std::string& message) {
    if (in.file.empty()) return message;
    if (in.line == 0) return in.file + ": " + message;
    return in.file + ":" + std::to_string(in.line) + ": " + message;
  }

  Errc code_;
  InputPos input_;
};

}  // namespace polyad
