#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "polyad/io/tensors/slab.hpp"

namespace polyad::io {

// Faulty lines as the threads find them: where they begin in the text, and why they are faulty.
struct LineFault {
  Index offset;
  std::string why;
};

// Settles the faults of one parse: throws the first as an Error with its line, or, when problems are
// collected, adds them all, in the order of the file.
void settle(const InputFile& file, std::vector<std::vector<LineFault>> faults_per_thread,
            std::vector<Problem>* problems);

}  // namespace polyad::io
