#include "polyad/tasks/recommend.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "polyad/algo/ratings/recommend.hpp"
#include "polyad/io/models/rating_model_file.hpp"
#include "polyad/tasks/complete.hpp"
#include "polyad/tasks/decompose.hpp"
#include "polyad/tasks/save.hpp"
#include "tests/support/completed.hpp"
#include "tests/support/shares.hpp"

namespace polyad {
namespace {

constexpr Index num_users = 14, num_items = 11;

std::vector<ModeLabels> item_labels() {
  std::vector<ModeLabels> labels{{}, {"film", {}}};
  for (int i = 0; i < num_items; ++i) labels[1].labels.push_back("film " + std::to_string(i));
  return labels;
}

// A trained model, the ratings that it has learned from, and what it predicts.
class RecommendTest : public testing::Test {
 protected:
  CompletionModel train() {
    return complete(
        context, make_tensor(test::share_of(whole, context.comm()), item_labels()),
        {.factors = 3, .lists = ListsBy::ratings, .max_epochs = 3, .precision = Precision::float64});
  }

  std::set<Index> rated_by(Index user) const {
    std::set<Index> items;
    for (Index z = 0; z < whole.num_nonzeros(); ++z)
      if (whole.indices(0)[z] == user) items.insert(whole.indices(1)[z]);
    return items;
  }

  std::set<Index> rated_by_anyone() const { return {whole.indices(1).begin(), whole.indices(1).end()}; }

  Context context{Comm::world()};
  SparseTensor<double> whole = test::structured_ratings(num_users, num_items, 50, 2);
  CompletionModel model = train();
};

using Scores = std::map<Index, double>;

// The best of these by descending score, with the labels of items.
void expect_list(const std::vector<RecommendedItem>& found, const Scores& scores, std::size_t top) {
  std::vector<std::pair<double, Index>> best;
  for (const auto& [item, score] : scores) best.emplace_back(-score, item);
  std::ranges::sort(best);
  ASSERT_EQ(found.size(), std::min(top, best.size()));
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].item, best[i].second);
    EXPECT_EQ(found[i].label, "film " + std::to_string(best[i].second));
    EXPECT_NEAR(found[i].score, -best[i].first, 1e-9);
  }
}

TEST_F(RecommendTest, FindsTheHighestPredictions) {
  const test::PlainModel plain(model);
  for (const bool with_rated : {false, true}) {
    const auto found = recommend(context, model, {.users = {3, 0, 13}, .top = 4, .with_rated = with_rated});
    ASSERT_EQ(found.lists().size(), 3);
    Index num_found = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      const auto& list = found.lists()[i];
      const Index user = std::array<Index, 3>{3, 0, 13}[i];
      const auto rated = rated_by(user);
      EXPECT_EQ(list.of, user);
      EXPECT_EQ(list.num_ratings, std::ssize(rated));
      Scores scores;
      for (const Index item : rated_by_anyone())
        if (with_rated || !rated.contains(item)) scores[item] = plain.predict(user, item);
      expect_list(list.items, scores, 4);
      num_found += std::ssize(list.items);
    }
    EXPECT_EQ(found.num_lists(), 3);
    EXPECT_EQ(found.num_items(), num_found);
  }
}

TEST_F(RecommendTest, FindsTheSmallestAngles) {
  const test::PlainModel plain(model);
  const auto found = recommend(
      context, model, {.similar_items = {1}, .similar_item_names = {"film 4"}, .support = 0, .top = 5});
  ASSERT_EQ(found.lists().size(), 2);
  for (std::size_t i = 0; i < 2; ++i) {
    const Index item = i == 0 ? 1 : 4;
    EXPECT_EQ(found.lists()[i].of, item);
    EXPECT_EQ(found.lists()[i].label, "film " + std::to_string(item));
    const auto dot = [&](Index a, Index b) {
      double sum = 0;
      for (Index f = 0; f < 3; ++f) sum += plain.items(a, f) * plain.items(b, f);
      return sum;
    };
    Scores scores;
    for (const Index other : rated_by_anyone())
      if (other != item) scores[other] = dot(item, other) / std::sqrt(dot(item, item) * dot(other, other));
    expect_list(found.lists()[i].items, scores, 5);
  }
}

