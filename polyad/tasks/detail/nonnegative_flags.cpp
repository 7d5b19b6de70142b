#include "polyad/tasks/detail/nonnegative_flags.hpp"

#include <fmt/format.h>

#include "polyad/base/error.hpp"

namespace polyad::tasks {

std::vector<bool> nonnegative_flags(bool all, const std::vector<int>& modes, int order) {
  if (!all && modes.empty()) return {};
  std::vector<bool> flags(std::size_t(order), all);
  for (const int mode : modes) {
    if (mode < 0 || mode >= order)
      throw Error(Errc::bad_option, fmt::format("{}: mode {} does not exist; the {} modes are counted from 0",
                                                option_name("nonnegative_modes"), mode, order));
    flags[std::size_t(mode)] = true;
  }
  return flags;
}

}  // namespace polyad::tasks
