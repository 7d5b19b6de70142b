#pragma once

#include <span>
#include <string>
#include <vector>

#include "polyad/base/matrix.hpp"
#include "polyad/base/types.hpp"
#include "polyad/tensor/labels.hpp"

namespace polyad::report {

// A table for downloading from a page.
struct CsvFile {
  std::string name;  // as it is proposed to the user, "mode-1.csv"
  std::string text;
};

// Tables with more numbers in all, or more bytes, are left out of a page.
inline constexpr Index max_csv_numbers = 40000;
inline constexpr std::size_t max_csv_bytes = 1000000;

// The rows of a factor: their labels, or indices from 1, then a number per column. `columns` are the names of
// the columns, that of the labels first.
std::string csv_text(std::span<const std::string> columns, const ModeLabels& labels,
                     const Matrix<double>& rows);

// Links with the files inside, which browsers save without a script; or, where there are none, the sentence
// `instead`.
std::string downloads_html(std::span<const CsvFile> files, const std::string& instead);

}  // namespace polyad::report