TEST_F(RecommendTest, FoldsNewUsersInAsTheLayerBelow) {
  const Comm& comm = context.comm();
  const test::TemporaryFolder folder;
  const auto place = test::shared(comm, folder / "model");
  const auto file = test::shared(comm, folder.write("mine.tsv", "film 7\t1\nfilm 2\t5\n"));
  save(context, model, place);
  const auto given = recommend(context, model, {.new_user = {{7, 2}, {1, 5}}, .top = 20});
  const auto read = load_completion_model(context, place);
  const auto from_file = recommend(context, read, {.new_user_file = file, .top = 20});
  const auto stored = io::read_rating_model<double>(place);
  using Below = Recommender<double>;
  const std::vector<Index> items{2, 7};
  const std::vector<double> ratings{5, 1};
  const Below::NewUser user{items, ratings};
  const auto anyone = rated_by_anyone();
  const std::vector<Index> rated(anyone.begin(), anyone.end());
  const auto expected = Below(stored.model, stored.ratings)
                            .recommend_to(std::span(&user, 1), stored.training.shrinkage, {rated, 20})[0];
  for (const auto* found : {&given, &from_file}) {
    ASSERT_EQ(found->lists().size(), 1);
    const auto& list = found->lists()[0];
    EXPECT_FALSE(list.of);
    EXPECT_EQ(list.num_ratings, 2);
    ASSERT_EQ(list.items.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(list.items[i].item, expected[i].item);
      EXPECT_EQ(list.items[i].score, expected[i].score);
    }
  }
  EXPECT_NE(given.json().find("\"request\": \"new user\""), std::string::npos);
  comm.barrier();
}

// The shrunk cosines of users, who have as many ratings as here.
TEST_F(RecommendTest, WeightsSimilarUsersByTheirRatings) {
  const test::PlainModel plain(model);
  const auto found = recommend(context, model, {.similar_users = {2}, .similar_user_names = {"6"}, .top = 4});
  ASSERT_EQ(found.lists().size(), 2);
  for (std::size_t i = 0; i < 2; ++i) {
    const Index user = i == 0 ? 2 : 5;
    EXPECT_EQ(found.lists()[i].of, user);
    const auto dot = [&](Index a, Index b) {
      double sum = 0;
      for (Index f = 0; f < 3; ++f) sum += plain.users(a, f) * plain.users(b, f);
      return sum;
    };
    const auto cosine = [&](Index a, Index b) { return dot(a, b) / std::sqrt(dot(a, a) * dot(b, b)); };
    std::vector<std::pair<double, Index>> best;
    for (Index other = 0; other < num_users; ++other) {
      const auto count = double(rated_by(other).size());
      if (other != user && count > 0) best.emplace_back(-cosine(user, other) * count / (count + 5), other);
    }
    std::ranges::sort(best);
    const auto& items = found.lists()[i].items;
    ASSERT_EQ(items.size(), 4);
    for (std::size_t j = 0; j < 4; ++j) {
      EXPECT_EQ(items[j].item, best[j].second);
      EXPECT_NEAR(items[j].score, -best[j].first, 1e-9);
      EXPECT_NEAR(items[j].cosine, cosine(user, items[j].item), 1e-9);
      EXPECT_EQ(items[j].num_ratings, std::ssize(rated_by(items[j].item)));
    }
  }
}

TEST_F(RecommendTest, RecommendsOnlyWhatMayBe) {
  const test::PlainModel plain(model);
  const test::TemporaryFolder folder;
  const auto stock = test::shared(context.comm(), folder.write("stock", "film\nfilm 2\nfilm 9\nno such\n"));
  const auto bad = test::shared(context.comm(), folder.write("bad", "film 5\n"));
  const auto found = recommend(context, model,
                               {.users = {3},
                                .with_rated = true,
                                .candidates = {1, 4, 5},
                                .candidates_file = stock,
                                .exclude = {4},
                                .exclude_file = bad});
  Scores scores;
  for (const Index item : rated_by_anyone())
    if (item == 1 || item == 2 || item == 9) scores[item] = plain.predict(3, item);
  ASSERT_EQ(found.lists().size(), 1);
  expect_list(found.lists()[0].items, scores, 10);
  context.comm().barrier();
}

