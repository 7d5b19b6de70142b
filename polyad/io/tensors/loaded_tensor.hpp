#pragma once

#include <string>
#include <vector>

#include "polyad/base/setting.hpp"
#include "polyad/io/tensors/tensor_format.hpp"
#include "polyad/tensor/labels.hpp"
#include "polyad/tensor/sparse_tensor.hpp"
#include "polyad/tensor/value_rules.hpp"

namespace polyad::io {

// A sparse tensor with its labels and what is known about its file.
struct LoadedTensor {
  SparseTensor<double> tensor;              // nonzeros of this process, with the extents of the whole tensor
  std::vector<ModeLabels> labels = {};      // one per mode; empty if indices have no names
  TensorFormat format = TensorFormat::tns;  // format of the file
  int index_base = 1;                       // first index of the file, if it holds indices
  std::vector<std::string> notes = {};      // messages of the reader, one sentence each
  std::string path = {};                    // path of the file, or a name of several; empty if made in memory
  std::vector<std::string> files = {};      // files and folders that were given; empty if made in memory
  bool sums_duplicates = false;             // whether lines were to be counted: duplicates are no surprise
  // How the value of a cell with several entries is, or is to be, made of them; and what became of values.
  Duplicates duplicate_rule = Duplicates::sum;
  Transform transform = Transform::none;
  std::vector<Index> min_count = {};   // slices with fewer nonzeros were removed, as in LoadOptions
  bool is_prepared = false;            // whether all of this was done, and not only left to others
  double load_seconds = 0;             // elapsed time of reading
  Index load_bytes = 0;                // memory that reading took at most, without that of the program
  std::vector<Setting> settings = {};  // the options that it was read by; empty if made in memory
};

}  // namespace polyad::io
