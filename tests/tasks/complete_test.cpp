#include "polyad/tasks/complete.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "polyad/algo/ratings/sgd_completion.hpp"
#include "polyad/distributed/ratings/distribute_ratings.hpp"
#include "polyad/distributed/ratings/random_rows.hpp"
#include "polyad/io/models/rating_model_file.hpp"
#include "polyad/tasks/save.hpp"
#include "tests/support/completed.hpp"
#include "tests/support/shares.hpp"

namespace polyad {
namespace {

using test::PlainModel;

Tensor share_of(const SparseTensor<double>& whole, const Context& context) {
  return make_tensor(test::share_of(whole, context.comm()));
}

ErrorFigures naive_errors(const PlainModel& model, const SparseTensor<double>& ratings) {
  double squares = 0, magnitudes = 0;
  for (Index z = 0; z < ratings.num_nonzeros(); ++z) {
    const double error = ratings.values()[z] - model.predict(ratings.indices(0)[z], ratings.indices(1)[z]);
    squares += error * error;
    magnitudes += std::abs(error);
  }
  const auto count = double(ratings.num_nonzeros());
  return {std::sqrt(squares / count), magnitudes / count};
}

std::vector<CompleteOptions> ways_to_complete() {
  CompleteOptions options;
  options.max_epochs = 6;
  options.precision = Precision::float64;
  std::vector<CompleteOptions> ways;
  for (const auto by : {DistributedSide::users, DistributedSide::items, DistributedSide::automatic})
    for (const auto partition : {RatingPartition::random, RatingPartition::block}) {
      options.by = by;
      options.partition = partition;
      options.factors = by == DistributedSide::items ? 5 : 8;
      options.no_bias = partition == RatingPartition::block;
      options.sync = by == DistributedSide::users ? CompleteOptions::sync_max : CompleteOptions::sync_auto;
      options.schedule = all_step_schedules()[ways.size() % 4];
      ways.push_back(options);
    }
  return ways;
}

// Whichever process has the rows, the errors of the model are those of its factors and biases, by definition.
TEST(Complete, HasTheErrorsOfItsFactors) {
  const Context context(Comm::world());
  const auto train = test::structured_ratings(60, 40, 900, 3),
             tested = test::structured_ratings(60, 40, 200, 4);
  for (auto options : ways_to_complete()) {
    options.test.kind = TestRatings::Kind::tensor;
    options.test.tensor = test::share_of(tested, context.comm());
    const auto model = complete(context, share_of(train, context), options);
    EXPECT_EQ(model.num_users(), 60);
    EXPECT_EQ(model.num_items(), 40);
    EXPECT_EQ(model.num_ratings(), train.num_nonzeros());
    EXPECT_EQ(model.has_biases(), !options.no_bias);
    const PlainModel plain(model);
    ASSERT_EQ(plain.users.num_rows(), 60);
    ASSERT_EQ(plain.items.num_cols(), options.factors);
    ASSERT_TRUE(model.test_errors());
    const auto on_train = naive_errors(plain, train), on_test = naive_errors(plain, tested);
    EXPECT_NEAR(model.train_errors().rmse, on_train.rmse, 1e-9);
    EXPECT_NEAR(model.train_errors().mae, on_train.mae, 1e-9);
    EXPECT_NEAR(model.test_errors()->rmse, on_test.rmse, 1e-9);
    EXPECT_NEAR(model.test_errors()->mae, on_test.mae, 1e-9);
    EXPECT_EQ(model.epochs()[std::size_t(model.best_epoch()) - 1].test->rmse, model.test_errors()->rmse);
    ASSERT_TRUE(model.ranking());
    EXPECT_EQ(model.ranking()->k, 10);
  }
}

// Bit for bit what the layers below compute, with users at random.
TEST(Complete, EqualsTheAlgorithmBelow) {
  const Context context(Comm::world());
  const Comm& comm = context.comm();
  const auto whole = test::structured_ratings(50, 30, 700, 5);
  CompletionOptions below;
  below.max_epochs = 4;
  RatingLayout layout;
  layout.row = {16, travelling_words(below).per_row(), sizeof(double)};
  const auto share = test::share_of(whole, comm);
  const RowOwners users = random_by_ratings(comm, share, 0, comm.size(), 1);
  auto own = move_to_users(comm, share, users, {});
  auto distributed = distribute(comm, std::move(own.split), {users, {}}, layout);
  auto x = lay_out_ratings<double>(comm, distributed.split, distributed.owners,
                                   std::move(distributed.rotation), layout);
  const auto expected = sgd_completion(x, below);
  auto rows = gather_model<double>(x, expected.users, expected.items, travelling_words(below));

  CompleteOptions options;
  options.max_epochs = 4;
  options.by = DistributedSide::users;
  options.precision = Precision::float64;
  const auto model = complete(context, share_of(whole, context), options);
  ASSERT_EQ(model.epochs().size(), expected.epochs.size());
  for (std::size_t i = 0; i < expected.epochs.size(); ++i)
    EXPECT_EQ(model.epochs()[i].train.rmse, expected.epochs[i].train.rmse);
  const PlainModel plain(model);
  if (comm.rank() != 0) return;
  EXPECT_EQ(plain.users, rows.model.users);
  EXPECT_EQ(plain.items, rows.model.items);
  EXPECT_EQ(plain.user_biases,
            std::vector<double>(rows.model.user_biases.begin(), rows.model.user_biases.end()));
  EXPECT_EQ(plain.mean, rows.model.mean);
}

TEST(Complete, IsReadAsItWasSaved) {
  const Context context(Comm::world());
  const Comm& comm = context.comm();
  const auto whole = test::structured_ratings(12, 9, 70, 6);
  std::vector<ModeLabels> labels{{"who", {}}, {}};
  for (int i = 0; i < 12; ++i) labels[0].labels.push_back("u" + std::to_string(i));
  for (const auto precision : {Precision::float32, Precision::float64}) {
    CompleteOptions options{.factors = 3, .max_epochs = 2, .precision = precision};
    const auto model = complete(context, make_tensor(test::share_of(whole, comm), labels), options);
    const test::TemporaryFolder folder;
    const auto place = test::shared(comm, folder / "model");
    save(context, model, place);
    const auto read = load_completion_model(context, place);
    const PlainModel before(model), after(read);
    EXPECT_EQ(before.users, after.users);
    EXPECT_EQ(before.items, after.items);
    EXPECT_EQ(before.user_biases, after.user_biases);
    EXPECT_EQ(before.item_biases, after.item_biases);
    EXPECT_EQ(before.mean, after.mean);
    EXPECT_EQ(read.labels(), model.labels());
    EXPECT_EQ(read.labels()[0].name, "who");
    EXPECT_EQ(read.labels()[1].name, "item");
    EXPECT_EQ(read.num_ratings(), model.num_ratings());
    EXPECT_EQ(read.best_epoch(), 2);
    EXPECT_TRUE(read.epochs().empty());
    EXPECT_NE(read.summary().find("12 users, 9 items, 70 ratings"), std::string::npos) << read.summary();
    auto ratings = io::read_rating_model<double>(place).ratings;
    keep_last_ratings(ratings);  // sorts
    EXPECT_EQ(ratings, whole);
    EXPECT_THROW(save_report(context, read, place / "page.html"), Error);
    save_report(context, model, place / "page.html");
    EXPECT_NE(test::contents(place / "page.html").find("<html"), std::string::npos);
    comm.barrier();  // before the folder goes
  }
}

TEST(Complete, GoesOnFromAModel) {
  const Context context(Comm::world());
  const Comm& comm = context.comm();
  const auto whole = test::structured_ratings(40, 30, 500, 7);
  CompleteOptions options{.factors = 4, .max_epochs = 6, .precision = Precision::float64};
  const auto at_once = complete(context, share_of(whole, context), options);
  options.max_epochs = 3;
  const test::TemporaryFolder folder;
  const auto place = test::shared(comm, folder / "model");
  save(context, complete(context, share_of(whole, context), options), place);
  options.resume = place;
  const auto resumed = complete(context, share_of(whole, context), options);
  EXPECT_EQ(resumed.epochs().back().epoch, 6);
  EXPECT_NEAR(resumed.train_errors().rmse, at_once.train_errors().rmse, 1e-9);
  comm.barrier();
}

TEST(Complete, TestsOnWhatItIsTold) {
  const Context context(Comm::world());
  const Comm& comm = context.comm();
  const auto train = test::structured_ratings(30, 20, 300, 8),
             tested = test::structured_ratings(30, 20, 60, 9);
  std::string lines;
  for (Index z = 0; z < tested.num_nonzeros(); ++z)
    lines += std::to_string(tested.indices(0)[z] + 1) + " " + std::to_string(tested.indices(1)[z] + 1) + " " +
             std::to_string(tested.values()[z]) + "\n";
  const test::TemporaryFolder folder;
  const auto file = test::shared(comm, folder.write("t.tns", lines + "99 1 3\n"));
  std::vector<std::string> warnings;
  const Context told(comm, {.on_message = [&](const Message& m) { warnings.push_back(m.text); }});

  CompleteOptions options{.factors = 2, .max_epochs = 2, .precision = Precision::float64};
  options.test.kind = TestRatings::Kind::tensor;
  options.test.tensor = test::share_of(tested, comm);
  const auto expected = complete(context, share_of(train, context), options).test_errors();
  options.test = {.kind = TestRatings::Kind::file, .file = file};
  const auto from_file = complete(told, share_of(train, context), options).test_errors();
  EXPECT_NEAR(from_file->rmse, expected->rmse, 1e-6);  // the text has six digits
  const std::string left_out =
      file.string() + ": 1 rating was left out, of users or items that the training ratings do not have";
  ASSERT_EQ(warnings.size(), comm.rank() == 0 ? 2 : 0);
  if (comm.rank() == 0) {
    EXPECT_EQ(warnings[0], left_out);
    EXPECT_NE(
        warnings[1].find(" of 60 test ratings are of a user and an item that also have a training rating"),
        std::string::npos)
        << warnings[1];
  }
  options.test = {.kind = TestRatings::Kind::fraction, .fraction = 0.25};
  const auto some = complete(context, share_of(train, context), options);
  EXPECT_NEAR(double(some.num_ratings()), 0.75 * double(train.num_nonzeros()), 40);
  options.test = {.kind = TestRatings::Kind::leave_one_out};
  EXPECT_GE(complete(context, share_of(train, context), options).num_ratings(), train.num_nonzeros() - 30);
  comm.barrier();
}

TEST(Complete, IsStoppedByTheObserverOfAnyProcess) {
  const Context context(Comm::world());
  const auto whole = test::structured_ratings(30, 20, 300, 10);
  const bool is_last = context.comm().rank() == context.comm().size() - 1;
  CompleteOptions options{.factors = 2, .max_epochs = 20};
  options.observer = [&](const EpochRecord& record) { return !is_last || record.epoch < 3; };
  const auto model = complete(context, share_of(whole, context), options);
  EXPECT_EQ(model.epochs().size(), 3);
  EXPECT_EQ(model.stop_reason(), CompletionStop::observer);
  options.observer = [&](const EpochRecord&) -> bool {
    if (is_last) throw Error(Errc::bad_input, "enough");
    return true;
  };
  EXPECT_THROW(complete(context, share_of(whole, context), options), Error);
}

TEST(Complete, RefusesTestRatingsThatOneProcessPassesWrongly) {
  const Context context(Comm::world());
  const auto whole = test::structured_ratings(30, 20, 300, 10);
  CompleteOptions options{.factors = 2, .max_epochs = 2};
  options.test.kind = TestRatings::Kind::tensor;
  const bool is_wrong = context.comm().rank() == context.comm().size() - 1;
  options.test.tensor =
      SparseTensor<double>(is_wrong ? std::vector<Index>{3, 3} : std::vector<Index>{30, 20});
  EXPECT_THROW(complete(context, share_of(whole, context), options), Error);
}

TEST(Complete, TellsOfRepeatedRatings) {
  std::vector<std::string> told;
  const Context context(Comm::world(), {.on_message = [&](const Message& m) { told.push_back(m.text); }});
  SparseTensor<double> whole({2, 2});
  for (const double rating : {1.0, 4.0}) whole.append(std::vector<Index>{1, 0}, rating);
  const auto model = complete(context, share_of(whole, context), {.factors = 1, .max_epochs = 1});
  EXPECT_EQ(model.mean(), 4);  // the later one
  EXPECT_EQ(model.num_ratings(), 1);
  const std::string sentence = "1 rating was repeated by a later line, and dropped";
  EXPECT_EQ(told, std::vector<std::string>(context.comm().rank() == 0 ? 1 : 0, sentence));
}

// [option at fault, sentence]
std::pair<std::string, std::string> fault_of(const SparseTensor<double>& whole,
                                             const CompleteOptions& options) {
  const Context context(Comm::world());
  try {
    complete(context, share_of(whole, context), options);
  } catch (const Error& error) {
    return {error.option(), error.what()};
  }
  return {};
}

TEST(Complete, NamesTheOptionAtFault) {
  using Fault = std::pair<std::string, std::string>;
  const auto x = test::structured_ratings(5, 4, 12, 11);
  EXPECT_EQ(fault_of(x, {.factors = 0}), Fault("factors", "factors 0: expected a number from 1 to 100000"));
  EXPECT_EQ(fault_of(x, {.max_epochs = -1}), Fault("max_epochs", "max_epochs -1: expected 0 or more"));
  EXPECT_EQ(fault_of(x, {.learning_rate = 0.0}),
            Fault("learning_rate", "learning_rate 0: expected more than 0"));
  EXPECT_EQ(fault_of(x, {.decay = 0.5}), Fault("decay", "decay requires schedule inverse"));
  EXPECT_EQ(fault_of(x, {.shrinkage = NAN}), Fault("shrinkage", "shrinkage nan: expected 0 or more"));
  EXPECT_EQ(fault_of(x, {.test = {.kind = TestRatings::Kind::fraction, .fraction = 1}}),
            Fault("test", "test 1: expected a share between 0 and 1, as in 0.1"));
  EXPECT_EQ(fault_of(x, {.test = {.kind = TestRatings::Kind::tensor}}),
            Fault("test", "test: expected a tensor with the dims of the ratings, 5 x 4"));
  const int processes = Comm::world().size();
  EXPECT_EQ(fault_of(x, {.sync = processes + 1}),
            Fault("sync", "sync " + std::to_string(processes + 1) +
                              ": expected sync_auto, sync_max, or a number from 1 to that of processes, " +
                              std::to_string(processes)));
  EXPECT_EQ(fault_of(x, {.partition = RatingPartition::file}),
            Fault("partition_file", "partition_file: a file is named if and only if it holds the partition"));
  EXPECT_EQ(fault_of(x, {.partition_file = "parts"}),
            Fault("partition_file", "partition_file: a file is named if and only if it holds the partition"));
  EXPECT_EQ(fault_of(x, {.test = {.fraction = 0.3}}),
            Fault("test.fraction", "test.fraction 0.3 has no effect: test.kind is not fraction"));
  EXPECT_EQ(fault_of(x, {.schedule = StepSchedule::Kind(9)}),
            Fault("schedule", "schedule 9: expected a value of its enum"));
  EXPECT_EQ(fault_of(x, {.cache = "folder"}), Fault("cache", "cache requires partition hypergraph"));
  EXPECT_EQ(fault_of(x, {.max_memory_bytes = 1000}).first, "max_memory_bytes");
}

TEST(Complete, RefusesWhatIsNoRatings) {
  using Fault = std::pair<std::string, std::string>;
  EXPECT_EQ(fault_of(SparseTensor<double>({3, 2}), {}), Fault("", "has no ratings"));
  EXPECT_EQ(fault_of(SparseTensor<double>({3, 2, 4}), {}),
            Fault("columns",
                  "has 3 modes; ratings have two, users and items (columns picks them from a csv); cpd with "
                  "DecomposeOptions::missing or implicit takes any number of modes"));
  SparseTensor<double> one({3, 2});
  one.append(std::vector<Index>{2, 1}, 4);
  EXPECT_EQ(fault_of(one, {}), Fault());
  EXPECT_EQ(fault_of(one, {.test = {.kind = TestRatings::Kind::fraction, .fraction = 0.999999}}),
            Fault("test", "test leaves no rating to learn from"));
}

TEST(Complete, KnowsBeforeTrainingWhatCannotBeSaved) {
  const Context context(Comm::world());
  const test::TemporaryFolder folder;
  const auto place = test::shared(context.comm(), folder / "model");
  const auto whole = test::structured_ratings(5, 4, 12, 12);
  auto x = make_tensor(test::share_of(whole, context.comm()), {{"who", {"ann", "bob"}}, {}});
  try {
    check_output(context, x, CompleteOptions{}, place);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "has 5 users but 2 names for them: a model cannot be kept");
  }
  x.labels[0].labels.clear();
  check_output(context, x, CompleteOptions{}, place);
  context.comm().barrier();
}

}  // namespace
}  // namespace polyad