TEST_F(RecommendTest, FoldsManyNewUsersInAsOneByOne) {
  const test::TemporaryFolder folder;
  const auto file = test::shared(
      context.comm(),
      folder.write("new.tsv", "who\tfilm\tstars\nbob\tfilm 7\t1\nann\tfilm 3\t4\nbob\tfilm 2\t5\n"));
  const auto both = recommend(context, model, {.new_users_file = file, .top = 5});
  const std::vector<UserRatings> known{{{7, 2}, {1, 5}}, {{3}, {4}}};
  const std::vector<std::string> names{"bob", "ann"};
  ASSERT_EQ(both.lists().size(), 2);
  for (std::size_t i = 0; i < 2; ++i) {
    const auto alone = recommend(context, model, {.new_user = known[i], .top = 5});
    const auto &list = both.lists()[i], &expected = alone.lists()[0];
    EXPECT_EQ(list.of, Index(i));
    EXPECT_EQ(list.label, names[i]);
    EXPECT_EQ(list.num_ratings, expected.num_ratings);
    ASSERT_EQ(list.items.size(), expected.items.size());
    for (std::size_t j = 0; j < list.items.size(); ++j) {
      EXPECT_EQ(list.items[j].item, expected.items[j].item);
      EXPECT_EQ(list.items[j].score, expected.items[j].score);
    }
  }
  context.comm().barrier();
}

TEST_F(RecommendTest, AnswersAllUsersInMemoryOrInATable) {
  const auto found = recommend(context, model, {.all_users = true, .top = 3});
  std::vector<Index> users;
  for (Index user = 0; user < num_users; ++user)
    if (!rated_by(user).empty()) users.push_back(user);
  const auto one_by_one = recommend(context, model, {.users = users, .top = 3});
  ASSERT_EQ(found.lists().size(), users.size());
  std::string expected = "user\tfilm\tprediction\n";
  for (std::size_t i = 0; i < users.size(); ++i) {
    const auto &list = found.lists()[i], &alone = one_by_one.lists()[i];
    EXPECT_EQ(list.of, alone.of);
    ASSERT_EQ(list.items.size(), alone.items.size());
    for (std::size_t k = 0; k < list.items.size(); ++k) EXPECT_EQ(list.items[k].score, alone.items[k].score);
  }
  const test::TemporaryFolder folder;
  const auto out = test::shared(context.comm(), folder / "all.tsv");
  const auto tabled = recommend(context, model, {.all_users = true, .top = 3, .out = out});
  EXPECT_TRUE(tabled.lists().empty());
  EXPECT_EQ(tabled.num_lists(), found.num_lists());
  EXPECT_EQ(tabled.num_items(), found.num_items());
  if (context.comm().rank() == 0) {
    const auto text = test::contents(out);
    EXPECT_TRUE(text.starts_with(expected)) << text;
    EXPECT_EQ(std::ranges::count(text, '\n'), 1 + found.num_items());
  }
  context.comm().barrier();
}

TEST_F(RecommendTest, WarnsOfUsersWithoutRatings) {
  std::vector<std::string> told;
  const Context telling(context.comm(), {.on_message = [&](const Message& m) { told.push_back(m.text); }});
  SparseTensor<double> some({3, 2});
  some.append(std::vector<Index>{0, 0}, 4);
  some.append(std::vector<Index>{2, 1}, 2);
  const auto small = complete(context, make_tensor(test::share_of(some, context.comm())), {.factors = 1});
  const auto found = recommend(telling, small, {.user_names = {"2"}});
  EXPECT_EQ(found.lists()[0].of, 1);
  EXPECT_EQ(found.lists()[0].label, "");
  const std::string sentence = "2 has no ratings in the training, and gets what everyone likes";
  EXPECT_EQ(told, std::vector<std::string>(context.comm().rank() == 0 ? 1 : 0, sentence));
}

