#include "polyad/tasks/decompose.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <thread>

#include "polyad/io/models/kruskal.hpp"
#include "polyad/tasks/load.hpp"
#include "polyad/tasks/save.hpp"
#include "tests/support/distributed_cases.hpp"
#include "tests/support/factor_problem.hpp"
#include "tests/support/shares.hpp"
#include "tests/support/temporary_folder.hpp"

namespace polyad {
namespace {

constexpr double rounding = 1e-9, squared_rounding = 1e-13;

DecomposeOptions ten_iterations(Index rank) {
  return {.rank = rank, .max_iterations = 10, .tolerance = 0};
}

SparseTensor<double> whole_tensor(const test::DistributedCase& c) {
  return test::tame_tensor(c.extents, c.num_nonzeros, 3, c.heavy);
}

// Whatever way the tensor is distributed, one process without distribution gives the same model.
TEST(Decompose, EqualsOneProcess) {
  const Context context(Comm::world());
  for (const auto& c : test::distributed_cases()) {
    const auto x = whole_tensor(c);
    const auto expected = test::decompose(x, test::options_for(c.num_components, 10));
    const auto model =
        decompose(context, make_tensor(test::share_of(x, context.comm())), ten_iterations(c.num_components));
    ASSERT_EQ(model.dims(), c.extents);
    ASSERT_EQ(model.rank(), c.num_components);
    ASSERT_EQ(model.fits().size(), expected.fits.size());
    // Sums of squares are equal up to rounding, of which a fit near 1 is the root.
    const auto squared_error = [](double fit) { return (1 - fit) * (1 - fit); };
    for (std::size_t i = 0; i < expected.fits.size(); ++i)
      EXPECT_NEAR(squared_error(model.fits()[i]), squared_error(expected.fits[i]), squared_rounding);
    for (int m = 0; m < x.order(); ++m) {
      const auto factor = model.factor(m);  // on every process, with a row for every index
      ASSERT_EQ(factor.num_rows(), x.extent(m));
      for (Index i = 0; i < std::ssize(factor.flat()); ++i)
        EXPECT_NEAR(factor.flat()[i], expected.model.factors[m].flat()[i], 1e-6);
    }
  }
}

TEST(Decompose, HandsOutFactorsInBlocks) {
  const Context context(Comm::world());
  const auto x = test::tame_tensor({3000, 5, 900}, 150, 5);
  const auto model = decompose(context, make_tensor(test::share_of(x, context.comm())), ten_iterations(3));
  const auto whole = model.factor(0);
  Index next = 0;
  model.read_factor(0, [&](Index first, const Matrix<double>& rows) {
    EXPECT_EQ(first, next);
    for (Index i = 0; i < rows.num_rows(); ++i)
      for (Index r = 0; r < 3; ++r) EXPECT_EQ(rows.row(i)[r], whole.row(first + i)[r]);
    next += rows.num_rows();
  });
  EXPECT_EQ(next, context.comm().rank() == 0 ? 3000 : 0);
}

TEST(Decompose, SavesWhatItHas) {
  const Context context(Comm::world());
  const auto x = test::tame_tensor({20, 15, 10}, 300, 7);
  const auto model = decompose(context, make_tensor(test::share_of(x, context.comm())), ten_iterations(4));
  const test::TemporaryFolder folder;  // only that of process 0 is used
  save(context, model, folder / "x.ktensor");
  const auto factor = model.factor(1);
  if (context.comm().rank() != 0) return;
  const auto saved = io::read_kruskal(folder / "x.ktensor");
  EXPECT_EQ(saved.weights, model.weights());
  EXPECT_EQ(saved.factors[1], factor);
}

TEST(Decompose, IsStoppedByTheObserver) {
  const Context context(Comm::world());
  const auto x = test::tame_tensor({20, 15, 10}, 300, 7);
  auto options = ten_iterations(4);
  options.observer = [](const CpProgress& progress) { return progress.iteration < 3; };
  const auto model = decompose(context, make_tensor(test::share_of(x, context.comm())), options);
  EXPECT_EQ(model.fits().size(), 3);
  EXPECT_EQ(model.stop_reason(), StopReason::observer);
}

TEST(Decompose, IsStoppedByTheObserverOfAnyProcess) {
  const Context context(Comm::world());
  const auto x = test::tame_tensor({20, 15, 10}, 300, 7);
  const bool is_last = context.comm().rank() == context.comm().size() - 1;
  auto options = ten_iterations(4);
  options.observer = [&](const CpProgress& progress) { return !is_last || progress.iteration < 3; };
  const auto model = decompose(context, make_tensor(test::share_of(x, context.comm())), options);
  EXPECT_EQ(model.fits().size(), 3);
  options.observer = [&](const CpProgress&) -> bool {
    if (is_last) throw Error(Errc::bad_input, "enough");
    return true;
  };
  EXPECT_THROW(decompose(context, make_tensor(test::share_of(x, context.comm())), options), Error);
}

TEST(Decompose, CallsNoCallbackAfterAnError) {
  std::atomic<bool> has_ended = false, is_late = false;
  const Context context(Comm::world(), {.on_progress = [&](const ProgressState&) {
                          if (has_ended) is_late = true;
                        }});
  const auto x = test::tame_tensor({20, 15, 10}, 300, 7);
  auto options = ten_iterations(4);
  options.observer = [](const CpProgress&) -> bool { throw Error(Errc::bad_input, "enough"); };
  EXPECT_THROW(decompose(context, make_tensor(test::share_of(x, context.comm())), options), Error);
  has_ended = true;
  std::this_thread::sleep_for(std::chrono::milliseconds(300));  // it is called every 0.1 s
  EXPECT_FALSE(is_late);
}

std::string fault_of_making(const SparseTensor<double>& x, const std::vector<ModeLabels>& labels = {}) {
  try {
    make_tensor(x, labels);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::bad_input);
    return error.what();
  }
  return "none";
}

std::vector<double> fits_of(const Context& context, const SparseTensor<double>& x,
                            const DecomposeOptions& options) {
  return decompose(context, make_tensor(test::share_of(x, context.comm())), options).fits();
}

TEST(Decompose, ChoosesTheStartByMethodAndSigns) {
  const Context context(Comm::world());
  auto positive = test::tame_tensor({9, 8, 7}, 200, 11);
  for (double& value : positive.values()) value = std::abs(value);
  auto mostly_positive = positive, signed_values = positive;
  for (Index i = 0; i < positive.num_nonzeros() / 20; ++i) mostly_positive.values()[i] *= -1;
  for (Index i = 0; i < positive.num_nonzeros() / 2; ++i) signed_values.values()[i] *= -1;
  const auto is_uniform = [&](const SparseTensor<double>& x, DecomposeOptions options) {
    options.max_iterations = 3;
    const auto automatic = fits_of(context, x, options);
    options.start = Start::uniform;
    const auto uniform = fits_of(context, x, options);
    options.start = Start::normal;
    const auto normal = fits_of(context, x, options);
    EXPECT_NE(uniform, normal);
    EXPECT_TRUE(automatic == uniform || automatic == normal);
    return automatic == uniform;
  };
  EXPECT_TRUE(is_uniform(positive, {.rank = 3}));
  EXPECT_TRUE(is_uniform(mostly_positive, {.rank = 3}));
  EXPECT_FALSE(is_uniform(signed_values, {.rank = 3}));
  EXPECT_FALSE(is_uniform(positive, {.rank = 3, .nonnegative_modes = {1}}));
  EXPECT_FALSE(is_uniform(positive, {.rank = 3, .method = Method::opt}));
}

TEST(Decompose, KeepsTheBestOfSeveralStarts) {
  const Context context(Comm::world());
  for (const auto method : {Method::als, Method::opt})
    for (const std::uint64_t seed : {1, 2, 3, 4}) {
      const auto x = test::tame_tensor({12, 10, 8}, 200, 13 + seed);
      DecomposeOptions options{.rank = 4, .method = method, .seed = seed};
      std::vector<std::vector<double>> single;
      for (int start = 0; start < 3; ++start) {
        single.push_back(fits_of(context, x, options));
        ++options.seed;
      }
      const auto best = *std::ranges::max_element(single, {}, [](const auto& fits) { return fits.back(); });
      options.seed = seed;
      options.num_starts = 3;
      std::vector<int> starts;
      options.observer = [&](const CpProgress& progress) {
        if (progress.iteration == 1) starts.push_back(progress.start);
        return true;
      };
      EXPECT_EQ(fits_of(context, x, options), best);
      EXPECT_EQ(starts, std::vector({1, 2, 3}));
    }
}

// However the tensor is distributed, the iterations of two runs are those of one.
TEST(Decompose, ContinuesFromAModel) {
  const Context context(Comm::world());
  for (const auto& c : test::distributed_cases()) {
    const auto x = whole_tensor(c);
    const auto share = [&] { return make_tensor(test::share_of(x, context.comm())); };
    auto options = ten_iterations(c.num_components);
    const auto whole = decompose(context, share(), options);
    options.max_iterations = 4;
    const auto first = decompose(context, share(), options);
    const bool has_all = std::ranges::all_of(first.weights(), [](double weight) { return weight > 0; });
    options.start_model = first;
    options.max_iterations = 6;
    const auto then = decompose(context, share(), options);
    ASSERT_EQ(then.fits().size(), 6U);
    for (std::size_t i = 0; has_all && i < 6; ++i)
      EXPECT_NEAR(then.fits()[i], whole.fits()[4 + i], 1e-6) << c.num_components;
  }
}

TEST(Decompose, ContinuesWithTheOtherMethodAndWithMoreComponents) {
  const Context context(Comm::world());
  const auto x = test::tame_tensor({12, 10, 8}, 200, 5);
  const auto share = [&] { return make_tensor(test::share_of(x, context.comm())); };
  const auto model = decompose(context, share(), ten_iterations(3));
  DecomposeOptions options{.rank = 3, .method = Method::opt, .max_iterations = 3, .start_model = model};
  EXPECT_GE(decompose(context, share(), options).fits().front(), model.fit() - 1e-9);
  options = {.rank = 5, .max_iterations = 30, .start_model = model};
  EXPECT_GT(decompose(context, share(), options).fit(), model.fit());
  options.rank = 2;
  EXPECT_THROW(decompose(context, share(), options), Error);
  options = {.rank = 3, .start_model = model, .num_starts = 2};
  EXPECT_THROW(decompose(context, share(), options), Error);
}

TEST(Decompose, StopsAllStarts) {
  const Context context(Comm::world());
  const auto x = test::tame_tensor({20, 15, 10}, 300, 7);
  auto options = ten_iterations(4);
  options.num_starts = 5;
  int num_calls = 0;
  options.observer = [&](const CpProgress& progress) {
    ++num_calls;
    return progress.start < 2 || progress.iteration < 3;
  };
  decompose(context, make_tensor(test::share_of(x, context.comm())), options);
  EXPECT_EQ(num_calls, 13);
}

TEST(MakeTensor, RefusesWhatIsNoTensor) {
  SparseTensor<double> x({3, 4});
  EXPECT_EQ(fault_of_making(x), "none");
  x.append(std::vector<Index>{2, 3}, 1);
  EXPECT_EQ(fault_of_making(x), "none");
  EXPECT_EQ(fault_of_making(x, {{"a", {"x", "y\nz"}}, {}}), "label 1 of mode 0 has a line break");
  EXPECT_EQ(fault_of_making(x, {{}}), "expected labels of 2 modes or of none, found 1");
  EXPECT_EQ(fault_of_making(x, {{"a", {"1", "2", "3", "4"}}, {}}), "mode 0 has 4 labels and the dimension 3");
  for (const Index wrong : {-1, 4}) {
    auto y = x;
    y.indices(1)[0] = wrong;
    EXPECT_EQ(fault_of_making(y),
              "nonzero 0 has index " + std::to_string(wrong) +
                  " in mode 1, which has the dimension 4; modes and indices count from 0");
  }
  x.values()[0] = NAN;
  EXPECT_EQ(fault_of_making(x), "nonzero 0 has a value that is not finite: nan");
  EXPECT_EQ(fault_of_making(SparseTensor<double>({3})), "a tensor of order 1: expected 2 to 16");
}

TEST(Decompose, RefusesTensorsThatWereMovedFrom) {
  const Context context(Comm::world());
  auto x = make_tensor(test::share_of(test::tame_tensor({20, 15, 10}, 300, 7), context.comm()));
  const auto model = decompose(context, std::move(x), ten_iterations(4));
  try {
    decompose(context, std::move(x), ten_iterations(4));  // NOLINT(bugprone-use-after-move)
    ADD_FAILURE() << "decomposed nothing";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "a tensor of order 0: expected 2 to 16; it may have been moved from");
  }
  for (const int mode : {-1, 3}) EXPECT_THROW(model.factor(mode), Error);
  for (const int threads : {-1, 100000})
    EXPECT_THROW(Context(Comm::world(), ContextOptions{.threads = threads}), Error);
}

