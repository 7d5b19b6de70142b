#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "polyad/base/random.hpp"
#include "polyad/io/models/rating_model_file.hpp"
#include "polyad/tasks/complete.hpp"
#include "polyad/tasks/load_model.hpp"
#include "polyad/tasks/predict.hpp"
#include "polyad/tasks/recommend.hpp"
#include "polyad/tasks/save.hpp"
#include "tests/support/completed.hpp"
#include "tests/support/shares.hpp"

namespace polyad {
namespace {

using Stored = io::StoredRatingModel<double>;
using Equations = std::vector<std::vector<double>>;  // with the right side as the last column

// By elimination with pivots.
std::vector<double> solve(Equations system) {
  const std::size_t n = system.size();
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k; i < n; ++i)
      if (std::abs(system[i][k]) > std::abs(system[pivot][k])) pivot = i;
    std::swap(system[k], system[pivot]);
    for (std::size_t i = 0; i < n; ++i) {
      if (i == k) continue;
      const double factor = system[i][k] / system[k][k];
      for (std::size_t j = k; j <= n; ++j) system[i][j] -= factor * system[k][j];
    }
  }
  std::vector<double> x;
  for (std::size_t k = 0; k < n; ++k) x.push_back(system[k][n] / system[k][k]);
  return x;
}

void add_equation(Equations& system, const std::vector<double>& features, double weight, double target) {
  for (std::size_t i = 0; i < features.size(); ++i) {
    for (std::size_t j = 0; j < features.size(); ++j) system[i][j] += weight * features[i] * features[j];
    system[i].back() += weight * features[i] * target;
  }
}

std::vector<double> row_of(const Matrix<double>& rows, Index row) {
  return {rows.row(row).begin(), rows.row(row).end()};
}

// The row and bias of least squares over the ratings of an item.
std::vector<double> expected_rating_row(const Stored& base, const NewItem& item) {
  const auto& model = base.model;
  double squares = 0;
  for (const double rating : base.ratings.values()) squares += (rating - model.mean) * (rating - model.mean);
  const double deviation = std::sqrt(squares / double(base.ratings.num_nonzeros()));
  const double per_rating = base.training.shrinkage.per_rating, per_row = base.training.shrinkage.per_row;
  const std::size_t factors = std::size_t(model.num_factors()), n = factors + (model.has_biases() ? 1 : 0);
  Equations system(n, std::vector<double>(n + 1));
  for (std::size_t z = 0; z < item.users.size(); ++z) {
    auto features = row_of(model.users, item.users[z]);
    double target = item.ratings[z] - model.mean;
    if (model.has_biases()) {
      features.push_back(1);
      target -= model.user_biases[std::size_t(item.users[z])];
    }
    add_equation(system, features, 1, target);
  }
  const auto count = double(item.users.size());
  for (std::size_t i = 0; i < n; ++i)
    system[i][i] += i < factors ? deviation * (count * per_rating + per_row) : per_row;
  return solve(system);
}

// Of implicit feedback, over all users; the last number is the popularity.
std::vector<double> expected_list_row(const Stored& base, const ListModel<double>& lists, double popularity,
                                      const NewItem& item) {
  double cubes = 0;
  std::set<Index> active;
  for (Index z = 0; z < base.ratings.num_nonzeros(); ++z) {
    cubes += std::pow(std::abs(base.ratings.values()[z]), lists.power);
    active.insert(base.ratings.indices(0)[z]);
  }
  cubes /= double(base.ratings.num_nonzeros());
  const auto n = std::size_t(lists.model.num_factors());
  Equations system(n, std::vector<double>(n + 1));
  for (Index user = 0; user < lists.model.num_users(); ++user) {
    const auto place = std::ranges::find(item.users, user);
    const double rating =
        place == item.users.end() ? 0 : item.ratings[std::size_t(place - item.users.begin())];
    add_equation(system, row_of(lists.model.users, user),
                 1 + lists.alpha * std::pow(std::abs(rating), lists.power) / cubes, rating > 0 ? 1 : 0);
  }
  for (std::size_t i = 0; i < n; ++i)
    system[i][i] +=
        lists.shrinkage.for_items().per_rating * double(item.users.size()) + lists.shrinkage.per_row;
  auto row = solve(system);
  // With neighbours, ratings count by their weight, as often in all as without.
  const auto counts = [&](double rating) {
    if (!(rating > 0)) return 0.0;
    if (lists.model.neighbours == 0) return 1.0;
    return std::min(4.0, (1 + lists.alpha * std::pow(rating, lists.power) / cubes) / (1 + lists.alpha));
  };
  double num_positive = 0, sum = 0, of_item = 0;
  for (const double rating : base.ratings.values()) {
    num_positive += rating > 0 ? 1 : 0;
    sum += counts(rating);
  }
  for (const double rating : item.ratings) of_item += counts(rating);
  row.push_back(popularity * of_item * num_positive / sum / double(active.size()));
  return row;
}

