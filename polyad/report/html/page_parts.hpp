#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "polyad/base/types.hpp"

namespace polyad::report {

// What pages are put together from.

// "1,234 nonzeros", "1 nonzero".
std::string plural(Index count, const std::string& noun);
// "12.3 ms", "4.56 s", "2 min 05 s".
std::string seconds_text(double seconds);

// Up to </head>: nothing may be loaded and nothing run, whatever a text says. `style` comes after the style
// of all pages.
std::string page_head(const std::string& title, const std::string& version, std::string_view style = "");
// From </main> on.
std::string page_foot(const std::string& version);

std::string section(const std::string& id, const std::string& heading, const std::string& body);
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
