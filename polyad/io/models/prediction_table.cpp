#include "polyad/io/models/prediction_table.hpp"

#include "polyad/io/text/number_text.hpp"

namespace polyad::io {

PredictionTable::PredictionTable(std::vector<std::string> mode_names, std::span<const ModeLabels> labels,
                                 char separator, WriteText write)
    : mode_names_(std::move(mode_names)), labels_(labels), separator_(separator), write_(std::move(write)) {}

void PredictionTable::write_head(Values values, Index num_contributions) const {
  std::string head;
  for (const auto& name : mode_names_) {
    append_field(head, name, separator_);
    head += separator_;
  }
  head += "prediction";
  if (values == Values::present)
    for (const auto* const name : {"value", "residual"}) (head += separator_) += name;
  for (Index r = 0; r < num_contributions; ++r) (head += separator_) += "component" + std::to_string(r + 1);
  write_(head + "\n");
}

void PredictionTable::write_rows(const PredictionRows& rows) const {
  write_lines(write_, Index(rows.predictions.size()), [&](std::string& out, Index z) {
    append_coordinate(out, rows, z);
    append_number(out, rows.predictions[z]);
    for (const auto column : {rows.values, rows.residuals})
      if (!column.empty()) append_number(out += separator_, column[z]);
    if (rows.contributions != nullptr)
      for (const double contribution : rows.contributions->row(z))
        append_number(out += separator_, contribution);
    out += '\n';
  });
}

void PredictionTable::append_coordinate(std::string& out, const PredictionRows& rows, Index z) const {
  for (std::size_t m = 0; m < rows.coordinates.size(); ++m) {
    const Index index = rows.coordinates[m][z];
    if (index < Index(labels_[m].labels.size()))
      append_field(out, labels_[m].labels[index], separator_);
    else
      append_number(out, index + 1);
    out += separator_;
  }
}

}  // namespace polyad::io
