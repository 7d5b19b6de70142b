#pragma once

#include <string>
#include <string_view>

#include "polyad/io/bytes/input_file.hpp"
#include "polyad/tensor/value_rules.hpp"

namespace polyad::io {

// How models keep what was done to the values that they were fitted to: in lines "duplicates mean",
// "transform log1p" and "min-count 2 5", without those that say what is usual. They are the file values.txt
// in the directory of a model, a member of that name in an archive, and comments at the end of a text.
inline constexpr const char* value_record_name = "values.txt";

// The lines; empty if all is usual.
std::string value_record(const ValuePreparation& prepared, const ValuePreparation& usual = {});

// Takes what one line says; false if it is no such line, or not as expected.
bool take_value_record(std::string_view line, ValuePreparation& prepared);
// Takes what lines say. Throws Error{bad_input} that names the file if they are not as expected.
void take_value_records(const std::string& file, std::string_view lines, ValuePreparation& prepared);

// Takes what the member of an archive says, if there is one.
void take_archived_record(const InputFile& archive, ValuePreparation& prepared);

}  // namespace polyad::io
