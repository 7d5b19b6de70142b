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
  EXPECT_EQ(read_list("Alien\t1\nHeat\t2\n").fault,
            ":2: 'Heat' is no item of the model, which knows each item by a name, such as 'Alien'");
  EXPECT_EQ(read_list("Up\t1\n").fault, ":1: 'Up' names more than one item of the model");
  EXPECT_EQ(read_list("M\t1\nAlien\t3\nM\t1\n").fault, ":3: 'M' is rated on line 1 too");
  EXPECT_EQ(read_list("M\t1\nAlien\tgood\n").fault, ":2: rating 'good' is not a number");
  EXPECT_EQ(read_list("M\tinf\n").fault, ":1: rating 'inf' is not finite");
  EXPECT_EQ(read_list("M\n").fault, ":1: expected an item and a rating, found 1 field");
  EXPECT_EQ(read_list("M\t\t1\n").fault, ":1: expected an item and a rating, found 3 fields");
  EXPECT_EQ(read_list("").fault, ": holds no ratings");
  EXPECT_EQ(read_list("film\tstars\n").fault, ": holds no ratings");
}

// Users with their lists as text, or the fault.
std::string read_many(const std::string& text) {
  const TemporaryFolder folder;
  const auto path = folder.write("new", text);
  const IndexSpace space({2, 5}, film_labels, IndexSpace::Unknown::fault);
  std::string found;
  try {
    for (const auto& [user, line, list] : read_rating_lists(path, space)) {
      found += user + ":";
      for (std::size_t i = 0; i < list.items.size(); ++i)
        found += " " + std::to_string(list.items[i]) + "=" + std::to_string(int(list.ratings[i]));
      found += ";";
    }
  } catch (const Error& e) {
    return std::string(e.what()).substr(path.string().size());
  }
  return found;
}

TEST(RatingLists, of_many_users_come_in_the_order_of_the_users) {
  const std::string expected = "bob: 0=4 4=1;ann: 1=2;";
  for (const auto* text : {"user,item,rating\nbob,M,1\nann,\"Bob, the 2nd\",2\nbob,Alien,4\n",
                           "bob\tM\t1\t978300760\nann\tBob, the 2nd\t2\t1\n\nbob\tAlien\t4\t2\r\n",
                           "bob::M::1\nann::Bob, the 2nd::2\nbob::Alien::4"})
    EXPECT_EQ(read_many(text), expected) << text;
  EXPECT_EQ(read_many("bob M 1\n bob  Alien 4\n"), "bob: 0=4 4=1;");
}

TEST(RatingLists, faults_are_named_with_their_line) {
  EXPECT_EQ(read_many("a\tM\t1\nb\tM\t1\na\tM\t2\n"), ":3: 'M' is rated on line 1 too");
  EXPECT_EQ(read_many("a\tM\t1\na\tHeat\t1\n"),
            ":2: 'Heat' is no item of the model, which knows each item by a name, such as 'Alien'");
  EXPECT_EQ(read_many("a\tM\t1\na\tAlien\tx\n"), ":2: rating 'x' is not a number");
  EXPECT_EQ(read_many("a\tM\n"), ":1: expected a user, an item and a rating, found 2 fields");
  EXPECT_EQ(read_many("\tM\t1\n"), ":1: the user has no name");
  EXPECT_EQ(read_many("user item rating\n"), ": holds no ratings");
}

TEST(ItemList, has_each_item_once_and_counts_what_is_unknown) {
  const TemporaryFolder folder;
  const IndexSpace named({2, 5}, film_labels, IndexSpace::Unknown::fault);
  const auto list =
      read_item_list(folder.write("a", "film\nM\n Bob, the 2nd \r\n\nM\nHeat\nHeat\nRan"), named);
  EXPECT_EQ(list.items, (std::vector<Index>{1, 4}));
  EXPECT_EQ(list.num_unknown, 2);
  EXPECT_THROW(read_item_list(folder.write("b", "M\nUp\n"), named), Error);
  const IndexSpace numbered({2, 5}, {}, IndexSpace::Unknown::fault);
  const auto numbers = read_item_list(folder.write("c", "mode2\n5\n2\n6\n"), numbered);
  EXPECT_EQ(numbers.items, (std::vector<Index>{1, 4}));
  EXPECT_EQ(numbers.num_unknown, 1);
  EXPECT_THROW(read_item_list(folder.write("d", "5\nx\n"), numbered), Error);
  EXPECT_THROW(read_item_list(folder.write("e", "0\n"), numbered), Error);
}

}  // namespace
}  // namespace polyad::io
