#pragma once

#include <string>

namespace polyad {

// An option of a task with its value, as reports show it.
struct Setting {
  std::string name;   // made by option_name, so that every interface shows the name that its users know
  std::string value;  // as text for people
  bool is_default = false;

  friend bool operator==(const Setting&, const Setting&) = default;
};

}  // namespace polyad
