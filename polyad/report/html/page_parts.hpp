#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "polyad/base/types.hpp"
#include "polyad/report/html/run_record.hpp"

namespace polyad::report {

// What pages are put together from.

// "1,234 nonzeros", "1 nonzero".
std::string plural(Index count, const std::string& noun);
// "12.3 ms", "4.56 s", "2 min 05 s".
std::string seconds_text(double seconds);

// A page from sections, with a list of links to them.
class Page {
 public:
  // `opening` is HTML: what comes before the contents.
  Page(std::string title, std::string opening) : title_(std::move(title)), opening_(std::move(opening)) {}

  // `heading` and `body` are HTML.
  void add(const std::string& id, const std::string& heading, const std::string& body);
  // Two sections side by side where there is enough space; the first is the wider one.
  void begin_pair() { sections_ += "<div class=\"pair\">\n"; }
  void end_pair() { sections_ += "</div>\n"; }
  // The whole file, which ends with how the run can be repeated. Nothing may be loaded and nothing run,
  // whatever a text says. `style` comes after the style of all pages.
  std::string html(const RunRecord& record, std::string_view style = "");

 private:
  std::string title_, opening_, links_, sections_;
};

// What a run computed on: "2 threads in one process", behind the name of a GPU if one was used. `device`:
// "cpu", or a GPU; `processes`: HTML.
std::string device_text(const std::string& device, int threads, const std::string& processes);

// A row of a table of facts; what has nothing to say is left out. `value` is HTML.
std::string fact(const std::string& name, const std::string& value);
// A box of sentences, unless there are none.
std::string warnings_html(const std::vector<std::string>& warnings);
// A row of a table of two columns. `value` is HTML.
std::string cost_row(const std::string& name, const std::string& value);
// A table of numbers, of which the first column names the rows; on a narrow screen every cell has the name of
// its column. `rows` and values are HTML.
std::string table_of(const std::vector<const char*>& columns, const std::string& rows);
std::string cell(const char* name, const std::string& value);

}  // namespace polyad::report
