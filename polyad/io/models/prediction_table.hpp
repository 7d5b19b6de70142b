#pragma once

#include <span>
#include <string>
#include <vector>

#include "polyad/base/matrix.hpp"
#include "polyad/io/text/line_writer.hpp"
#include "polyad/tensor/labels.hpp"

namespace polyad::io {

// Some lines of the table; empty members have no column.
struct PredictionRows {
  std::span<const std::span<const Index>> coordinates;  // [mode][line]
  std::span<const double> predictions, values, residuals;
  const Matrix<double>* contributions = nullptr;
};

// Table of predictions: a line that names the columns, then one for each coordinate, with
// labels where they exist and indices from 1 elsewhere. Numbers read back as the same bits.
class PredictionTable {
 public:
  // The separator is a comma or a tab.
  PredictionTable(std::vector<std::string> mode_names, std::span<const ModeLabels> labels, char separator,
                  WriteText write);

  enum class Values { present, absent };
  // num_contributions: 0 for no such columns.
  void write_head(Values values, Index num_contributions) const;
  void write_rows(const PredictionRows& rows) const;

 private:
  void append_coordinate(std::string& out, const PredictionRows& rows, Index z) const;

  std::vector<std::string> mode_names_;
  std::span<const ModeLabels> labels_;
  char separator_;
  WriteText write_;
};

}  // namespace polyad::io
