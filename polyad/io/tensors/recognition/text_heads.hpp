#pragma once

#include "polyad/io/tensors/recognition/head_lines.hpp"
#include "polyad/io/tensors/slab.hpp"

namespace polyad::io {

// The heads of text formats, each read from the first line that is neither blank nor a comment, which `lines`
// stands on. `space` is that of a model whose coordinates the file holds, or null. They throw
// Error{bad_input} with the line.

// Indices and a value per line: tns and libmf.
FileHead plain_head(const HeadLines& lines, TensorFormat format, const IndexSpace* space);
// HiParTI has a line with the order, extended FROSTT one with order and nonzeros; dims follow in both.
FileHead counted_head(HeadLines& lines);
// sptensor, tensor and matrix of Tensor Toolbox.
FileHead toolbox_head(HeadLines& lines);
// Of MatrixMarket, where `lines` stands before the first line; its banner looks like a comment.
FileHead matrix_market_head(const InputFile& file, HeadLines& lines);
bool begins_like_matrix_market(const InputFile& file);
FileHead movielens_head(const HeadLines& lines, TensorFormat format, const IndexSpace* space);
FileHead openke_head(HeadLines& lines);
FileHead adjacency_head(const HeadLines& lines, const ReadOptions& options);

// Pairs, which have no value, are no tensor: says which options read them.
[[noreturn]] void refuse_pairs(const HeadLines& lines);

}  // namespace polyad::io
