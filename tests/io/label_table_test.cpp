#include "polyad/io/text/label_table.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

namespace polyad::io {
namespace {

// Texts of which many are equal: short ones of few letters, numbers, and some longer than a chunk.
std::string random_label(std::mt19937& draw, unsigned num_labels) {
  const auto number = draw() % num_labels;
  if (number % 101 == 7) return std::string(70000 + number % 5, char('a' + number % 26));
  if (number % 3 == 0) return std::to_string(number);
  return std::string(number % 19, char('a' + number % 7)) + char(number % 251);
}

TEST(LabelTable, numbers_texts_as_a_map_does) {
  for (const unsigned num_labels : {1U, 2U, 40U, 3000U}) {
    std::mt19937 draw(num_labels);
    LabelTable table;
    std::map<std::string, Index> expected;
    for (int i = 0; i < 5000; ++i) {
      const auto label = random_label(draw, num_labels);
      EXPECT_EQ(table.find(label), expected.contains(label) ? expected[label] : -1);
      const auto number = expected.emplace(label, Index(expected.size())).first->second;
      ASSERT_EQ(table.find_or_add(label), number);
    }
    ASSERT_EQ(table.size(), Index(expected.size()));
    for (const auto& [label, number] : expected) {
      EXPECT_EQ(table.texts()[std::size_t(number)], label);
      EXPECT_EQ(table.find(label), number);
    }
  }
}

TEST(LabelTable, numbers_several_texts_as_one_after_the_other) {
  for (const unsigned num_labels : {1U, 40U, 3000U}) {
    std::mt19937 draw(num_labels);
    LabelTable one_by_one, together;
    for (const std::size_t count : {0U, 1U, 31U, 32U, 33U, 700U, 3000U}) {
      std::vector<std::string> labels(count);
      for (auto& label : labels) label = random_label(draw, num_labels);
      const std::vector<std::string_view> texts(labels.begin(), labels.end());
      std::vector<Index> expected, numbers(count), found(count);
      for (const auto text : texts) expected.push_back(one_by_one.find(text));
      together.find(texts, found);
      EXPECT_EQ(found, expected);
      expected.clear();
      for (const auto text : texts) expected.push_back(one_by_one.find_or_add(text));
      together.find_or_add(texts, numbers);
      EXPECT_EQ(numbers, expected);
    }
    EXPECT_EQ(together.texts(), one_by_one.texts());
  }
}

TEST(LabelTable, knows_the_empty_text_and_zeros) {
  LabelTable table;
  EXPECT_EQ(table.find(""), -1);
  EXPECT_EQ(table.find_or_add(std::string_view("\0a", 2)), 0);
  EXPECT_EQ(table.find_or_add(""), 1);
  EXPECT_EQ(table.find_or_add(std::string_view("\0", 1)), 2);
  EXPECT_EQ(table.find_or_add(std::string_view()), 1);
  const LabelTable moved = std::move(table);
  EXPECT_EQ(moved.find(std::string_view("\0", 1)), 2);
}

}  // namespace
}  // namespace polyad::io