TEST_F(RecommendTest, NamesTheOptionAtFault) {
  const auto fault = [&](const RecommendOptions& options) {
    try {
      recommend(context, model, options);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Errc::bad_option);
      return std::string(error.what());
    }
    return std::string();
  };
  const std::string one =
      "expected exactly one of users, all_users, new_user, new_users, similar_items and similar_users";
  EXPECT_EQ(fault({}), one);
  EXPECT_EQ(fault({.users = {1}, .all_users = true}), one);
  EXPECT_EQ(fault({.users = {14}}), "users 14: the model has 14 users, counted from 0");
  EXPECT_EQ(fault({.similar_items = {-1}}), "similar_items -1: the model has 11 items, counted from 0");
  EXPECT_EQ(fault({.user_names = {"15"}}), "'15' is no user of the model: expected a number from 1 to 14");
  EXPECT_EQ(fault({.similar_item_names = {"film"}}),
            "'film' is no item of the model, which knows each item by a name, such as 'film 0'");
  EXPECT_EQ(fault({.users = {1}, .top = 0}), "top 0: expected a number from 1 to 1000000");
  EXPECT_EQ(fault({.similar_items = {1}, .out = "x.tsv"}),
            "out is for predicted ratings, not for similar_items");
  EXPECT_EQ(fault({.similar_items = {1}, .with_rated = true}), "with_rated does not apply to similar_items");
  EXPECT_EQ(fault({.similar_users = {14}}), "similar_users 14: the model has 14 users, counted from 0");
  EXPECT_EQ(fault({.similar_users = {1}, .exclude = {2}}),
            "candidates and exclude name items, and do not apply to similar_users");
  EXPECT_EQ(fault({.users = {1}, .support = 3}), "support is for similar_items and similar_users");
  EXPECT_EQ(fault({.similar_users = {1}, .support = -1}), "support -1: expected 0 or more");
  EXPECT_EQ(fault({.users = {1}, .candidates = {11}}),
            "candidates 11: the model has 11 items, counted from 0");
  EXPECT_EQ(fault({.users = {1}, .candidates = {2}, .exclude = {2}}),
            "candidates and exclude leave no item that has ratings in the training");
  EXPECT_EQ(fault({.new_user = {{1, 2}, {3}}}), "new_user: expected as many ratings as items, found 1 and 2");
  EXPECT_EQ(fault({.new_user = {{1, 1}, {3, 4}}}), "new_user: item 1 is rated twice");
  EXPECT_EQ(fault({.new_user = {{11}, {3}}}),
            "new_user: item 11 does not exist; the 11 items are counted from 0");
  EXPECT_EQ(fault({.new_user = {{1}, {NAN}}}), "new_user: a rating is not finite");
  EXPECT_EQ(fault({.users = {1}, .out = "x.txt"}),
            "out x.txt: expected a name that ends in .tsv or .csv, or in .tsv.gz or .csv.gz");
}

// A decomposition at places of its third mode, on any number of processes.
TEST(RecommendByCpModel, lists_are_those_of_the_values_of_the_model) {
  const Context context{Comm::world()};
  SparseTensor<double> whole({9, 11, 4});
  for (Index z = 0; z < 150; ++z)
    whole.append(std::vector<Index>{z * 7 % 9, z * 5 % 11, z / 9 % 4}, 1 + double(z * 3 % 5));
  const auto model = decompose(context, make_tensor(test::share_of(whole, context.comm()), {}),
                               {.rank = 3, .max_iterations = 4});
  std::vector<Matrix<double>> factors;
  for (int m = 0; m < 3; ++m) factors.push_back(model.factor(m));
  for (const bool has_place : {true, false}) {
    RecommendOptions options{.users = {2, 8}, .top = 4};
    if (has_place) options.at.push_back({"3", "2"});
    const auto found = recommend(context, model, options);
    ASSERT_EQ(found.lists().size(), 2U);
    for (const auto& list : found.lists()) {
      std::vector<std::pair<double, Index>> best;
      for (Index item = 0; item < 11; ++item) {
        double score = 0;
        for (Index r = 0; r < 3; ++r) {
          double place = 0;
          for (Index i = 0; i < 4; ++i) place += factors[2](i, r) / 4;
          if (has_place) place = factors[2](1, r);
          score += model.weights()[std::size_t(r)] * factors[0](*list.of, r) * factors[1](item, r) * place;
        }
        best.emplace_back(-score, item);
      }
      std::ranges::sort(best);
      ASSERT_EQ(list.items.size(), 4U);
      for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(list.items[i].item, best[i].second);
        EXPECT_NEAR(list.items[i].score, -best[i].first, 1e-9);
      }
    }
  }
  EXPECT_THROW(recommend(context, model, {.users = {1}, .at = {{"4", "1"}}}), Error);
}

}  // namespace
}  // namespace polyad
