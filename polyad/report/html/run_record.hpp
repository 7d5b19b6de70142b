#pragma once

#include <string>
#include <vector>

#include "polyad/base/setting.hpp"

namespace polyad::report {

// How the run behind a page can be repeated. Texts may contain anything; the page escapes them.
struct RunRecord {
  std::string version = {};  // "polyad 0.1.0"
  std::string date = {};     // when the page was written: "2026-01-31 12:00:00 UTC"
  std::string command = {};  // the command line; empty: the library was called without one
  std::vector<Setting> settings = {};
};

// The body of a section: command, date, version, and every setting with its value.
std::string record_html(const RunRecord& record);

}  // namespace polyad::report
