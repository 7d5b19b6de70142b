#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "polyad/io/bytes/zip_archive.hpp"
#include "polyad/io/tensors/slab.hpp"

namespace polyad::io {

// Arrays of Python and MATLAB as tensors, with indices from 0.

// A dense array (.npy) of order 2 or more: its nonzeros. Zeros and NaN are left out; as
// coordinates of a model (options.space), and with options.dense_zeros, only NaN are. A share is a range of
// its numbers.
Slab read_npy_tensor(const InputFile& file, const FileHead& head, const ReadOptions& options);

// A sparse matrix of SciPy or array of pydata/sparse (.npz). Every share reads the whole
// archive and keeps a range of its nonzeros. Zeros are kept, except those that fill up the
// blocks of bsr and the diagonals of dia.
Slab read_npz_tensor(const InputFile& file, const FileHead& head, const ReadOptions& options);

// The only array in a file of MATLAB (.mat of level 5): a sparse matrix, whose zeros are kept, or a dense
// array, which is read like an .npy file. Every share reads all of it and keeps a range of its numbers.
Slab read_mat_tensor(const InputFile& file, const FileHead& head, const ReadOptions& options);
bool begins_like_mat(std::string_view begin);  // by its first 128 bytes

// An array in such a file, by its head.
struct StoredArray {
  std::string name;  // of the variable in a file of MATLAB; else empty
  std::vector<Index> shape;
  std::string type;  // of its numbers as NumPy calls it; of a sparse one with its form: float64, csr
};
// The array of an .npy file, the sparse array of an .npz, or all variables of a .mat.
std::vector<StoredArray> list_arrays(const InputFile& file, TensorFormat format);
StoredArray describe_npz(const InputFile& file);
std::vector<StoredArray> describe_mat(const InputFile& file);

// Whether an archive with these members is meant to be one of them.
bool holds_sparse_array(const std::vector<ZipMember>& members);
bool holds_sparse_array(const InputFile& file);  // false also if the archive is damaged

}  // namespace polyad::io
