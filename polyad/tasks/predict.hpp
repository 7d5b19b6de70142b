#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "polyad/algo/analysis/large_residual.hpp"
#include "polyad/base/array.hpp"
#include "polyad/io/text/table_form.hpp"
#include "polyad/tasks/context.hpp"
#include "polyad/tasks/cp_model.hpp"
#include "polyad/tasks/load.hpp"
#include "polyad/tasks/task_result.hpp"
#include "polyad/tasks/tensor.hpp"
#include "polyad/tensor/value_rules.hpp"

namespace polyad {

struct PredictOptions {
  // Format of the file of coordinates (default: recognised by content).
  std::optional<io::TensorFormat> format = {};
  // The first index of every mode in that file, 0 or 1 (default: found out).
  std::optional<int> index_base = {};
  // Tables: the columns of the modes, then that of the value if there is one, as in
  // LoadOptions::columns (default: found by the names of the model's modes).
  std::string columns = {};
  // Tables: the column of the value; then all of `columns` are modes.
  std::string value = {};
  // Tables: the header, the separator and how values are written, as in LoadOptions::table.
  io::TableForm table = {};
  // What the value of a cell is if several lines have its coordinates; the table has one line for it, at the
  // place of the first. Nothing: what the model was fitted with where its summary.json says so, else to add
  // them up, and for a model of ratings to keep the last. Requires values, as does `transform`; without
  // values every line has a line in the table.
  std::optional<Duplicates> duplicates = {};
  // What is done to every value after that, before it is compared. Nothing: what was done to those that the
  // model was fitted to where its summary.json says so, else nothing.
  std::optional<Transform> transform = {};
  // Leave out coordinates that the model does not have and count them. By default they are an error, except
  // in a model of ratings with biases: a user or item that it does not have has no factors and no bias there,
  // so that the prediction is the mean of all ratings and the bias of the other, if that is known.
  bool skip_unknown = false;
  // Models of ratings: predict also what is beyond the smallest and the largest training rating (default:
  // predictions are clipped to them).
  bool no_clip = false;
  // Add a column per component to the table: what the component adds to the prediction (default: no).
  bool contributions = false;
  // Number of the largest residuals to report (default 5).
  Index num_largest = 5;
  // File of the table, .tsv or .csv, and .gz behind to compress it (default: none).
  std::filesystem::path out = {};
  // Receives the text of the table, with tabs, piece by piece where `out` is empty (default: no table is
  // made).
  std::function<void(std::string_view)> write_table = {};
};

// How a model does at the coordinates of a file.
class Predictions : public TaskResult {
 public:
  struct Errors {                             // of a file with values
    double rmse = 0;                          // root mean square of the residuals
    double mae = 0;                           // mean of their magnitudes
    std::optional<double> relative = {};      // |residuals| / |values|; nothing where all values are 0
    std::vector<LargeResidual> largest = {};  // by magnitude, descending
  };
  Predictions(TaskResult texts, Index count, Index num_unknown, Index num_estimated,
              std::optional<Errors> errors)
      : TaskResult(std::move(texts)),
        count_(count),
        num_unknown_(num_unknown),
        num_estimated_(num_estimated),
        errors_(std::move(errors)) {}

  // Number of predictions.
  Index count() const { return count_; }
  // Number of coordinates that were left out because the model does not have them.
  Index num_unknown() const { return num_unknown_; }
  // Number of predictions whose user or item the model of ratings does not have.
  Index num_estimated() const { return num_estimated_; }
  // Nothing where the file has no values, or no coordinates.
  const std::optional<Errors>& errors() const { return errors_; }

 private:
  Index count_, num_unknown_, num_estimated_;
  std::optional<Errors> errors_;
};

// Throws Error{bad_option} for options that make no sense whatever the file.
void validate(const PredictOptions& options);

// Evaluates a model at the coordinates in a file, or in several as if they were one, of any text or binary
// format of tensors; where the file has values, compares with them. The table has a line for each coordinate,
// in the order of the file; only a part of it, and eight bytes for each line with a value, are in memory at
// any time. Requires a context of one process. Throws Error{bad_input} with file and line for coordinates
// that the model does not have.
Predictions predict(const Context& context, const CpModel& model, const TensorFiles& coordinates,
                    const PredictOptions& options = {});

// The entries of a model at the coordinates of the nonzeros of a tensor, in their order; on several processes
// each gets those of its share. The dims of the tensor must not exceed those of the model. Collective.
Array<double> predict(const Context& context, const CpModel& model, const Tensor& x);

}  // namespace polyad
