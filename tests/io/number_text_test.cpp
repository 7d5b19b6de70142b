#include "polyad/io/text/number_text.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "polyad/base/random.hpp"

namespace polyad::io {
namespace {

// Reads a number at the beginning of a line with the fast way; the rest of the line must follow it.
std::optional<double> fast_real(std::string text) {
  text += " \n" + std::string(number_padding, '9');
  const auto [value, end] = read_real(text.data());
  if (end == nullptr || *end != ' ') return std::nullopt;
  return value;
}

std::optional<Index> fast_index(std::string text) {
  text += " \n" + std::string(number_padding, '9');
  const auto [value, end] = read_index(text.data());
  if (end == nullptr || *end != ' ') return std::nullopt;
  return value;
}

TEST(NumberText, the_fast_way_reads_the_same_bits_as_the_standard_library) {
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    const auto bits = Random(1, 0).bits(i);
    const double any = std::bit_cast<double>(bits[0]);
    const double plain = double(std::int64_t(bits[1] % 2'000'001) - 1'000'000) / std::pow(10, double(i % 9));
    for (const double value : {any, plain}) {
      if (!std::isfinite(value)) continue;
      std::string text;
      append_number(text, value);
      for (const auto& form : {text, std::to_string(value)}) {
        const auto read = fast_real(form);
        ASSERT_TRUE(read) << form;
        EXPECT_EQ(std::bit_cast<std::uint64_t>(*read),
                  std::bit_cast<std::uint64_t>(std::strtod(form.c_str(), nullptr)))
            << form;
      }
      EXPECT_EQ(std::bit_cast<std::uint64_t>(*fast_real(text)), std::bit_cast<std::uint64_t>(value));
    }
  }
}

TEST(NumberText, reads_what_c_and_python_print) {
  EXPECT_EQ(fast_real("1"), 1.0);
  EXPECT_EQ(fast_real("+1.5"), 1.5);
  EXPECT_EQ(fast_real("-.5"), -0.5);
  EXPECT_EQ(fast_real("5."), 5.0);
  EXPECT_EQ(fast_real("1.0000000000000000e+000"), 1.0);
  EXPECT_EQ(fast_real("1e999"), std::numeric_limits<double>::infinity());
  EXPECT_EQ(fast_real("1e-999"), 0.0);
  EXPECT_TRUE(std::signbit(*fast_real("-0")));
  EXPECT_TRUE(std::isnan(*fast_real("nan")));
  for (const auto* text : {"", "-", ".", "x", "1x", "1,5", "++1", "+-1", "1e", "0x10", "--1"})
    EXPECT_FALSE(fast_real(text)) << text;
}

TEST(NumberText, reads_indices_up_to_the_last_and_no_further) {
  for (const Index value : {0, 1, 9, 10, 99, 100, 12345, 999999, 1000000, 9999999, 10000000, 123456789})
    EXPECT_EQ(fast_index(std::to_string(value)), value);
  EXPECT_EQ(fast_index("0"), 0);
  EXPECT_EQ(fast_index("000000000000000000000012"), 12);
  EXPECT_EQ(fast_index("9223372036854775807"), std::numeric_limits<Index>::max());
  EXPECT_EQ(fast_index("12.0"), 12);
  EXPECT_EQ(fast_index("1e3"), 1000);
  for (const auto* text :
       {"", "-1", "x", "1x", "9223372036854775808", "99999999999999999999", "1.5", "+1", "1e30"})
    EXPECT_FALSE(fast_index(text)) << text;
}

TEST(NumberText, splits_at_any_blanks) {
  EXPECT_EQ(split_blanks("  a\tb  c\r"), (std::vector<std::string_view>{"a", "b", "c"}));
  EXPECT_TRUE(split_blanks(" \t").empty());
}

}  // namespace
}  // namespace polyad::io
