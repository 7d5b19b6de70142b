#pragma once

#include <filesystem>

#include "polyad/hypergraph/hypergraph.hpp"
#include "polyad/io/bytes/staged_file.hpp"

namespace polyad::io {

// Hypergraphs as hMetis and its kin read them (.hgr): a head "nets vertices [format]", a line of vertices,
// counted from 1, per net; behind them a line with a weight per vertex. format 1: a net's line begins with
// its weight; 10: vertices have weights; 11: both. Lines that begin with % are comments.

// Reads such a file. Throws Error{bad_input} with the line.
hypergraph::Hypergraph read_hypergraph(const std::filesystem::path& path);

// Writes such a file. Throws Error{bad_option} if vertices have several weights: not in this format.
void write_hypergraph(const std::filesystem::path& path, const hypergraph::Hypergraph& h,
                      Existing existing = Existing::replaced);

}  // namespace polyad::io
