#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "polyad/io/tensors/slab.hpp"

namespace polyad::io {

// Faulty lines as threads find them: their position in the text, and what is wrong.
struct LineFault {
  Index offset;
  std::string why;
};

// Handles the faults of one parse: throws the first as an Error with its line,
// or, if problems are collected, adds them all in the order of the file.
void settle(const InputFile& file, std::vector<std::vector<LineFault>> faults_per_thread,
            std::vector<Problem>* problems);

}  // namespace polyad::io
