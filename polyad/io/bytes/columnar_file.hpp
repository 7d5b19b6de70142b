#pragma once

#include "polyad/io/bytes/input_file.hpp"

namespace polyad::io {

// Tables of Apache Parquet and Arrow (Feather) are read as csv: a process that opens one first writes it as
// csv to a temporary file without a name, which is then what it reads. Times are written as
// 2014-04-01 13:05:00, those of a time zone in UTC and with +00:00, truth values as 1 and 0, nulls and NaN as
// empty fields, floating-point numbers as the shortest that are read back to the same, with a point.

// Whether this program was built with the library of Apache Arrow, which reads them.
bool reads_columnar();

// Whether a file is one of these, by its first bytes.
bool is_columnar(const InputFile& file);

// Appends it to an open file as csv, with a header and strings in quotes. Throws Error{bad_input} if it is
// damaged.
void write_as_csv(const InputFile& file, int descriptor);

}  // namespace polyad::io
