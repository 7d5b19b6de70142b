#include "polyad/report/html/run_record.hpp"

#include <fmt/format.h>

#include "polyad/report/html/page_parts.hpp"
#include "polyad/report/printable_text.hpp"

namespace polyad::report {

std::string record_html(const RunRecord& record) {
  std::string html;
  if (!record.command.empty()) html += "<p class=\"command\">" + escape_html(record.command) + "</p>\n";
  html += "<dl class=\"facts\">\n" + fact("date", escape_html(record.date)) +
          fact("version", escape_html(record.version)) + "</dl>\n";
  if (record.settings.empty()) return html;
  html += "<h3>Settings</h3>\n<dl class=\"facts settings\">\n";
  for (const auto& [name, value, is_default] : record.settings)
    html += fact(escape_html(name),
                 is_default ? escape_html(value) + " <small>(default)</small>" : escape_html(value));
  return html + "</dl>\n";
}

}  // namespace polyad::report
