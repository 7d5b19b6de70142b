// Errors and messages of tasks name fields of options structs, and never options of the command line.
#include <gtest/gtest.h>

#include <functional>
#include <utility>

#include "polyad/polyad.hpp"
#include "tests/support/temporary_folder.hpp"

namespace polyad {
namespace {

struct Fault {
  Errc code = Errc::internal;
  std::string option, text;
  friend bool operator==(const Fault&, const Fault&) = default;
};
std::ostream& operator<<(std::ostream& out, const Fault& fault) {
  return out << int(fault.code) << " [" << fault.option << "] " << fault.text;
}

Fault fault_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return {error.code(), error.option(), error.what()};
  }
  return {Errc::internal, "", "accepted"};
}

Fault bad_option(const std::string& option, const std::string& text) {
  return {Errc::bad_option, option, text};
}

class OptionFaults : public testing::Test {
 protected:
  std::string tensor() { return folder_.write("x.tns", "1 1 1 1\n2 3 1 2\n2 1 4 3\n").string(); }
  Fault load_fault(const std::string& path, const LoadOptions& options) {
    return fault_of([&] { load(context_, path, options); });
  }

  test::TemporaryFolder folder_;
  Context context_ = Context::serial();
};

TEST_F(OptionFaults, OfLoading) {
  const auto x = tensor();
  EXPECT_EQ(load_fault(x, {.index_base = 2}), bad_option("index_base", "index_base 2: expected 0 or 1"));
  EXPECT_EQ(load_fault(x, {.dims = {2, -3, 4}}),
            bad_option("dims", "dims 2x-3x4: expected numbers from 1 on"));
  EXPECT_EQ(load_fault(x, {.value = "v"}), bad_option("value", "value requires columns"));
  EXPECT_EQ(load_fault(x, {.dims = {1, 3, 4}}),
            (Fault{Errc::bad_input, "dims",
                   x + ":2: index '2' of mode 1 is beyond the dimension 1 that dims states"}));
  EXPECT_EQ(load_fault(x, {.format = io::TensorFormat::ptb}),
            (Fault{Errc::bad_input, "LoadOptions::format",
                   x + ": is a text, not ptb as LoadOptions::format says"}));
  const auto csv = folder_.write("x.csv", "a,b,c\n1,2,3\n").string();
  EXPECT_EQ(load_fault(csv, {.columns = "a,b,d"}),
            bad_option("columns", csv + ": has no column 'd'; its columns are 'a', 'b', 'c'"));
  const auto parquet = folder_.write("x.parquet", std::string("PAR1\0\0\1", 7)).string();
  EXPECT_EQ(load_fault(parquet, {}), (Fault{Errc::bad_input, "columns",
                                            parquet + ": is a Parquet file, which is read where Polyad was "
                                                      "built with Apache Arrow; write it as csv first, "
                                                      "and name the columns by columns"}));
}

TEST_F(OptionFaults, OfFilesThatExist) {
  const auto x = tensor();
  EXPECT_EQ(fault_of([&] { convert(context_, x, x + ".ptb"), convert(context_, x, x + ".ptb"); }),
            bad_option("existing", x + ".ptb: exists already; existing=replaced replaces it"));
}

TEST_F(OptionFaults, OfGenerating) {
  const auto fault = [&](const auto& options) { return fault_of([&] { generate(context_, options); }); };
  EXPECT_EQ(
      fault(SkewedOptions{.dims = {3, 4}, .num_nonzeros = 13}),
      bad_option("num_nonzeros", "13 nonzeros are asked for, but a tensor of 3 x 4 has only 12 coordinates"));
  EXPECT_EQ(fault(SkewedOptions{.dims = {3, 0}}),
            bad_option("dims", "each dimension must be between 1 and 2^62"));
  EXPECT_EQ(fault(PlantedOptions{.dims = {3, 4}, .num_nonzeros = 5, .noise = -1}),
            bad_option("noise", "the noise must be 0 or more"));
  EXPECT_EQ(fault(RatingsOptions{.num_users = 0, .num_items = 4, .num_ratings = 1}),
            bad_option("num_users", "each dimension must be between 1 and 2^62"));
  EXPECT_EQ(fault(RatingsOptions{.num_users = 3, .num_items = 4, .num_ratings = 1, .test_fraction = 2}),
            bad_option("test_fraction", "the fraction held out must be between 0 and 1"));
}

