#include "polyad/report/html/completion_page.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "polyad/base/random.hpp"
#include "polyad/distributed/ratings/rotation.hpp"
#include "polyad/kernels/ratings/top_items.hpp"
#include "polyad/report/html/completion_plots.hpp"
#include "tests/support/page_faults.hpp"

namespace polyad::report {
namespace {

using test::count_of, test::fault_of;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

EpochRecord epoch(int number, double train, std::optional<double> test) {
  EpochRecord record;
  record.epoch = number;
  record.step = 0.05;
  record.train = {train, 0.8 * train};
  if (test) record.test = ErrorFigures{*test, 0.8 * *test};
  return record;
}

EpochRecord undone(int number) {
  auto record = epoch(number, nan, std::nullopt);
  record.was_undone = true;
  return record;
}

CompletionPageContents contents() {
  CompletionPageContents c;
  c.input = "/somewhere/films.csv";
  c.record.version = "polyad 0.1.0";
  auto& run = c.run;
  run.num_users = 2345;
  run.num_items = 678;
  run.num_ratings = 90123;
  run.num_test = 4567;
  run.mean = 7.31251;
  run.deviation = 1.87654;
  run.test = "0.1";
  run.precision = "single";
  run.epochs = {epoch(1, 1.9, 1.8), undone(2), epoch(2, 1.5, 1.6), epoch(3, 1.2, 1.7)};
  run.best_epoch = 2;
  run.stop = CompletionStop::test_error;
  run.train = {1.40625, 1.15625};
  run.test_errors = ErrorFigures{1.6015625, 1.28125};
  run.ranking = RankingMetrics{10, 8, 432, {0.0625, 0.125, 0.09375}, {0.05, 0.1, 0.07}};
  run.process_seconds = {{2, 0, 0, 0.5}};
  run.peak_memory_bytes = 44400000;
  c.examples = {{"Ann", 512, {{"Alien", 10}, {"Brazil", 9}}, {{"Casablanca", 8.75}}}};
  return c;
}

CompletionPageContents distributed() {
  auto c = contents();
  auto& run = c.run;
  run.processes = 4;
  run.partition = "hypergraph";
  run.num_sub_epochs = 2;
  run.rows_by_connectivity = {8, 500, 100, 50, 20};
  run.predicted.max_connectivity = 4;
  run.predicted.messages = 24;
  run.predicted.staleness_rows = 90;
  run.predicted.predicted_seconds = 0.25;
  run.words_per_row = 18;
  run.predicted_volume_words = 9720;
  run.volume_words = 9720;
  run.messages = 24;
  run.process_seconds = {{2, 0.25, 0.75, 0}, {3, 0.125, 0, 0}, {1, 1, 1, 0}, {0, 0, 3, 0}};
  return c;
}

void expect_sound(const std::string& page) {
  EXPECT_EQ(fault_of(page), "");
  for (const char* part : {"nan", "inf<", "inf ", "-inf"})
    EXPECT_EQ(page.find(part), std::string::npos) << part;
}

TEST(CompletionPage, tells_what_was_learned_and_how_well) {
  const auto page = completion_page(contents());
  expect_sound(page);
  for (const char* part : {"<title>films.csv: recommender</title>",
                           "90,123 ratings of 678 items by 2,345 users",
                           "16 factors and biases",
                           "4,567 ratings (0.1)",
                           "<dd>7.3125</dd>",
                           "<dd>1.8765</dd>",
                           "<dt>test RMSE</dt><dd>1.6016</dd>",
                           "<dt>test MAE</dt><dd>1.2812</dd>",
                           "<dt>train RMSE</dt><dd>1.4062</dd>",
                           "<dt>best epoch</dt><dd>2</dd>",
                           "after 3 epochs: the test error no longer decreased",
                           "1 epoch was undone",
                           "data-name=\"this model\">0.0625</td>",
                           "data-name=\"this model\">0.1250</td>",
                           "data-name=\"this model\">0.0938</td>",
                           "data-name=\"popularity\">0.0700</td>",
                           "<h3>Ann</h3>",
                           "512 ratings",
                           "Casablanca</span> <b>8.75</b>",
                           "44.4 MB",
                           "polyad 0.1.0",
                           "adagrad"})
    EXPECT_NE(page.find(part), std::string::npos) << part;
  EXPECT_EQ(count_of(page, "<svg class=\"chart"), 1);
  EXPECT_EQ(count_of(page, "<svg class=\"curve"), 2) << "training and test";
  EXPECT_EQ(count_of(page, "<line class=\"undone\""), 1);
  EXPECT_EQ(count_of(page, "<line class=\"kept\""), 1);
  EXPECT_EQ(page.find("id=\"synchronisation\""), std::string::npos) << "nothing is exchanged";
}

TEST(CompletionPage, tells_what_computed) {
  auto c = contents();
  c.run.lists.emplace();
  EXPECT_EQ(completion_page(c).find("gpu"), std::string::npos);
  c.run.lists->device = "gpu 1: <fast>";
  EXPECT_NE(completion_page(c).find("gpu 1: &lt;fast&gt;"), std::string::npos);
  c.run.device = "gpu 0: faster";
  EXPECT_NE(completion_page(c).find("gpu 0: faster, "), std::string::npos);
}

TEST(CompletionPage, tells_where_popularity_is_better) {
  auto c = contents();
  EXPECT_EQ(completion_page(c).find("worse than those of the items with the most ratings"),
            std::string::npos);
  c.run.ranking->popularity.ndcg = 0.25;
  EXPECT_NE(completion_page(c).find(
                "worse than those of the items with the most ratings: NDCG 0.0938, by popularity 0.2500"),
            std::string::npos);
}

TEST(CompletionPage, tells_what_processes_exchange) {
  const auto page = completion_page(distributed());
  expect_sound(page);
  for (const char* part :
       {"distributed by hypergraph", "each of 2 sub-epochs",
        "1,620 words per epoch are stale; with 4 sub-epochs none would be",
        "<th scope=\"row\">words</th><td class=\"number\" data-name=\"predicted\">9,720</td>",
        "<span>process 3</span>", "3 s = 2 s + 0.75 s + 0.25 s", "in 4 processes", "built in"})
    EXPECT_NE(page.find(part), std::string::npos) << part;
  EXPECT_EQ(count_of(page, "<svg class=\"chart"), 3);
  EXPECT_EQ(count_of(page, "<svg class=\"bar stacked\""), 4);
}

TEST(CompletionPage, shows_the_value_of_every_point_without_a_script) {
  const auto page = completion_page(distributed());
  expect_sound(page);
  for (const char* part :
       {"<title>epoch 1: training RMSE 1.9, test RMSE 1.8</title></rect>",
        "<title>epoch 3: training RMSE 1.2, test RMSE 1.7</title></rect>",
        "<title>1 sub-epoch: ", " words sent, ", "<title>500 items on 1 process</title></rect>",
        "<title>20 items on 4 processes</title></rect>", "<title>computing: 2 s</title></rect>",
        "<title>waiting: 0.75 s</title></rect>", ">RMSE (unit of the ratings)</text>", ">epoch</text>",
        ">words per epoch</text>", ">sub-epochs per epoch</text>", ">number of items</text>"})
    EXPECT_NE(page.find(part), std::string::npos) << part;
}

TEST(CompletionPage, tells_who_was_dealt_out_and_why) {
  auto c = distributed();
  for (const char* part : {"Every process has users of its own", "the rows of items that they share",
                           "How widely items are shared", "processes with ratings of the item"})
    EXPECT_NE(completion_page(c).find(part), std::string::npos) << part;
  EXPECT_EQ(completion_page(c).find("Predicted:"), std::string::npos) << "nothing was weighed";
  c.run.by = RatingSide::item;
  c.run.side_seconds = SideSeconds{0.75, 0.25};
  const auto page = completion_page(c);
  expect_sound(page);
  for (const char* part : {"Every process has items of its own", "the rows of users that they share",
                           "Predicted: 0.25 s per epoch with items distributed, 0.75 s with users.",
                           "How widely users are shared", "processes with ratings of the user"})
    EXPECT_NE(page.find(part), std::string::npos) << part;
}

TEST(CompletionPage, needs_no_test_no_epoch_and_no_example) {
  auto c = distributed();
  c.examples.clear();
  c.run.test_errors.reset();
  c.run.ranking.reset();
  c.run.num_test = 0;
  c.run.test = "none";
  c.run.options.has_biases = false;
  c.run.stop = CompletionStop::epochs;
  c.run.epochs = {epoch(51, 1.5, {}), epoch(52, 1.25, {})};
  const auto page = completion_page(c);
  expect_sound(page);
  EXPECT_EQ(page.find("test RMSE"), std::string::npos);
  EXPECT_EQ(page.find("id=\"ranking\""), std::string::npos);
  EXPECT_EQ(page.find("id=\"examples\""), std::string::npos);
  EXPECT_NE(page.find("<dt>held out to test</dt><dd>none</dd>"), std::string::npos);
  EXPECT_NE(page.find(">51</text>"), std::string::npos) << "epochs that were trained before count";
  c.run.epochs = {undone(1)};
  EXPECT_NE(completion_page(c).find("no epoch that could be kept"), std::string::npos);
  c.run = {};
  c.run.processes = 2;
  c.run.rows_by_connectivity = {3};
  c.run.ranking = RankingMetrics{};
  expect_sound(completion_page(c));
}

TEST(CompletionPage, shows_whatever_a_text_holds_as_text) {
  const std::string nasty = "<script>alert(\"1\")</script>'&\xff\x01\xe2\x80\xae";
  auto c = distributed();
  c.input = c.record.version = c.record.command = c.run.test = c.run.partition = c.run.machine =
      c.run.precision = nasty;
  c.examples = {{nasty, 1, {{nasty, 1}}, {{nasty, -2}}}, {"", 0, {}, {}}};
  const auto page = completion_page(c);
  expect_sound(page);
  EXPECT_EQ(page.find("<script"), std::string::npos);
  EXPECT_EQ(page.find('\xff'), std::string::npos);
  EXPECT_EQ(count_of(page, "http"), 2) << "the name of XHTML, and http-equiv";
}

TEST(CompletionPage, stays_small_and_sound_for_long_runs_on_many_processes) {
  auto c = distributed();
  c.run.epochs.clear();
  for (int e = 1; e <= 20000; ++e) c.run.epochs.push_back(epoch(e, 1e9 / e, 1e9 / (e + 1)));
  c.run.rows_by_connectivity.assign(1001, 7);
  c.run.process_seconds.assign(1000, {1, 1, 1, 1});
  const auto page = completion_page(c);
  expect_sound(page);
  EXPECT_LT(page.size(), 400000u);
  EXPECT_NE(page.find("The first 64 of 1000 processes"), std::string::npos);
  EXPECT_NE(page.find("e+08"), std::string::npos) << "errors of any size have marks that are short";
  for (const double error : {0.0, 1e-12, 1e300}) {
    c.run.epochs = {epoch(1, error, error)};
    expect_sound(completion_page(c));
  }
}

TEST(SyncWords, are_those_of_the_seed) {
  CompletionRun run;
  run.rows_by_connectivity = {5, 3, 0, 0, 0, 0, 0, 1};
  run.words_per_row = 16;
  const auto words = words_over_sub_epochs(run);
  ASSERT_EQ(words.size(), 7u);
  EXPECT_EQ(words[0], (SyncWords{12 * 16, 6 * 16}));
  EXPECT_EQ(words[3], (SyncWords{10 * 16, 3 * 16}));
  EXPECT_EQ(words[6], (SyncWords{7 * 16, 0}));
}

SparseTensor<double> random_ratings(Index users, Index items, std::uint64_t seed) {
  const Random random(seed, 0);
  SparseTensor<double> ratings({users, items});
  for (Index u = 0; u < users; ++u)
    for (Index i = 0; i + 1 < items; ++i)
      if (random.uniform(std::uint64_t(2 * (u * items + i))) < 0.4)
        ratings.append(std::vector{u, i},
                       std::floor(10 * random.uniform(std::uint64_t(2 * (u * items + i) + 1))));
  return ratings;
}

TEST(SyncWords, are_those_of_the_columns) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const int num_parts = 1 + int(seed % 7);
    const auto ratings = random_ratings(30, 12, seed);
    std::vector<int> parts;
    for (Index u = 0; u < 30; ++u) parts.push_back(int((u * 7 + Index(seed)) % num_parts));
    const auto columns = share_columns(ratings, ListedRows{{}, parts}, num_parts);
    CompletionRun run;
    run.rows_by_connectivity = columns.connectivities();
    run.words_per_row = 3;
    run.num_sub_epochs = num_parts;
    const auto words = words_over_sub_epochs(run);
    ASSERT_EQ(std::ssize(words), num_parts);
    for (Index eta = 1; eta <= num_parts; ++eta)
      EXPECT_EQ(words[eta - 1],
                (SyncWords{3 * rotation_volume(columns, eta), 3 * rotation_staleness(columns, eta)}));
  }
}

