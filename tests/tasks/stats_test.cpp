#include "polyad/tasks/stats.hpp"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "polyad/tasks/load.hpp"
#include "tests/support/factor_problem.hpp"
#include "tests/support/shares.hpp"

namespace polyad {
namespace {

// Duplicates, an empty slice, a stored zero.
SparseTensor<double> odd_tensor() {
  SparseTensor<double> x({3, 2, 5});
  x.append(std::vector<Index>{0, 0, 0}, 1.5);
  x.append(std::vector<Index>{2, 1, 4}, -2);
  x.append(std::vector<Index>{0, 0, 0}, 2.5);
  x.append(std::vector<Index>{2, 0, 4}, 0);
  return x;
}

// By a map of coordinates, as the definition says it.
void expect_statistics(const SparseTensor<double>& x, const TensorStatistics& statistics) {
  std::map<std::vector<Index>, double> cells;
  for (Index z = 0; z < x.num_nonzeros(); ++z) {
    std::vector<Index> at;
    for (int m = 0; m < x.order(); ++m) at.push_back(x.indices(m)[z]);
    cells[at] += x.values()[z];
  }
  EXPECT_EQ(statistics.dims, x.extents());
  EXPECT_EQ(statistics.num_nonzeros, Index(cells.size()));
  EXPECT_EQ(statistics.num_duplicates, x.num_nonzeros() - Index(cells.size()));
  double squares = 0;
  Index zeros = 0;
  for (const auto& [at, value] : cells) {
    squares += value * value;
    zeros += value == 0 ? 1 : 0;
  }
  EXPECT_NEAR(statistics.norm, std::sqrt(squares), 1e-12 * std::sqrt(squares));
  EXPECT_EQ(statistics.num_zeros, zeros);
  for (int m = 0; m < x.order(); ++m) {
    std::map<Index, Index> slices;
    for (const auto& [at, value] : cells) ++slices[at[std::size_t(m)]];
    EXPECT_EQ(statistics.modes[m].nonempty, Index(slices.size()));
    Index largest = 0;
    for (const auto& [index, count] : slices) largest = std::max(largest, count);
    EXPECT_EQ(statistics.modes[m].max, largest);
  }
}

TEST(Stats, CountsTheWholeTensorOnAllProcesses) {
  std::vector<std::string> told;
  const Context context(Comm::world(), {.on_message = [&](const Message& m) { told.push_back(m.text); }});
  const auto odd = odd_tensor();
  const auto result = stats(context, make_tensor(test::share_of(odd, context.comm())));
  expect_statistics(odd, result.statistics());
  EXPECT_EQ(told.size(), context.comm().rank() == 0 ? 1 : 0);
  if (!told.empty()) {
    EXPECT_EQ(told[0], "1 duplicate coordinate was added up");
  }
  const auto tame = test::tame_tensor({30, 20, 11, 4}, 700, 3);
  expect_statistics(tame, stats(context, make_tensor(test::share_of(tame, context.comm()))).statistics());
  const SparseTensor<double> empty({4, 3});
  expect_statistics(empty, stats(context, make_tensor(empty)).statistics());
}

TEST(Stats, SaysTheSameAsTextAndJson) {
  const Context context(Comm::world());
  const auto result = stats(context, make_tensor(test::share_of(odd_tensor(), context.comm())));
  EXPECT_TRUE(result.summary().starts_with("3x2x5 tensor of order 3, 3 nonzeros")) << result.summary();
  const auto json = nlohmann::json::parse(result.json());
  EXPECT_EQ(json["nnz"], 3);
  EXPECT_EQ(json["processes"], context.comm().size());
  EXPECT_FALSE(json.contains("format"));  // it is from no file
  EXPECT_FALSE(json.contains("suggested"));
  EXPECT_TRUE(result.formats().empty());
}

TEST(Stats, PredictsFormatsOnOneProcess) {
  const auto context = Context::serial();
  const auto x = test::tame_tensor({30, 20, 11}, 700, 3);
  const auto result = stats(context, make_tensor(x), {.formats = true, .rank = 4});
  ASSERT_EQ(result.formats().size(), all_storage_formats().size() - 1);
  for (const auto& format : result.formats()) {
    EXPECT_NE(format.format, StorageFormat::automatic);
    EXPECT_GT(format.seconds_per_iteration, 0);
    EXPECT_GT(format.format_bytes, 0);
    EXPECT_GE(format.peak_memory_bytes, format.format_bytes);
  }
  const auto json = nlohmann::json::parse(result.json());
  EXPECT_EQ(json["suggested"], to_string(result.suggested_format()));
  EXPECT_EQ(json["components"], 4);
}

std::string refusal(const Context& context, const StatsOptions& options) {
  try {
    stats(context, make_tensor(SparseTensor<double>({2, 2})), options);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::bad_option);
    return error.option() + ": " + error.what();
  }
  return "";
}

TEST(Stats, NamesTheOptionAtFault) {
  const Context context(Comm::world());
  EXPECT_EQ(refusal(context, {.rank = 0}), "rank: rank 0: expected a number from 1 to 100000");
  const int size = context.comm().size();
  if (size > 1) {
    EXPECT_EQ(refusal(context, {.formats = true}),
              "formats: stats with formats runs on one process; the context has " + std::to_string(size));
  }
}

}  // namespace
}  // namespace polyad
