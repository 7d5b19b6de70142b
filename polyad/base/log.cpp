#include "polyad/base/log.hpp"

namespace polyad {

void write_log(std::FILE* out, std::string_view text) noexcept {
  std::fwrite(text.data(), 1, text.size(), out);
  std::fflush(out);
}

}  // namespace polyad
