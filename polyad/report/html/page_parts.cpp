#include "polyad/report/html/page_parts.hpp"

#include <fmt/format.h>

#include <cmath>

#include "polyad/report/html/component_cards.hpp"
#include "polyad/report/printable_text.hpp"
#include "polyad/report/statistics_report.hpp"

namespace polyad::report {

std::string plural(Index count, const std::string& noun) {
  return with_commas(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string seconds_text(double seconds) {
  if (seconds < 0.0995) return fmt::format("{:.3g} ms", 1e3 * seconds);
  if (seconds < 99.95) return fmt::format("{:.3g} s", seconds);
  return fmt::format("{:.0f} min {:02.0f} s", std::floor(seconds / 60), std::floor(std::fmod(seconds, 60)));
}

namespace {

std::string head_html(const std::string& title, const std::string& version, std::string_view style) {
  return "<!DOCTYPE html>\n<html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\">\n<head>\n<meta "
         "charset=\"utf-8\"/>\n"
         "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src &#39;none&#39;; style-src "
         "&#39;unsafe-inline&#39;; img-src data:\"/>\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
         "<meta name=\"color-scheme\" content=\"light dark\"/>\n<meta name=\"generator\" content=\"" +
         escape_html(version) + "\"/>\n<link rel=\"icon\" href=\"data:,\"/>\n<title>" + escape_html(title) +
         "</title>\n<style>\n" + std::string(cpd_page_style()) + std::string(style) + "</style>\n</head>\n";
}

}  // namespace

void Page::add(const std::string& id, const std::string& heading, const std::string& body) {
  links_ += fmt::format("<li><a href=\"#{}\">{}</a></li>\n", id, heading);
  sections_ += fmt::format(
      "<section id=\"{0}\" aria-labelledby=\"{0}-heading\">\n<h2 "
      "id=\"{0}-heading\">{1}</h2>\n{2}</section>\n",
      id, heading, body);
}

std::string Page::html(const RunRecord& record, std::string_view style) {
  add("record", "Command and settings", record_html(record));
  return head_html(title_, record.version, style) + "<body>\n<main>\n" + opening_ +
         "<nav class=\"contents\" aria-label=\"Contents\">\n<ul>\n" + links_ + "</ul>\n</nav>\n" + sections_ +
         "</main>\n<footer><p>Made by " + escape_html(record.version) + ", " + escape_html(record.date) +
         ".</p></footer>\n</body>\n</html>\n";
}

std::string device_text(const std::string& device, int threads, const std::string& processes) {
  return (device == "cpu" ? "" : escape_html(device) + ", ") + plural(threads, "thread") + " in " + processes;
}

std::string fact(const std::string& name, const std::string& value) {
  if (value.empty()) return "";
  return fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", name, value);
}

std::string warnings_html(const std::vector<std::string>& warnings) {
  if (warnings.empty()) return "";
  std::string html = "<aside class=\"warnings\" aria-label=\"Warnings\">\n<ul>\n";
  for (const auto& warning : warnings) html += "<li>" + escape_html(warning) + "</li>\n";
  return html + "</ul>\n</aside>\n";
}

std::string cost_row(const std::string& name, const std::string& value) {
  return fmt::format("<tr><th scope=\"row\">{}</th><td class=\"number\">{}</td></tr>\n", escape_html(name),
                     value);
}

std::string table_of(const std::vector<const char*>& columns, const std::string& rows) {
  std::string html = "<table class=\"wide\">\n<thead><tr>";
  for (std::size_t c = 0; c < columns.size(); ++c)
    html += fmt::format("<th scope=\"col\"{}>{}</th>", c == 0 ? "" : " class=\"number\"", columns[c]);
  return html + "</tr></thead>\n<tbody>\n" + rows + "</tbody>\n</table>\n";
}

std::string cell(const char* name, const std::string& value) {
  return fmt::format("<td class=\"number\" data-name=\"{}\">{}</td>", name, value);
}

}  // namespace polyad::report
