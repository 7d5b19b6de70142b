#pragma once

#include <filesystem>
#include <span>

#include "polyad/io/tensors/tensor_format.hpp"
#include "polyad/io/tensors/write_options.hpp"
#include "polyad/tensor/labels.hpp"
#include "polyad/tensor/sparse_tensor.hpp"

namespace polyad::io {

// Writes the nonzeros in their order, including duplicates and explicit zeros; reading the
// file gives the same coordinates and bits. csv and ptb contain the labels; for other formats
// see write_label_files. Throws Error{bad_option} if the format cannot store the tensor.
void write_tensor(const std::filesystem::path& path, const SparseTensor<double>& x,
                  std::span<const ModeLabels> labels, const WriteOptions& options = {});

// Approximate number of bytes that write_tensor will write, from a sample of the nonzeros.
double predicted_bytes(const std::filesystem::path& path, const SparseTensor<double>& x,
                       std::span<const ModeLabels> labels, const WriteOptions& options = {});
// Minimum number of bytes of a tensor with these properties.
double min_bytes(const std::filesystem::path& path, std::span<const Index> dims, Index num_nonzeros);

// The format that write_tensor will use; throws Error{bad_option} if it cannot be determined.
TensorFormat output_format(const std::filesystem::path& path, const WriteOptions& options);
bool holds_labels(TensorFormat format);

}  // namespace polyad::io