TEST(Decompose, TellsProcessZeroOfDuplicates) {
  std::vector<std::string> told;
  const Context context(Comm::world(), {.on_message = [&](const Message& m) { told.push_back(m.text); }});
  SparseTensor<double> x({2, 2, 2});
  for (int twice = 0; twice < 2; ++twice) x.append(std::vector<Index>{1, 0, 1}, 2);
  decompose(context, make_tensor(test::share_of(x, context.comm())), ten_iterations(1));
  if (context.comm().rank() == 0)
    EXPECT_EQ(told, std::vector<std::string>{"1 duplicate coordinate was added up"});
  else
    EXPECT_TRUE(told.empty());
}

// [option at fault, sentence]
std::pair<std::string, std::string> fault_of(const DecomposeOptions& options) {
  const Context context(Comm::world());
  const auto x = test::tame_tensor({4, 3, 2}, 10, 1);
  try {
    decompose(context, make_tensor(test::share_of(x, context.comm())), options);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::bad_option);
    return {error.option(), error.what()};
  }
  return {};
}

TEST(Decompose, NamesTheOptionAtFault) {
  using Fault = std::pair<std::string, std::string>;
  EXPECT_EQ(fault_of({}), Fault("rank", "rank 0: expected a number from 1 to 100000"));
  EXPECT_EQ(fault_of({.rank = 2, .tolerance = -1}), Fault("tolerance", "tolerance -1: expected 0 or more"));
  for (const int starts : {0, -1, 1001})
    EXPECT_EQ(
        fault_of({.rank = 2, .num_starts = starts}),
        Fault("num_starts", "num_starts " + std::to_string(starts) + ": expected a number from 1 to 1000"));
  EXPECT_EQ(fault_of({.rank = 2, .start = Start(99)}).first, "start");
  EXPECT_EQ(fault_of({.rank = 2, .method = Method::opt, .nonnegative = true}),
            Fault("nonnegative", "nonnegative requires method als"));
  EXPECT_EQ(
      fault_of({.rank = 2, .nonnegative_modes = {3}}),
      Fault("nonnegative_modes", "nonnegative_modes: mode 3 does not exist; the 3 modes are counted from 0"));
  EXPECT_EQ(fault_of({.rank = 2, .mode_order = {0, 0, 1}}),
            Fault("mode_order", "mode_order: expected each of the 3 modes once"));
  EXPECT_EQ(fault_of({.rank = 2, .distribution = {.scheme = Scheme::coarse, .row_rule = RowRule::random}}),
            Fault("row_rule", "row_rule random is for scheme fine"));
}

TEST(Load, ReadsOnAllProcesses) {
  const Context context(Comm::world());
  const std::filesystem::path data(std::getenv("POLYAD_TEST_DATA"));
  const auto x = load(context, data / ".." / ".." / "data" / "debian.tns.gz");
  EXPECT_EQ(x.tensor.extents(), (std::vector<Index>{368, 13905, 58, 8}));
  EXPECT_EQ(context.comm().all_reduce(x.tensor.num_nonzeros()), 56587);
  EXPECT_EQ(x.labels[2].name, "section");
  EXPECT_THROW(load(context, data / "there-is-none.tns"), Error);
}

}  // namespace
}  // namespace polyad
