#pragma once

#include <filesystem>
#include <span>

#include "polyad/io/tensors/tensor_format.hpp"
#include "polyad/io/tensors/write_options.hpp"
#include "polyad/tensor/labels.hpp"
#include "polyad/tensor/sparse_tensor.hpp"

namespace polyad::io {

// Writes the nonzeros in their order, duplicates and explicit zeros included; reading the file gives
// the same coordinates and the same bits. csv and ptb hold the labels themselves; for the other formats
// see write_label_files. Throws Error{bad_option} when the format cannot hold the tensor.
void write_tensor(const std::filesystem::path& path, const SparseTensor<double>& x,
                  std::span<const ModeLabels> labels, const WriteOptions& options = {});

// About how many bytes write_tensor will write, from some of the nonzeros.
double predicted_bytes(const std::filesystem::path& path, const SparseTensor<double>& x,
                       std::span<const ModeLabels> labels, const WriteOptions& options = {});
// At least how many bytes a tensor of which only this is known will take.
double min_bytes(const std::filesystem::path& path, std::span<const Index> dims, Index num_nonzeros);

// The format that write_tensor will use; throws Error{bad_option} when that is unclear.
TensorFormat output_format(const std::filesystem::path& path, const WriteOptions& options);
bool holds_labels(TensorFormat format);

}  // namespace polyad::io
