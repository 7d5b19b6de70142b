#pragma once

#include "polyad/io/tensors/slab.hpp"

namespace polyad::io {

// Reads texts whose lines name things instead of numbering them: csv and the MovieLens forms. Every
// distinct name of a mode gets an index, in the order of sort_labels.
Slab read_labelled_text(const InputFile& file, const FileHead& head, const ReadOptions& options);
// The same in slabs, one after the other, of about options.slab_bytes of text each. Names get the indices
// that options.space gives them, so that all slabs mean the same by an index.
void read_labelled_text(const InputFile& file, const FileHead& head, const ReadOptions& options,
                        const SlabFn& fn);

// The labels of several shares as those of the whole, and a share's indices in terms of them.
std::vector<ModeLabels> unite_labels(const std::vector<std::vector<ModeLabels>>& shares);
void relabel(Slab& slab, std::vector<ModeLabels> whole);

}  // namespace polyad::io