template <class Real>
RatingModel<Real> random_model(Index users, Index items, Index factors) {
  const Random random(5, 1);
  std::uint64_t draw = 0;
  RatingModel<Real> model;
  model.users = Matrix<Real>(users, factors);
  model.items = Matrix<Real>(items, factors);
  for (auto* rows : {&model.users, &model.items})
    for (auto& value : rows->flat()) value = Real(random.normal(draw++));
  return model;
}

TEST(ExampleUsers, are_those_with_most_ratings_and_get_what_is_predicted_best) {
  const Index num_users = 20, num_items = 15;
  const auto ratings = random_ratings(num_users, num_items, 3);
  const auto model = random_model<double>(num_users, num_items, 4);
  const auto rated = group_by_user(ratings);
  std::vector<ModeLabels> labels(2);
  for (Index i = 0; i < num_items; ++i) labels[1].labels.push_back("film " + std::to_string(i));
  const auto examples = example_users(model, ratings, labels);
  ASSERT_EQ(examples.size(), 3u);
  Index least = num_items;
  for (const auto& one : examples) {
    ASSERT_EQ(one.name.substr(0, 5), "user ");
    const Index user = std::stoll(one.name.substr(5)) - 1;
    EXPECT_EQ(one.num_rated, std::ssize(rated.items_of(user)));
    least = std::min(least, one.num_rated);
    std::vector<double> liked(rated.values_of(user).begin(), rated.values_of(user).end());
    std::ranges::sort(liked, std::greater{});
    ASSERT_EQ(one.liked.size(), std::min<std::size_t>(5, liked.size()));
    for (std::size_t i = 0; i < one.liked.size(); ++i) EXPECT_EQ(one.liked[i].rating, liked[i]);
    std::vector<std::pair<double, Index>> predicted;
    for (Index i = 0; i + 1 < num_items; ++i)  // the last has no rating
      if (!std::ranges::binary_search(rated.items_of(user), i))
        predicted.emplace_back(kernels::ref::predicted_rating(model, user, i), i);
    std::ranges::sort(predicted, std::greater{});
    ASSERT_EQ(one.recommended.size(), std::min<std::size_t>(5, predicted.size()));
    for (std::size_t i = 0; i < one.recommended.size(); ++i) {
      EXPECT_EQ(one.recommended[i].item, labels[1].labels[predicted[i].second]);
      EXPECT_NEAR(one.recommended[i].rating, predicted[i].first, 1e-12);
    }
  }
  Index num_more = 0;
  for (Index u = 0; u < num_users; ++u)
    if (std::ssize(rated.items_of(u)) > least) ++num_more;
  EXPECT_LT(num_more, 3);
}

TEST(ExampleUsers, are_fewer_where_few_have_ratings) {
  const std::vector<ModeLabels> labels(2);
  SparseTensor<double> ratings({4, 2});
  EXPECT_TRUE(example_users(random_model<float>(4, 2, 3), ratings, labels).empty());
  ratings.append(std::vector<Index>{2, 1}, -3.0);
  const auto examples = example_users(random_model<float>(4, 2, 3), ratings, labels);
  ASSERT_EQ(examples.size(), 1u);
  EXPECT_EQ(examples[0].name, "user 3");
  ASSERT_EQ(examples[0].liked.size(), 1u);
  EXPECT_EQ(examples[0].liked[0].item, "item 2");
  EXPECT_TRUE(examples[0].recommended.empty()) << "nothing else was rated by anyone";
}

}  // namespace
}  // namespace polyad::report
