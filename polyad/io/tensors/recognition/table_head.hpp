#pragma once

#include "polyad/io/tensors/slab.hpp"

namespace polyad::io {

// The head of a table whose first line, number `line`, begins at the byte `begin` of the (decompressed) text:
// its separator, and whether that line names the columns. What was assumed is in FileHead::notes.
FileHead table_head(const InputFile& file, Index begin, Index line, const ReadOptions& options);

// Whether the options ask for a table, whatever the text looks like.
bool asks_for_table(const ReadOptions& options);

// Whether lines from `begin` on are rows of a table of names rather than of indices and a value: separated by
// tabs or blanks, all with the same number of columns, one of which has no numbers.
bool looks_like_names(const InputFile& file, Index begin);

// Whether lines from `begin` on are whole numbers of many different counts per line, as adjacency lists are.
bool looks_like_lists(const InputFile& file, Index begin);

// If lines of words from `begin` on have different numbers of them, two at least: what to do with them, as a
// sentence; otherwise empty.
std::string doubt_about_lines(const InputFile& file, Index begin);

// Why the last column of lines of indices and a value, in which it is read as the value, seems to be
// something else, and the options that read it otherwise; empty if it looks like a value.
std::string doubt_about_value(const InputFile& file, Index begin);

}  // namespace polyad::io