void expect_row(const RatingModel<double>& model, Index item, const std::vector<double>& expected) {
  auto found = row_of(model.items, item);
  if (!model.item_biases.empty()) found.push_back(model.item_biases[std::size_t(item)]);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-9);
}

NewItem random_item(const std::string& label, Index num_users, Index count, std::uint64_t seed) {
  NewItem item{label, {}, {}};
  for (std::uint64_t z = 0; std::ssize(item.users) < count; ++z) {
    const auto user = Index(Random(seed, 1).below(std::uint64_t(num_users), z));
    if (std::ranges::count(item.users, user) > 0) continue;
    item.users.push_back(user);
    item.ratings.push_back(double(Random(seed, 2).below(7, z)) - 1);
  }
  return item;
}

std::vector<ModeLabels> film_labels(Index count) {
  std::vector<ModeLabels> labels{{}, {"film", {}}};
  for (Index i = 0; i < count; ++i) labels[1].labels.push_back("film " + std::to_string(i));
  return labels;
}

class AddItemsTest : public testing::Test {
 protected:
  CompletionModel train(std::uint64_t seed, CompleteOptions options, bool has_labels = true) {
    const auto whole = test::structured_ratings(num_users, num_items, 60, seed);
    options.factors = 3;
    options.max_epochs = 3;
    options.precision = Precision::float64;
    return complete(context,
                    make_tensor(test::share_of(whole, context.comm()),
                                has_labels ? film_labels(num_items) : std::vector<ModeLabels>{}),
                    options);
  }

  Stored saved(const CompletionModel& model) {
    const auto place = test::shared(context.comm(), folder / std::to_string(num_saved++));
    save(context, model, place);
    auto stored = io::read_rating_model<double>(place);
    context.comm().barrier();
    return stored;
  }

  static constexpr Index num_users = 17, num_items = 12;
  Context context{Comm::world()};
  test::TemporaryFolder folder;
  int num_saved = 0;
};

TEST_F(AddItemsTest, RowsAreThoseOfLeastSquaresWithTheUsersFixed) {
  const std::vector<CompleteOptions> kinds{{},
                                           {.no_bias = true},
                                           {.method = CompletionMethod::als},
                                           {.popularity = 0},
                                           {.popularity = 2},
                                           {.popularity = 1, .neighbours = 0.5},
                                           {.implicit = true, .popularity = 1, .neighbours = 0.5},
                                           {.implicit = true}};
  for (std::uint64_t seed = 1; seed <= 4; ++seed)
    for (const auto& kind : kinds) {
      const auto base = train(seed, kind);
      const auto before = saved(base);
      const std::vector<NewItem> items{random_item("a", num_users, 1 + Index(seed), seed),
                                       random_item("b", num_users, 9, seed + 50)};
      const auto more = add_items(context, base, items);
      EXPECT_EQ(more.num_items(), num_items + 2);
      EXPECT_EQ(base.num_items(), num_items);
      EXPECT_EQ(more.num_ratings(), base.num_ratings() + 10 + Index(seed));
      EXPECT_EQ(more.labels()[1].labels[num_items + 1], "b");
      const auto after = saved(more);
      EXPECT_EQ(after.model.users, before.model.users);
      for (std::size_t i = 0; i < items.size(); ++i) {
        const Index item = num_items + Index(i);
        if (kind.implicit) {
          const ListModel<double> lists{before.model, before.training.shrinkage, *before.training.alpha, 1};
          expect_row(after.model, item,
                     expected_list_row(before, lists, kind.popularity.value_or(0.25), items[i]));
          continue;
        }
        expect_row(after.model, item, expected_rating_row(before, items[i]));
        expect_row(
            after.training.lists->model, item,
            expected_list_row(before, *before.training.lists, kind.popularity.value_or(0.25), items[i]));
      }
    }
}

// As in models whose lists were chosen: such a model is stored, read again, and given items.
TEST_F(AddItemsTest, RowsHaveTheRegularisationOfItemsWhereItIsNotThatOfUsers) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed)
    for (const double of_items : {0.1, 0.5, 3.0, 8.0}) {
      const bool is_implicit = seed % 2 == 0;
      auto stored = saved(train(seed, {.implicit = is_implicit}));
      auto& shrinkage = is_implicit ? stored.training.shrinkage : stored.training.lists->shrinkage;
      shrinkage.of_items = of_items;
      const auto place = test::shared(context.comm(), folder / std::to_string(num_saved++));
      if (context.comm().rank() == 0)
        io::write_rating_model<double>(place, stored.model, stored.training, stored.ratings, stored.labels);
      context.comm().barrier();
      const auto item = random_item("a", num_users, 1 + Index(seed), seed);
      const auto after = saved(add_items(context, load_completion_model(context, place), {item}));
      const auto lists = is_implicit ? ListModel<double>{stored.model, shrinkage, *stored.training.alpha, 1}
                                     : *stored.training.lists;
      expect_row(is_implicit ? after.model : after.training.lists->model, num_items,
                 expected_list_row(stored, lists, 0.25, item));
    }
}

