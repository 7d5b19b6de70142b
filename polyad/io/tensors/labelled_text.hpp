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

// Passes on the lines of a table in options.share, in ranges of about `longest` bytes of text each.
void for_each_table_range(const InputFile& file, const FileHead& head, const ReadOptions& options,
                          Index longest, const std::function<void(const TextRange&)>& fn);

// Merges the labels of several shares to those of the whole, and converts the indices of a share to them.
// `rules` as in Slab::label_rules.
std::vector<ModeLabels> unite_labels(const std::vector<std::vector<ModeLabels>>& shares,
                                     const std::vector<ColumnRule>& rules);
void relabel(Slab& slab, std::vector<ModeLabels> whole);

// Modes that are binned by quantiles have the numbers that occur as labels until all entries are known:
// count_labels counts those of a share, and bin_quantiles takes the counts of all, and makes labels and
// indices those of bins.
std::vector<int> modes_of_quantiles(const Slab& slab);
std::vector<Index> count_labels(const Slab& slab, int mode);
void bin_quantiles(Slab& slab, int mode, const std::vector<Index>& counts);

}  // namespace polyad::io
