#include "polyad/report/html/csv_download.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <iterator>
#include <string_view>

#include "polyad/report/component_summary.hpp"
#include "polyad/report/printable_text.hpp"

namespace polyad::report {
namespace {

// As RFC 4180 has it.
std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve(4 * (bytes.size() + 2) / 3);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k)
      group = group << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k)
      text += i + k > bytes.size() ? '=' : digits[group >> (18 - 6 * k) & 63];
  }
  return text;
}

}  // namespace

std::string csv_text(std::span<const std::string> columns, const ModeLabels& labels,
                     const Matrix<double>& rows) {
  std::string text;
  for (const auto& column : columns) text += (text.empty() ? "" : ",") + csv_field(column);
  text += "\n";
  for (Index i = 0; i < rows.num_rows(); ++i) {
    text += csv_field(label_of(labels, i));
    for (const double value : rows.row(i)) fmt::format_to(std::back_inserter(text), ",{:.9g}", value);
    text += "\n";
  }
  return text;
}

std::string downloads_html(std::span<const CsvFile> files, const std::string& instead) {
  if (files.empty()) return "<p>" + escape_html(instead) + "</p>\n";
  std::string html = "<ul class=\"downloads\">\n";
  for (const auto& [name, text] : files)
    html += fmt::format("<li><a download=\"{0}\" href=\"data:text/csv;base64,{1}\">{0}</a></li>\n",
                        escape_html(name), base64(text));
  return html + "</ul>\n";
}

}  // namespace polyad::report
