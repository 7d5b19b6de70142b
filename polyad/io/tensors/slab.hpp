#pragma once

#include <array>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "polyad/base/array.hpp"
#include "polyad/base/progress.hpp"
#include "polyad/io/tensors/index_space.hpp"
#include "polyad/io/tensors/tensor_format.hpp"
#include "polyad/io/text/csv_columns.hpp"
#include "polyad/io/text/table_form.hpp"
#include "polyad/io/text/text_lines.hpp"
#include "polyad/tensor/labels.hpp"

namespace polyad::io {

// An error in a file. Line 0: in no particular line.
struct Problem {
  Index line = 0;
  std::string message;
  std::string file = {};  // of several; empty: of the only one

  friend bool operator==(const Problem&, const Problem&) = default;
};

struct ReadOptions {
  std::optional<TensorFormat> format;  // empty: recognised by content
  std::optional<int> index_base;       // 0 or 1; empty: determined from the file
  std::vector<Index> dims;             // empty: those of the header, otherwise the maximum indices
  std::optional<CsvColumns> columns;   // of a table
  TableForm table;                     // the form of a table
  const IndexSpace* space =
      nullptr;  // of a model whose coordinates the file holds; null: a tensor of its own
  // Dense arrays: zeros are entries like others. By default they are left out, except as coordinates of a
  // model.
  bool dense_zeros = false;
  Share share;
  Progress* progress = nullptr;
  // Faulty lines are skipped and added here; null: the first one is thrown as an Error.
  std::vector<Problem>* problems = nullptr;
  Index slab_bytes = Index(1) << 26;  // of text, if a file is read in slabs

  bool keeps_dense_zeros() const { return dense_zeros || space != nullptr; }
};

// What a file states before its first nonzero; the same for all shares.
struct FileHead {
  std::filesystem::path path;
  TensorFormat format = TensorFormat::tns;
  int order = 0;
  std::vector<Index> dims;        // stated, binding
  std::vector<Index> noted_dims;  // stated in a comment: a lower bound
  std::optional<Index> nonzeros;  // stated, binding
  std::optional<Index> noted_nonzeros;
  // Whether these comments stand where Polyad writes them and as it does: then the text is taken to be
  // Polyad's, unless an index contradicts them. And whether such a text ends within a line.
  bool has_own_comments = false, ends_within_line = false;
  std::optional<int> index_base;          // prescribed by the format
  bool has_values = true;                 // false: a pattern, every value is 1
  bool symmetric = false;                 // an entry off the diagonal counts twice
  bool is_ragged = false;                 // lines of whole numbers of many lengths: adjacency lists?
  Index data_begin = 0;                   // position of the first data line in the (decompressed) bytes
  Index data_line = 0;                    // its line number
  std::string separator;                  // of tables: see TableForm
  std::vector<std::string> column_names;  // of tables; without a header 1, 2, 3, ...
  // Of tables: whether the first line names the columns, and whether that was assumed without any sign of it;
  // whether no column of a table without a header has numbers.
  bool has_header = true, header_is_guess = false, only_names = false;
  std::vector<ModeLabels> labels;  // contained in the file, for the whole tensor (ptb)
  std::vector<std::string> notes;  // messages for the user
};

// What must be known of all shares before any of them becomes a
// tensor. Trivially copyable, so that processes can exchange it.
struct SlabFacts {
  Index num_nonzeros = 0;
  Index data_lines = 0;
  Index lines_left_out = 0;  // of a table: those that have not TableForm::fields fields
  std::array<Index, max_order> min_index, max_index;

  SlabFacts() {
    min_index.fill(std::numeric_limits<Index>::max());
    max_index.fill(-1);
  }
};
SlabFacts merge(const SlabFacts& a, const SlabFacts& b);

// The share of a file that one process has read. Indices are as in the file, minus its index
// base if known, otherwise minus 1: an index -1 then shows that the file counts from 0.
struct Slab {
  FileHead head;
  std::vector<Array<Index>> indices;  // [mode][nonzero]
  Array<double> values;
  SlabFacts facts;
  std::vector<ModeLabels> labels;       // of formats with names: those of this share, in their order
  std::vector<ColumnRule> label_rules;  // [mode] of these, which says how they are ordered; empty: names
};
using SlabFn = std::function<void(Slab&&)>;

}  // namespace polyad::io
