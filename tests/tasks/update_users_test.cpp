#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "polyad/base/random.hpp"
#include "polyad/io/models/rating_model_file.hpp"
#include "polyad/tasks/complete.hpp"
#include "polyad/tasks/recommend.hpp"
#include "polyad/tasks/save.hpp"
#include "tests/support/completed.hpp"
#include "tests/support/shares.hpp"

namespace polyad {
namespace {

UpdatedUser random_user(Index user, Index among, Index count, std::uint64_t seed) {
  UpdatedUser made{user, {}, {}};
  auto& [items, ratings] = made.rated;
  for (std::uint64_t z = 0; std::ssize(items) < count; ++z) {
    const auto item = Index(Random(seed, 3).below(std::uint64_t(among), z));
    if (std::ranges::count(items, item) > 0) continue;
    items.push_back(item);
    ratings.push_back(1 + double(Random(seed, 4).below(5, z)));
  }
  return made;
}

class UpdateUsersTest : public testing::Test {
 protected:
  CompletionModel train(std::uint64_t seed, CompleteOptions options, std::vector<ModeLabels> labels = {}) {
    const auto whole = test::structured_ratings(num_users, num_items, 60, seed);
    options.factors = 3;
    options.max_epochs = 3;
    options.precision = Precision::float64;
    return complete(context, make_tensor(test::share_of(whole, context.comm()), std::move(labels)), options);
  }

  io::StoredRatingModel<double> saved(const CompletionModel& model) {
    const auto place = test::shared(context.comm(), folder / std::to_string(num_saved++));
    save(context, model, place);
    auto stored = io::read_rating_model<double>(place);
    context.comm().barrier();
    return stored;
  }

  // The derivative, by the row and the bias of a user, of the loss of the training over the user's ratings.
  std::vector<double> slope(const io::StoredRatingModel<double>& base, const CompletionModel& found,
                            const UpdatedUser& user) {
    const test::PlainModel plain(found);
    double squares = 0;
    for (const double rating : base.ratings.values())
      squares += (rating - plain.mean) * (rating - plain.mean);
    const double deviation = std::sqrt(squares / double(base.ratings.num_nonzeros()));
    const double per_rating = base.training.shrinkage.per_rating, per_row = base.training.shrinkage.per_row;
    const bool has_bias = !plain.user_biases.empty();
    const double of_row = deviation * (double(user.rated.items.size()) * per_rating + per_row);
    std::vector<double> sums;
    for (Index f = 0; f < plain.users.num_cols(); ++f) sums.push_back(of_row * plain.users(user.user, f));
    if (has_bias) sums.push_back(per_row * plain.user_biases[std::size_t(user.user)]);
    for (std::size_t i = 0; i < user.rated.items.size(); ++i) {
      const Index item = user.rated.items[i];
      const double error = plain.predict(user.user, item) - user.rated.ratings[i];
      for (Index f = 0; f < plain.users.num_cols(); ++f) sums[std::size_t(f)] += error * plain.items(item, f);
      if (has_bias) sums.back() += error;
    }
    return sums;
  }

