#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace polyad {

enum class Errc {
  bad_input,    // a file has invalid contents
  bad_option,   // an option has an invalid value, or options exclude each other
  io,           // a file cannot be opened, read or written
  resource,     // memory, disk space or time has run out
  comm,         // MPI reported an error
  interrupted,  // a run was stopped before its end; what it had so far has been kept
  internal      // a bug in Polyad
};

// Position of an error in the input. Empty file: the error is not about a file. Line 0: no particular line.
struct InputPos {
  std::string file;
  std::int64_t line = 0;

  friend bool operator==(const InputPos&, const InputPos&) = default;
};

// A field of an options struct within a message: "rank", with a value "existing=replaced", or not shown
// "#dims", of which a message is about. Interfaces show it by the name that their users know: see
// Error::text.
std::string option_name(std::string_view field);
// Replaces each name of an option in a message by `name(field)`:
// a command line shows "--memory", Python "max_memory_bytes=".
using OptionNames = std::function<std::string(const std::string& field)>;
std::string with_option_names(const std::string& message, const OptionNames& name);

// The exception type of the library. what() is a sentence for the user,
// for example "uber.tns:7: expected 5 fields as on line 3, found 4".
class Error : public std::runtime_error {
 public:
  // The message may contain names of options, made by option_name.
  Error(Errc code, const std::string& message, InputPos input = {});

  Errc code() const noexcept { return code_; }
  const InputPos& input() const noexcept { return input_; }
  // The message without the position, as passed to the constructor.
  const std::string& message() const noexcept { return message_; }

  // The field of the options struct at fault: the first one that the message names; empty if it names none.
  std::string option() const;
  // The text of what(), with the names of options replaced by `name`.
  std::string text(const OptionNames& name) const;

 private:
  Errc code_;
  InputPos input_;
  std::string message_;
};

}  // namespace polyad
