#pragma once

#include <string>
#include <vector>

#include "polyad/io/tensors/tensor_format.hpp"
#include "polyad/tensor/labels.hpp"
#include "polyad/tensor/sparse_tensor.hpp"

namespace polyad::io {

// A sparse tensor with what is known about it besides its nonzeros.
struct LoadedTensor {
  SparseTensor<double> tensor;  // on several processes: this one's nonzeros, under the dims of the whole
  std::vector<ModeLabels> labels = {};  // one per mode; empty where indices have no names
  TensorFormat format = TensorFormat::tns;
  int index_base = 1;                   // of the file, where it holds indices
  std::vector<std::string> notes = {};  // what the reader noticed, a sentence each
  std::string path = {};                // of the file; empty: made in memory
  double load_seconds = 0;              // that reading took
};

}  // namespace polyad::io