  std::string fault(const CompletionModel& model, const std::vector<UpdatedUser>& users) {
    try {
      update_users(context, model, users);
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  }

  static constexpr Index num_users = 17, num_items = 12;
  Context context{Comm::world()};
  test::TemporaryFolder folder;
  int num_saved = 0;
};

// The loss is convex in them: they are its minimum where its slope is 0.
TEST_F(UpdateUsersTest, RowsMinimiseTheLossOfTheTrainingWithTheItemsFixed) {
  const std::vector<CompleteOptions> kinds{{}, {.no_bias = true}, {.method = CompletionMethod::als}};
  for (std::uint64_t seed = 1; seed <= 4; ++seed)
    for (const auto& kind : kinds) {
      const auto base = train(seed, kind);
      const auto before = saved(base);
      const std::vector<UpdatedUser> users{random_user(Index(seed), num_items, 1 + Index(seed), seed),
                                           random_user(num_users + 1, num_items, 7, seed + 50)};
      const auto found = update_users(context, base, users);
      EXPECT_EQ(found.num_users(), num_users + 2);
      EXPECT_EQ(base.num_users(), num_users);
      const auto after = saved(found);
      EXPECT_EQ(after.model.items, before.model.items);
      EXPECT_EQ(after.model.item_biases, before.model.item_biases);
      for (const auto& user : users)
        for (const double number : slope(before, found, user)) EXPECT_NEAR(number, 0, 1e-9);
      const test::PlainModel plain(found), old(base);
      for (Index user = 0; user < num_users; ++user) {
        if (user == users[0].user) continue;
        for (Index i = 0; i < num_items; ++i) EXPECT_EQ(plain.predict(user, i), old.predict(user, i));
      }
    }
}

TEST_F(UpdateUsersTest, HasTheGivenRatingsInPlaceOfEarlierOnes) {
  const auto base = train(5, {});
  const auto before = saved(base).ratings;
  const auto user = random_user(before.indices(0)[0], num_items, 4, 9);
  const auto after = saved(update_users(context, base, {user})).ratings;
  const auto count_of = [](const SparseTensor<double>& ratings, Index wanted) {
    return std::ranges::count(ratings.indices(0), wanted);
  };
  EXPECT_EQ(count_of(after, user.user), 4);
  EXPECT_EQ(after.num_nonzeros(), before.num_nonzeros() - count_of(before, user.user) + 4);
  for (Index z = 0; z < after.num_nonzeros(); ++z) {
    if (after.indices(0)[z] != user.user) continue;
    const auto place = std::ranges::find(user.rated.items, after.indices(1)[z]) - user.rated.items.begin();
    ASSERT_LT(place, 4);
    EXPECT_EQ(after.values()[z], user.rated.ratings[std::size_t(place)]);
  }
  const auto forgotten = saved(update_users(context, base, {{user.user, {}, {}}})).ratings;
  EXPECT_EQ(count_of(forgotten, user.user), 0);
}

// A user of the model gets what somebody with these ratings gets who is not in it.
TEST_F(UpdateUsersTest, ListsAreThoseOfANewUserWithTheseRatings) {
  const std::vector<CompleteOptions> kinds{{}, {.lists = ListsBy::ratings}, {.implicit = true}};
  for (std::uint64_t seed = 1; seed <= 4; ++seed)
    for (const auto& kind : kinds) {
      const auto base = train(seed, kind);
      const auto user = random_user(2 + Index(seed), num_items, 2 + Index(seed), seed);
      const auto expected = recommend(context, base, {.new_user = user.rated}).lists();
      const auto updated = update_users(context, base, {user});
      const auto found = recommend(context, updated, {.users = {user.user}}).lists();
      ASSERT_EQ(found[0].items.size(), expected[0].items.size());
      for (std::size_t i = 0; i < found[0].items.size(); ++i) {
        EXPECT_EQ(found[0].items[i].item, expected[0].items[i].item);
        EXPECT_NEAR(found[0].items[i].score, expected[0].items[i].score, 1e-9);
      }
    }
}

TEST_F(UpdateUsersTest, LabelsFindUsersAndNameNewOnes) {
  std::vector<ModeLabels> labels{{"who", {}}, {}};
  for (Index i = 0; i < num_users; ++i) labels[0].labels.push_back("user " + std::to_string(i));
  const auto base = train(6, {}, labels);
  const UserRatings rated{{3, 1}, {5, 2}};
  const auto more = update_users(context, base, {{0, "new", rated}, {0, "user 4", rated}});
  EXPECT_EQ(more.num_users(), num_users + 1);
  EXPECT_EQ(more.labels()[0].labels.back(), "new");
  const test::PlainModel plain(more);
  for (Index i = 0; i < num_items; ++i) EXPECT_NEAR(plain.predict(4, i), plain.predict(num_users, i), 1e-12);
  const std::string first = "user 0 of those that are given, counted from 0: ";
  EXPECT_EQ(fault(base, {{3, "", rated}}), first + "expected a label, as users of the model have them");
}

TEST_F(UpdateUsersTest, NamesWhatIsWrong) {
  const auto base = train(7, {});
  const std::string first = "user 0 of those that are given, counted from 0: ";
  EXPECT_EQ(fault(base, {{1, "ann", {{1}, {1}}}}),
            first + "expected a number, as users of the model have no labels");
  EXPECT_EQ(fault(base, {{1, "", {{12}, {1}}}}),
            first + "item 12 does not exist; the 12 items are counted from 0");
  EXPECT_EQ(fault(base, {{1, "", {{1, 1}, {1, 2}}}}), first + "item 1 is rated twice");
  EXPECT_EQ(fault(base, {{1, "", {{1}, {NAN}}}}), first + "a rating is not finite");
  EXPECT_EQ(fault(base, {{1, "", {{1}, {}}}}), first + "expected as many ratings as items, found 0 and 1");
  EXPECT_EQ(fault(base, {{1, "", {{1}, {1}}}, {1, "", {{2}, {1}}}}),
            "user 1 of those that are given, counted from 0: it is the same as user 0");
  EXPECT_NE(fault(base, {{-1, "", {{1}, {1}}}}).find("expected one from 0"), std::string::npos);
}

}  // namespace
}  // namespace polyad