// Others stay as they are; the new ones are in lists, unless the user has rated them, and are predicted.
TEST_F(AddItemsTest, NewItemsAreServedLikeOthers) {
  const auto base = train(5, {.lists = ListsBy::ratings});
  const NewItem item{"new", {2, 7, 4}, {5, 4, 1}};
  const auto more = add_items(context, base, {item});
  const test::PlainModel plain(more), old(base);
  for (Index user = 0; user < num_users; ++user)
    for (Index i = 0; i < num_items; ++i) EXPECT_EQ(plain.predict(user, i), old.predict(user, i));
  const auto found = recommend(context, more, {.users = {3, 7}, .candidates = {0, num_items}});
  const auto has_new = [&](const RecommendationList& list) {
    return std::ranges::any_of(list.items, [](const auto& one) { return one.label == "new"; });
  };
  EXPECT_TRUE(has_new(found.lists()[0]));
  EXPECT_FALSE(has_new(found.lists()[1]));
  for (const auto& one : found.lists()[0].items)
    if (one.label == "new") {
      EXPECT_NEAR(one.score, plain.predict(3, num_items), 1e-9);
    }
  const auto similar = recommend(context, more, {.similar_item_names = {"new"}, .top = 3});
  EXPECT_EQ(similar.lists()[0].items.size(), 3U);

  SparseTensor<double> cells({num_users, num_items + 1});
  for (Index user = 0; user < num_users; ++user) cells.append(std::array{user, num_items}, 1);
  const auto values = predict(context, cp_model_of(context, more), make_tensor(cells));
  for (Index user = 0; user < num_users; ++user)
    EXPECT_NEAR(values[std::size_t(user)], plain.predict(user, num_items), 1e-9);
}

TEST_F(AddItemsTest, AFileIsTheSameAsItsRatings) {
  const auto base = train(6, {});
  const auto file =
      test::shared(context.comm(), folder.write("new.csv", "who,film,stars\n3,new,5\n1,other,2\n8,new,4\n"));
  const auto from_file = saved(add_items_from(context, base, file));
  const auto given = saved(add_items(context, base, {{"new", {7, 2}, {4, 5}}, {"other", {0}, {2}}}));
  EXPECT_EQ(from_file.model, given.model);
  EXPECT_EQ(from_file.training.lists, given.training.lists);
  EXPECT_EQ(from_file.labels[1].labels, given.labels[1].labels);
  const auto whole = recommend(context, base, {.new_items_file = file, .similar_item_names = {"new"}});
  const auto added = recommend(context, add_items_from(context, base, file), {.similar_item_names = {"new"}});
  EXPECT_EQ(whole.lists()[0].items.size(), added.lists()[0].items.size());
  EXPECT_NE(whole.json().find("\"new_item_ratings\": 3"), std::string::npos);
}

TEST_F(AddItemsTest, WithoutLabelsItemsAreNumbers) {
  const auto base = train(7, {}, false);
  const auto next = add_items(context, base, {{"", {1}, {4}}});
  EXPECT_EQ(next.num_items(), num_items + 1);
  const auto file = test::shared(context.comm(), folder.write("new.tsv", "2\t13\t4\n2\t15\t1\n"));
  const auto more = add_items_from(context, base, file);
  EXPECT_EQ(more.num_items(), 15);
  const auto found = recommend(context, more, {.users = {0}, .top = 100});
  for (const auto& one : found.lists()[0].items) EXPECT_NE(one.item, 13);
  EXPECT_EQ(saved(more).model.items.row(12)[0], saved(next).model.items.row(12)[0]);
}

TEST_F(AddItemsTest, NamesWhatIsWrong) {
  const auto base = train(8, {});
  const auto fault = [&](const std::vector<NewItem>& items) {
    try {
      add_items(context, base, items);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const Index rated = saved(base).ratings.indices(1)[0];
  const auto known = "film " + std::to_string(rated);
  const std::string first = "new item 0, counted from 0: ";
  EXPECT_EQ(fault({{known, {1}, {1}}}),
            first + "item '" + known + "' is not new: the model was trained on ratings of it");
  EXPECT_EQ(fault({{"", {1}, {1}}}), first + "it has no label, unlike those of the model");
  EXPECT_EQ(fault({{"a", {17}, {1}}}), first + "user 17 does not exist; the 17 users are counted from 0");
  EXPECT_EQ(fault({{"a", {1, 1}, {1, 2}}}), first + "user 1 rates it twice");
  EXPECT_EQ(fault({{"a", {1}, {NAN}}}), first + "a rating is not finite");
  EXPECT_EQ(fault({{"a", {}, {}}}), first + "it has no ratings");
  EXPECT_EQ(fault({{"a", {1}, {}}}), first + "expected as many ratings as users, found 0 and 1");
  EXPECT_EQ(fault({{"a", {1}, {1}}, {"a", {2}, {1}}}),
            "new item 1, counted from 0: new item 0 has the same label");
}

}  // namespace
}  // namespace polyad
