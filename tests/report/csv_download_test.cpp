#include "polyad/report/html/csv_download.hpp"

#include <gtest/gtest.h>

#include "tests/support/page_faults.hpp"

namespace polyad::report {
namespace {

// The address of a file with this text.
std::string link_of(const std::string& text) {
  const auto html = downloads_html(std::vector<CsvFile>{{"x.csv", text}}, "");
  const std::string before = "href=\"data:text/csv;base64,";
  const auto begin = html.find(before) + before.size();
  return html.substr(begin, html.find('"', begin) - begin);
}

TEST(CsvDownload, holds_its_text_in_base64) {
  // RFC 4648, section 10
  EXPECT_EQ(link_of(""), "");
  EXPECT_EQ(link_of("f"), "Zg==");
  EXPECT_EQ(link_of("fo"), "Zm8=");
  EXPECT_EQ(link_of("foo"), "Zm9v");
  EXPECT_EQ(link_of("foob"), "Zm9vYg==");
  EXPECT_EQ(link_of("fooba"), "Zm9vYmE=");
  EXPECT_EQ(link_of("foobar"), "Zm9vYmFy");
  EXPECT_EQ(link_of("\xff\xfe\xfd"), "//79");
}

TEST(CsvDownload, quotes_what_a_field_must_not_hold) {
  Matrix<double> rows(3, 2);
  rows(0, 0) = 0.25;
  rows(1, 1) = -1e-9;
  rows(2, 0) = 1.0 / 3;
  EXPECT_EQ(csv_text(std::vector<std::string>{"who, \"really\"", "component 1", "component 2"},
                     {"who", {"a,b", "c"}}, rows),
            "\"who, \"\"really\"\"\",component 1,component 2\n\"a,b\",0.25,0\nc,0,-1e-09\n3,0.333333333,0\n");
}

TEST(CsvDownload, says_what_else_to_do_where_there_is_none) {
  EXPECT_EQ(downloads_html({}, "too <large>"), "<p>too &lt;large&gt;</p>\n");
}

TEST(CsvDownload, escapes_names) {
  const auto html = downloads_html(std::vector<CsvFile>{{"\"><b>.csv", "x"}}, "");
  EXPECT_EQ(html.find("<b>"), std::string::npos);
}

}  // namespace
}  // namespace polyad::report