TEST_F(OptionFaults, OfDenseTensors) {
  EXPECT_EQ(fault_of([&] {
              make_dense(context_, {2, 3}, {2, 1});
            }),
            bad_option("grid", "grid 2x1 has 2 processes, but 1 runs"));
  EXPECT_EQ(fault_of([&] {
              make_dense(context_, {2, 3}, {1, 0});
            }),
            bad_option("grid", "grid 1x0: every dimension must be at least 1"));
}

TEST_F(OptionFaults, OfDecomposing) {
  const auto x = load(context_, tensor());
  const auto fault = [&](const DecomposeOptions& options) {
    return fault_of([&] { decompose(context_, x, options); });
  };
  EXPECT_EQ(
      fault({.rank = 2, .max_memory_bytes = -1}),
      bad_option("max_memory_bytes", "max_memory_bytes -1: expected a number of bytes, or 0 for no limit"));
  EXPECT_EQ(fault({.rank = 2, .method = Method(7)}),
            bad_option("method", "method 7: expected a value of its enum"));
  EXPECT_EQ(fault({.rank = 2, .format = StorageFormat(-1)}),
            bad_option("format", "format -1: expected a value of its enum"));
  EXPECT_EQ(
      fault({.rank = 2, .distribution = {.partition_file = "parts"}}),
      bad_option("partition_file", "partition_file: a file is named if and only if it holds the partition"));
}

TEST_F(OptionFaults, OfPartitioning) {
  const auto x = load(context_, tensor());
  EXPECT_EQ(fault_of([&] { partition(context_, x, {.rho = 3}); }),
            bad_option("rho", "rho requires metric lambda2"));
  EXPECT_EQ(fault_of([] { validate_for_hypergraph({.model = PartitionModel::coarse}); }),
            bad_option("model", "model applies to tensors; the input is a hypergraph"));
}

// Notes that stay with the tensor, and faults that check finds, name fields too.
TEST_F(OptionFaults, NotesNameFields) {
  std::vector<std::string> messages;
  const Context context =
      Context::serial({.on_message = [&](const Message& m) { messages.push_back(m.text); }});
  const auto u_data = folder_.write("u.data", "1\t2\t3\t881250949\n2\t2\t4\t891717742\n");
  const auto note =
      std::string("read as MovieLens u.data (user, item, rating, time); LoadOptions::format tns ") +
      "reads it as a tensor of order 3";
  EXPECT_EQ(load(context, u_data).notes, std::vector{note});
  EXPECT_EQ(messages, std::vector{u_data.string() + ": " + note});
  const auto found = check(context, tensor(), {.load = {.dims = {1, 3, 4}}});
  ASSERT_EQ(found.faults().size(), 2);
  EXPECT_EQ(found.faults()[0].message, "index '2' of mode 1 is beyond the dimension 1 that dims states");
}

TEST_F(OptionFaults, WhatWasMovedFromCanBeUsed) {
  auto model = decompose(context_, load(context_, tensor()), {.rank = 2, .max_iterations = 2});
  const auto moved = std::move(model);
  EXPECT_EQ(model.rank(), 2);  // NOLINT(bugprone-use-after-move): allowed
  const auto context = std::move(context_);
  EXPECT_EQ(load(context_, tensor()).tensor.order(), 3);  // NOLINT(bugprone-use-after-move): allowed
}

// A limit counts what a task takes, and not what earlier tasks of the program took.
TEST_F(OptionFaults, ASecondTaskIsNotRefusedForTheFirst) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the address sanitizer keeps memory that was freed, so that the process does hold it";
#endif
  const auto small = tensor();
  {
    const auto large = generate(context_, SkewedOptions{.dims = {3000, 3000, 3000}, .num_nonzeros = 3000000});
    ASSERT_EQ(stats(context_, large).statistics().num_nonzeros, 3000000);
  }
  const Index peak = decompose(context_, load(context_, small), {.rank = 1}).peak_memory_bytes();
  const auto model = decompose(context_, load(context_, small),
                               {.rank = 2, .max_iterations = 3, .max_memory_bytes = peak / 2});
  EXPECT_EQ(model.rank(), 2);
}

}  // namespace
}  // namespace polyad
