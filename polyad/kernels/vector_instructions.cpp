#include "polyad/kernels/vector_instructions.hpp"

#include <fmt/format.h>

#include "polyad/kernels/block.hpp"

namespace polyad::kernels {
namespace {

#if defined(__AVX512F__)
constexpr auto instruction_set = "AVX-512";
#elif defined(__AVX2__)
constexpr auto instruction_set = "AVX2";
#elif defined(__AVX__)
constexpr auto instruction_set = "AVX";
#elif defined(__x86_64__)
constexpr auto instruction_set = "SSE2";
#elif defined(__aarch64__)
constexpr auto instruction_set = "NEON";
#else
constexpr auto instruction_set = "the compiler's choice";
#endif

}  // namespace

std::string vector_instructions() {
  return fmt::format("{}, {} bytes", instruction_set, vector_bytes);
}

}  // namespace polyad::kernels
