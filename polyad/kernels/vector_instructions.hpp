#pragma once

#include <string>

namespace polyad::kernels {

// The vectors that the kernels of this library were compiled for: "AVX-512, 64 bytes".
std::string vector_instructions();

}  // namespace polyad::kernels
