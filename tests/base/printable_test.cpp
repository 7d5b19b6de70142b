#include "polyad/base/printable.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace polyad {
namespace {

TEST(Printable, keeps_what_can_be_shown) {
  for (const char* text : {"", "plain", "Größe 例 🙂", "a\\b"}) {
    EXPECT_EQ(printable(text), text);
    EXPECT_EQ(printable_lines(text), text);
    EXPECT_EQ(printable_json(text), text);
  }
}

TEST(Printable, shows_no_control_characters_and_no_bytes_that_are_not_utf8) {
  EXPECT_EQ(printable("a\x1b[31m\r\n\x7f"), "a\uFFFD[31m\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(printable("\xc2\x9b"
                      "2J"),
            "\uFFFD2J");  // the control sequence introducer of C1
  EXPECT_EQ(printable("\xff\xc0\xaf"), "\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(printable("a\u202eb"), "a\uFFFDb");
  EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a\uFFFDb");
}

TEST(Printable, lines_keep_their_ends_and_tabs) {
  EXPECT_EQ(printable_lines("a\tb\nc\r\x1b"), "a\tb\nc\uFFFD\uFFFD");
}

TEST(Printable, json_means_the_same) {
  const nlohmann::json value{{"k\x7f", "\x1b[2J \u0080\u009b \u202e \U000E0041 Größe"}};
  const std::string text = printable_json(value.dump(2));
  EXPECT_EQ(nlohmann::json::parse(text), value);
  EXPECT_EQ(printable_lines(text), text);
  EXPECT_NE(text.find("\\u009b"), std::string::npos);
  EXPECT_NE(text.find("\\udb40\\udc41"), std::string::npos);
  EXPECT_NE(text.find("Größe"), std::string::npos);
}

}  // namespace
}  // namespace polyad
