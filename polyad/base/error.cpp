#include "polyad/base/error.hpp"

#include <utility>

namespace polyad {
namespace {

// Around the name of an option; no text for people contains them.
constexpr char name_begin = '\x01', name_end = '\x02';
constexpr char not_shown = '#';  // begins a name that is there for Error::option only

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
    const auto field = message.substr(begin + 1, end - begin - 1);
    text += message.substr(at, begin - at) + (field.starts_with(not_shown) ? "" : name(field));
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
  const auto begin = message_.find(name_begin);
  const auto end = begin == std::string::npos ? begin : message_.find(name_end, begin);
  if (end == std::string::npos) return "";
  const auto name = message_.substr(begin + 1, end - begin - 1);
  const std::size_t mark = name.starts_with(not_shown) ? 1 : 0;
  return name.substr(mark, name.find('=') - mark);
}

std::string Error::text(const OptionNames& name) const {
  return describe(input_, message_, name);
}

}  // namespace polyad
