#include "polyad/tensor/labels.hpp"

#include <gtest/gtest.h>

namespace polyad {
namespace {

std::vector<std::string> sorted(std::vector<std::string> labels) {
  sort_labels(labels);
  return labels;
}

TEST(Labels, whole_numbers_are_ordered_by_value) {
  EXPECT_EQ(sorted({"10", "9", "100", "1"}), (std::vector<std::string>{"1", "9", "10", "100"}));
  EXPECT_EQ(sorted({"7", "0104257", "007", "-3", "-12", "0"}),
            (std::vector<std::string>{"-12", "-3", "0", "007", "7", "0104257"}));
  EXPECT_EQ(sorted({"99999999999999999999999", "2"}),
            (std::vector<std::string>{"2", "99999999999999999999999"}));
}

TEST(Labels, one_word_among_them_makes_all_of_them_words) {
  EXPECT_EQ(sorted({"10", "9", "b", "a"}), (std::vector<std::string>{"10", "9", "a", "b"}));
  EXPECT_EQ(sorted({}), (std::vector<std::string>{}));
}

}  // namespace
}  // namespace polyad
