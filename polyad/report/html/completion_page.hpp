#pragma once

#include <string>
#include <vector>

#include "polyad/report/completion_report.hpp"
#include "polyad/report/example_users.hpp"
#include "polyad/report/html/csv_download.hpp"
#include "polyad/report/html/run_record.hpp"

namespace polyad::report {

// Contents of the HTML report of a completion. Texts may contain anything; the report escapes them.
struct CompletionPageContents {
  std::string input;  // the path of the ratings
  CompletionRun run;
  std::vector<ExampleUser> examples;
  RunRecord record;
  std::vector<CsvFile> downloads;  // the factors; empty: they are too large
};

// One HTML file that needs nothing else: no network, no script. It is well-formed XML too.
std::string completion_page(const CompletionPageContents& contents);

}  // namespace polyad::report
