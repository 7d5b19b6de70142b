#include "polyad/report/components_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "polyad/report/printable_text.hpp"

namespace polyad::report {
namespace {

constexpr int indent = 2, gap = 3, min_column_cells = 10, max_column_cells = 40;

std::string padded(const std::string& text, int cells) {
  return text + std::string(std::size_t(std::max(0, cells - num_cells(text))), ' ');
}

// One mode of one component: labels to the left, values to the right.
struct Column {
  std::string head;
  std::vector<std::string> labels, values;
  int label_cells = 0, value_cells = 0;

  int cells() const { return label_cells + 1 + value_cells; }
};

Column make_column(const std::string& name, const ComponentMode& mode, Index max_entries) {
  Column column{printable(name), {}, {}};
  const double largest = mode.strongest.empty() ? 0 : std::abs(mode.strongest[0].value);
  const NumberColumn numbers(largest);
  for (const auto& entry : mode.strongest) {
    if (std::ssize(column.labels) == max_entries || is_negligible(entry, largest)) break;
    column.labels.push_back(printable(entry.label));
    column.values.push_back(numbers.text(entry.value));
    column.label_cells = std::max(column.label_cells, num_cells(column.labels.back()));
    column.value_cells = std::max(column.value_cells, int(column.values.back().size()));
  }
  column.label_cells = std::max(column.label_cells, num_cells(column.head) - 1 - column.value_cells);
  column.label_cells = std::clamp(column.label_cells, 1, max_column_cells);
  return column;
}

int width_of(const std::vector<Column>& columns) {
  int width = indent - gap;
  for (const auto& column : columns) width += column.cells() + gap;
  return width;
}

// Takes cells from the widest labels until the columns fit, down to min_column_cells.
void narrow_to(std::vector<Column>& columns, int width) {
  for (int excess = width_of(columns) - width; excess > 0; --excess) {
    auto& widest = *std::ranges::max_element(columns, {}, &Column::label_cells);
    if (widest.label_cells <= min_column_cells) return;
    --widest.label_cells;
  }
}

// How many of the columns fit beside each other when their labels are as narrow as they may be.
std::size_t num_fitting(std::span<const Column> columns, int width) {
  int used = indent - gap;
  std::size_t count = 0;
  for (const auto& column : columns) {
    used += std::min(column.label_cells, min_column_cells) + 1 + column.value_cells + gap;
    if (used > width) break;
    ++count;
  }
  return std::max<std::size_t>(1, count);
}

std::size_t num_distinct(const std::vector<std::string>& texts) {
  return std::set<std::string>(texts.begin(), texts.end()).size();
}

// Labels as wide as their column: clipped at the end or, where that tells more of them apart, at the front,
// as with addresses that begin alike.
std::vector<std::string> clipped_labels(const Column& column) {
  std::vector<std::string> ends, fronts;
  for (const auto& label : column.labels) {
    ends.push_back(clip(label, column.label_cells));
    fronts.push_back(clip_front(label, column.label_cells));
  }
  return num_distinct(fronts) > num_distinct(ends) ? fronts : ends;
}

std::string without_blanks_at_end(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

std::string table_text(std::vector<Column> columns) {
  std::string head(indent, ' '), text;
  std::size_t num_lines = 0;
  for (auto& column : columns) {
    column.labels = clipped_labels(column);
    head += padded(clip(column.head, column.cells()), column.cells() + gap);
    num_lines = std::max(num_lines, column.labels.size());
  }
  text += without_blanks_at_end(head);
  for (std::size_t i = 0; i < num_lines; ++i) {
    std::string line(indent, ' ');
    for (const auto& column : columns) {
      const bool has = i < column.labels.size();
      line += has ? padded(column.labels[i], column.label_cells + 1) +
                        fmt::format("{:>{}}", column.values[i], column.value_cells)
                  : std::string(std::size_t(column.cells()), ' ');
      line += std::string(gap, ' ');
    }
    text += without_blanks_at_end(line);
  }
  return text;
}

std::string component_text(const ComponentSummary& summary, const SummarisedComponent& component, int width,
                           Index max_entries) {
  std::vector<Column> columns;
  for (std::size_t m = 0; m < summary.modes.size(); ++m)
    columns.push_back(make_column(summary.modes[m].name, component.modes[m], max_entries));
  std::string text;
  while (!columns.empty()) {
    const auto count = Index(num_fitting(columns, width));
    std::vector<Column> fitting(columns.begin(), columns.begin() + count);
    narrow_to(fitting, width);
    text += table_text(std::move(fitting));
    columns.erase(columns.begin(), columns.begin() + count);
  }
  return text;
}

}  // namespace

std::string components_text(const ComponentSummary& summary, int width, Index max_components,
                            Index max_entries) {
  std::string text;
  const Index count = std::ssize(summary.components), shown = std::min(count, max_components);
  for (Index r = 0; r < shown; ++r) {
    const auto& component = summary.components[r];
    if (r > 0) text += "\n";
    const auto name = component.name.empty() ? "" : ", " + printable(component.name);
    if (component.vanished()) {
      text += fmt::format("component {}{}: vanished, its weight is 0\n", r + 1, name);
      continue;
    }
    text += fmt::format("component {}{}: weight {:.4g}", r + 1, name, component.weight);
    if (component.relative_weight < 1)
      text += fmt::format(", {:.3g} % of the largest", 100 * component.relative_weight);
    text += "\n" + component_text(summary, component, width, max_entries);
  }
  if (shown < count)
    text += fmt::format("\n{} more {} not shown\n", count - shown,
                        count - shown == 1 ? "component is" : "components are");
  for (const auto& warning : congruence_warnings(summary)) text += "\n" + warning + "\n";
  return text;
}

}  // namespace polyad::report
