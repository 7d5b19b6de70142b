#include "polyad/base/error.hpp"

#include <gtest/gtest.h>

namespace polyad {
namespace {

std::string dashed(const std::string& field) {
  return "--" + field;
}

TEST(Error, NamesOptionsAsEachInterfaceDoes) {
  const Error error(Errc::bad_option, option_name("grid") + " and " + option_name("policy") + " disagree");
  EXPECT_STREQ(error.what(), "grid and policy disagree");
  EXPECT_EQ(error.option(), "grid");
  EXPECT_EQ(error.text(dashed), "--grid and --policy disagree");
}

TEST(Error, SaysWhereTheFaultIs) {
  const Error line(Errc::bad_input, "expected 4 fields; see " + option_name("dims"), {"x.tns", 7});
  EXPECT_STREQ(line.what(), "x.tns:7: expected 4 fields; see dims");
  EXPECT_EQ(line.text(dashed), "x.tns:7: expected 4 fields; see --dims");
  EXPECT_STREQ(Error(Errc::io, "cannot be read", {"x.tns", 0}).what(), "x.tns: cannot be read");
  EXPECT_EQ(line.input(), (InputPos{"x.tns", 7}));
}

TEST(Error, LeavesTextWithoutOptionsAsItIs) {
  for (const std::string text : {"", "plain", "one \x01 mark", "wrong \x02 way \x01 round"}) {
    const Error error(Errc::io, text);
    EXPECT_EQ(error.what(), text);
    EXPECT_EQ(error.option(), "");
    EXPECT_EQ(error.text(dashed), text);
  }
}

}  // namespace
}  // namespace polyad
