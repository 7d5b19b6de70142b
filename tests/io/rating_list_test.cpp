#include "polyad/io/tensors/rating_list.hpp"

#include <gtest/gtest.h>

#include "polyad/base/error.hpp"
#include "tests/support/temporary_folder.hpp"

namespace polyad::io {
namespace {

using test::TemporaryFolder;

const std::vector<ModeLabels> film_labels{{"", {}}, {"film", {"Alien", "Bob, the 2nd", "Up", "Up", "M"}}};

struct Answer {
  std::vector<Index> items;
  std::vector<double> ratings;
  std::string fault;

  friend bool operator==(const Answer&, const Answer&) = default;
};

Answer read_list(const std::string& text, const std::vector<ModeLabels>& names = film_labels) {
  const TemporaryFolder folder;
  const auto path = folder.write("mine", text);
  const IndexSpace space({2, 5}, names, IndexSpace::Unknown::fault);
  try {
    const auto list = read_rating_list(path, space);
    return {list.items, list.ratings, ""};
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Errc::bad_input);
    return {{}, {}, std::string(e.what()).substr(path.string().size())};
  }
}

TEST(RatingList, is_read_whatever_separates_its_fields) {
  const Answer expected{{0, 1}, {4.5, -1}, ""};
  for (const auto* text :
       {"Alien\t4.5\nBob, the 2nd\t-1\n", "Bob, the 2nd::-1\r\nAlien::4.5\r\n",
        "item,rating\n\"Bob, the 2nd\",-1\nAlien,4.5", "\n Alien \t 4.5\n\nBob, the 2nd\t-1"})
    EXPECT_EQ(read_list(text), expected) << text;
  EXPECT_EQ(read_list("Alien 4.5\nBob, the 2nd   -1\n"), expected);
}

TEST(RatingList, indices_stand_for_items_without_labels) {
  const std::vector<ModeLabels> none(2);
  EXPECT_EQ(read_list("5 1\n1 0\n", none), (Answer{{0, 4}, {0, 1}, ""}));
  EXPECT_EQ(read_list("6 1\n", none).fault, ":1: '6' is no item of the model: expected a number from 1 to 5");
  EXPECT_EQ(read_list("1 2\nx 1\n", none).fault,
            ":2: 'x' is no item of the model: expected a number from 1 to 5");
}

TEST(RatingList, faults_are_named_with_their_line) {
  EXPECT_EQ(read_list("Alien\t1\nHeat\t2\n").fault, ":2: 'Heat' is no item of the model");
  EXPECT_EQ(read_list("Up\t1\n").fault, ":1: 'Up' names more than one item of the model");
  EXPECT_EQ(read_list("M\t1\nAlien\t3\nM\t1\n").fault, ":3: 'M' is rated on line 1 too");
  EXPECT_EQ(read_list("M\t1\nAlien\tgood\n").fault, ":2: rating 'good' is not a number");
  EXPECT_EQ(read_list("M\tinf\n").fault, ":1: rating 'inf' is not finite");
  EXPECT_EQ(read_list("M\n").fault, ":1: expected an item and a rating, found 1 field");
  EXPECT_EQ(read_list("M\t\t1\n").fault, ":1: expected an item and a rating, found 3 fields");
  EXPECT_EQ(read_list("").fault, ": holds no ratings");
  EXPECT_EQ(read_list("film\tstars\n").fault, ": holds no ratings");
}

}  // namespace
}  // namespace polyad::io
