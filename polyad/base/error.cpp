#include "polyad/base/error.hpp"

#include <utility>

namespace polyad {
namespace {

// Around the name of an option; no text for people contains them.
constexpr char name_begin = '\x01', name_end = '\x02';

std::string with_position(const InputPos& in, const std::string& message) {
  if (in.file.empty()) return message;
  if (in.line == 0) return in.file + ": " + message;
  return in.file + ":" + std::to_string(in.line) + ": " + message;
}

std::string describe(const InputPos& in, const std::string& message, const OptionNames& name) {
  return with_position(in, with_option_names(message, name));
}

std::string as_is(const std::string& name) {
  return name;
}

}  // namespace

std::string option_name(std::string_view field) {
  return name_begin + std::string(field) + name_end;
}

std::string with_option_names(const std::string& message, const OptionNames& name) {
  std::string text;
  std::size_t at = 0;
  while (at < message.size()) {
    const auto begin = message.find(name_begin, at);
    const auto end = begin == std::string::npos ? begin : message.find(name_end, begin);
    if (end == std::string::npos) break;
    text += message.substr(at, begin - at) + name(message.substr(begin + 1, end - begin - 1));
    at = end + 1;
  }
  return text + message.substr(at);
}

Error::Error(Errc code, const std::string& message, InputPos input)
    : std::runtime_error(describe(input, message, as_is)),
      code_(code),
      input_(std::move(input)),
      message_(message) {}

std::string Error::option() const {
  std::string first;
  with_option_names(message_, [&](const std::string& name) {
    if (first.empty()) first = name;
    return name;
  });
  return first;
}

std::string Error::text(const OptionNames& name) const {
  return describe(input_, message_, name);
}

}  // namespace polyad
