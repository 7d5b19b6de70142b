#include "polyad/tasks/every_process.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "polyad/tasks/complete.hpp"
#include "polyad/tasks/decompose.hpp"
#include "polyad/tasks/rank.hpp"
#include "polyad/tasks/recommend.hpp"
#include "polyad/tensor/generate/generate.hpp"
#include "tests/support/completed.hpp"
#include "tests/support/shares.hpp"

namespace polyad {
namespace {

SparseTensor<double> noisy_tensor(std::vector<Index> dims, Index num_nonzeros, std::uint64_t seed) {
  return generate_planted({.dims = std::move(dims),
                           .num_nonzeros = num_nonzeros,
                           .num_components = 2,
                           .noise = 0.3,
                           .seed = seed})
      .tensor;
}

// The items of every list.
std::vector<std::vector<Index>> numbers_of(const std::vector<RecommendationList>& lists) {
  std::vector<std::vector<Index>> numbers;
  for (const auto& list : lists) {
    auto& items = numbers.emplace_back();
    for (const auto& one : list.items) items.push_back(one.item);
  }
  return numbers;
}

class EveryProcessTest : public testing::Test {
 protected:
  // What all processes have, with labels in the first mode.
  static Tensor whole_tensor(std::uint64_t seed) {
    const std::vector<Index> dims{9, 7, 5};
    std::vector<ModeLabels> labels(dims.size());
    labels[0].name = "who";
    for (Index i = 0; i < dims[0]; ++i) labels[0].labels.push_back("one " + std::to_string(i));
    return make_tensor(noisy_tensor(dims, 120, seed), labels);
  }

  Context context{Comm::world()};
  Context alone{Comm::self()};
};

TEST_F(EveryProcessTest, SharesAreTogetherTheTensor) {
  const auto whole = whole_tensor(1);
  const auto share = own_share(context, whole);
  EXPECT_EQ(share.labels[0].labels, whole.labels[0].labels);
  const auto counts = context.comm().all_gather(share.tensor.num_nonzeros());
  Index before = 0, total = 0;
  for (int r = 0; r < context.comm().size(); ++r) {
    if (r < context.comm().rank()) before += counts[std::size_t(r)];
    total += counts[std::size_t(r)];
  }
  EXPECT_EQ(total, whole.tensor.num_nonzeros());
  for (Index z = 0; z < share.tensor.num_nonzeros(); ++z) {
    EXPECT_EQ(share.tensor.values()[z], whole.tensor.values()[before + z]);
    for (int m = 0; m < 3; ++m) EXPECT_EQ(share.tensor.indices(m)[z], whole.tensor.indices(m)[before + z]);
  }
  check_shares(context, share);
}

TEST_F(EveryProcessTest, OtherTensorsAreRefusedByAll) {
  if (context.comm().size() == 1) GTEST_SKIP() << "one process has nobody to differ from";
  const bool is_last = context.comm().rank() == context.comm().size() - 1;
  EXPECT_THROW(own_share(context, whole_tensor(is_last ? 2 : 1)), Error);
  auto share = own_share(context, whole_tensor(1));
  if (is_last) share.labels[0].labels[0] = "another";
  EXPECT_THROW(check_shares(context, share), Error);
}

// Each process has the model of one process, and what it does with it needs no other.
TEST_F(EveryProcessTest, ModelsAreThoseOfOneProcess) {
  for (const auto method : {Method::als, Method::opt})
    for (const auto precision : {Precision::float64, Precision::float32}) {
      const auto whole = whole_tensor(3);
      const DecomposeOptions options{
          .rank = 3, .method = method, .max_iterations = 5, .tolerance = 0, .precision = precision};
      const auto expected = decompose(alone, whole, options);
      const auto model = on_every_process(decompose(context, own_share(context, whole), options));
      const double tolerance = precision == Precision::float64 ? 1e-10 : 1e-3;
      EXPECT_NEAR(model.fit(), expected.fit(), tolerance);
      if (context.comm().rank() != context.comm().size() - 1) continue;  // the others do not take part
      for (int mode = 0; mode < 3; ++mode) {
        const auto found = model.factor(mode), wanted = expected.factor(mode);
        for (Index i = 0; i < wanted.num_rows(); ++i)
          for (Index r = 0; r < 3; ++r) EXPECT_NEAR(found(i, r), wanted(i, r), tolerance);
      }
      EXPECT_EQ(model.labels()[0].labels, whole.labels[0].labels);
      EXPECT_FALSE(model.summary().empty());
      EXPECT_NE(model.component_table(2).find("one "), std::string::npos);
    }
}

TEST_F(EveryProcessTest, RecommendersAreWhole) {
  const Index users = 20, items = 15;
  const auto ratings = make_tensor(test::structured_ratings(users, items, 120, 4));
  const std::vector<CompleteOptions> kinds{{}, {.method = CompletionMethod::als}, {.implicit = true}};
  for (auto options : kinds) {
    options.factors = 3;
    options.max_epochs = 4;
    options.precision = Precision::float64;
    const auto shared = complete(context, own_share(context, ratings), options);
    const test::PlainModel expected(shared);
    const auto wanted = recommend(context, shared, {.users = {1, 2}, .top = 4}).lists();
    const auto model = on_every_process(shared);
    if (context.comm().rank() != context.comm().size() - 1) continue;
    const test::PlainModel found(model);
    for (Index user = 0; user < users; ++user)
      for (Index item = 0; item < items; ++item)
        EXPECT_NEAR(found.predict(user, item), expected.predict(user, item), 1e-12);
    EXPECT_EQ(model.num_ratings(), ratings.tensor.num_nonzeros());
    const auto lists = recommend(alone, model, {.users = {1, 2}, .top = 4}).lists();
    EXPECT_EQ(numbers_of(lists), numbers_of(wanted));
  }
}

// Starts are divided among processes; who does which changes nothing.
TEST_F(EveryProcessTest, RanksAreThoseOfOneProcess) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const auto whole = make_tensor(noisy_tensor({8, 7, 6}, 150, seed));
    const RankOptions options{
        .ranks = {1, 2, 3}, .num_starts = int(seed), .max_iterations = 15, .seed = seed};
    const auto expected = choose_rank(alone, whole, options);
    const auto found = choose_rank(context, own_share(context, whole), options);
    EXPECT_EQ(found.rank(), expected.rank());
    EXPECT_EQ(found.reason(), expected.reason());
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(found.evidence()[i].fits, expected.evidence()[i].fits);
      EXPECT_EQ(found.evidence()[i].known_fits, expected.evidence()[i].known_fits);
      EXPECT_EQ(found.evidence()[i].held_out_errors, expected.evidence()[i].held_out_errors);
      EXPECT_EQ(found.evidence()[i].iterations, expected.evidence()[i].iterations);
      EXPECT_EQ(found.evidence()[i].stability, expected.evidence()[i].stability);
      EXPECT_EQ(found.evidence()[i].core_consistency, expected.evidence()[i].core_consistency);
    }
  }
}

}  // namespace
}  // namespace polyad
