#pragma once

namespace polyad::cli {

// Opens those of standard input, output and error that were closed when the program started on /dev/null, so
// that no file of the program gets their descriptors. Makes writing to a pipe that nobody reads an error of
// the write instead of a signal that ends the program in the middle of its work. For the start of main.
void prepare_standard_streams() noexcept;

// Whether a text on standard output was lost, though somebody still reads it (a full disk).
bool has_lost_output() noexcept;

}  // namespace polyad::cli
