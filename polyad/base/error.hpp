#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
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

// The name of an option within a message: a field of an options struct, such as "max_memory_bytes".
// Interfaces show it by the name that their users know: see Error::text.
std::string option_name(std::string_view field);
// A message with `name(field)` in place of each name of an option: a command line shows "--memory", Python
// "max_memory_bytes=".
using OptionNames = std::function<std::string(const std::string& field)>;
std::string with_option_names(const std::string& message, const OptionNames& name);

// The one exception type of the library. what() is a sentence for the user:
// "uber.tns:7: expected 5 fields as on line 3, found 4".
class Error : public std::runtime_error {
 public:
  // The message may contain names of options, made by option_name.
  Error(Errc code, const std::string& message, InputPos input = {});

  Errc code() const noexcept { return code_; }
  const InputPos& input() const noexcept { return input_; }
  // The message without the position, with marked names of options, as the constructor takes it.
  const std::string& message() const noexcept { return message_; }

  // The option at fault, which is the first that the message names; empty where it names none.
  std::string option() const;
  // What what() returns, with the names of options that an interface has for its users.
  std::string text(const OptionNames& name) const;

 private:
  Errc code_;
  InputPos input_;
  std::string message_;
};

}  // namespace polyad
