#pragma once

#include "polyad/io/tensors/slab.hpp"

namespace polyad::io {

// Reads texts whose lines contain names instead of indices: csv and the MovieLens
// formats. Every distinct name of a mode gets an index, in the order of sort_labels.
Slab read_labelled_text(const InputFile& file, const FileHead& head, const ReadOptions& options);
// The same in slabs of about options.slab_bytes of text each. Names get the indices
// that options.space gives them, so that an index means the same in all slabs.
void read_labelled_text(const InputFile& file, const FileHead& head, const ReadOptions& options,
                        const SlabFn& fn);

// Merges the labels of several shares to those of the whole, and converts the indices of a share to them.
// `kinds` as in Slab::label_kinds.
std::vector<ModeLabels> unite_labels(const std::vector<std::vector<ModeLabels>>& shares,
                                     const std::vector<ColumnKind>& kinds);
void relabel(Slab& slab, std::vector<ModeLabels> whole);

}  // namespace polyad::io
