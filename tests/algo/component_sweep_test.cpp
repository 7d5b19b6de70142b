#include "polyad/algo/analysis/component_sweep.hpp"

#include <gtest/gtest.h>

#include "polyad/algo/analysis/held_out_fit.hpp"
#include "polyad/io/tensors/read_tensor.hpp"
#include "polyad/kernels/analysis/kruskal_values.hpp"
#include "polyad/tensor/generate/generate.hpp"
#include "polyad/tensor/sort.hpp"
#include "tests/support/decomposed.hpp"
#include "tests/support/dense_planted.hpp"
#include "tests/support/temporary_folder.hpp"

namespace polyad {
namespace {

using test::dense_tensor;
using test::random_model;

SparseTensor<double> sparse_planted(std::vector<Index> dims, Index num_components, double noise,
                                    std::uint64_t seed) {
  return generate_planted({.dims = std::move(dims),
                           .num_nonzeros = 6000,
                           .num_components = num_components,
                           .noise = noise,
                           .seed = seed})
      .tensor;
}

ComponentSweepOptions counts_up_to(Index most) {
  ComponentSweepOptions options;
  for (Index count = 1; count <= most; ++count) options.component_counts.push_back(count);
  return options;
}

// The tensors are small: one thread is fastest.
template <class Real = double>
ComponentSweepResult sweep(const SparseTensor<double>& x, const ComponentSweepOptions& options) {
  const test::Threads one(1);
  Progress silent;
  return sweep_components<Real>(Comm::self(), x, options, silent);
}

// One number of components after the other: all is as if each had been prepared alone.
TEST(TensorPreparer, builds_again_only_what_has_changed) {
  for (const std::string format : {"auto", "csf", "csf-all", "coo", "hicoo"}) {
    const auto x = test::tame_tensor({60, 9, 150}, 4000, 3, true);
    Progress silent;
    TensorPreparer<double> preparer(Comm::self(), [&] { return x; });
    std::vector<std::pair<Format, std::vector<std::vector<int>>>> built;
    int changes = 0;
    for (const Index count : {1, 2, 3, 5, 16, 37, 100, 2}) {
      auto options = test::options_for(count, 3);
      options.format = format;
      const auto& prepared = preparer.prepare(options, silent);

      const auto alone = prepare<double>(Comm::self(), x, options, silent);
      EXPECT_EQ(prepared.chosen.name, alone.chosen.name);
      EXPECT_EQ(prepared.chosen.plan.trees, alone.chosen.plan.trees);
      EXPECT_EQ(prepared.chosen.plan.mode_order, alone.chosen.plan.mode_order);
      EXPECT_EQ(prepared.chosen.peak_bytes(), alone.chosen.peak_bytes());
      EXPECT_EQ(cp_als<double>(prepared.tensor, prepared.chosen.plan, options.als).model,
                cp_als<double>(alone.tensor, alone.chosen.plan, options.als).model);
      const std::pair now{alone.chosen.format, alone.chosen.plan.trees};
      changes += built.empty() || built.back() != now ? 1 : 0;
      built.push_back(now);
    }
    EXPECT_EQ(preparer.num_builds(), changes) << format;
    if (format != "auto" && format != "csf") {
      EXPECT_EQ(preparer.num_builds(), 1) << format;
    }
  }
}

TEST(TrainingTensor, replaces_guesses_where_they_are) {
  const auto compacted = compact<double>(sparse_planted({40, 30, 20}, 3, 0.1, 2));
  const auto held_out = hold_out(compacted, natural_mode_order(3), 0.1, 1);
  Progress silent;
  TrainingTensor<double> training(Comm::self(), compacted, held_out);
  auto options = test::options_for(3, 5);
  options.format = "csf-all";
  training.prepare(options, silent);
  const auto* const values = &std::get<CsfTensor<double>>(training.tensor().local(0)).trees[0].values()[0];
  const double norm_before = training.tensor().squared_norm();

  training.set_guesses(Array<double>(held_out.cells.values().size(), 100.0));
  const double norm = training.tensor().squared_norm();
  options.als.num_components = 4;
  training.prepare(options, silent);

  EXPECT_EQ(training.num_builds(), 1);
  EXPECT_EQ(&std::get<CsfTensor<double>>(training.tensor().local(0)).trees[0].values()[0], values);
  EXPECT_GT(norm, norm_before);
  for (const auto& tree : std::get<CsfTensor<double>>(training.tensor().local(0)).trees)
    EXPECT_EQ(std::ranges::count(tree.values(), 100.0), held_out.cells.num_nonzeros());
  double squares = 0;
  for (const double value : std::get<CsfTensor<double>>(training.tensor().local(0)).trees[0].values())
    squares += value * value;
  EXPECT_NEAR(norm, squares, 1e-9 * squares);
}

template <class Real>
HeldOutFit<Real> fit_unseen(const CompactTensor<double>& x, const HeldOut& held_out,
                            const CpRunOptions& options) {
  const test::Threads one(1);
  Progress silent;
  TrainingTensor<Real> training(Comm::self(), x, held_out);
  training.prepare(options, silent);
  return fit_around<Real>(training, first_guesses(held_out), options.als);
}

template <class Real>
void expect_blind(const std::string& format) {
  const auto x = sparse_planted({40, 30, 20}, 3, 0.1, 2);
  const auto natural = natural_mode_order(3);
  auto compacted = compact<double>(x);
  const auto held_out = hold_out(compacted, natural, 0.1, 1);
  auto options = test::options_for(3, 40, 1e-6);
  options.format = format;
  const auto fit = fit_unseen<Real>(compacted, held_out, options);
  for (const Index z : held_out.nonzeros) compacted.tensor.values()[z] = double(z % 7) - 100;
  const auto other = hold_out(compacted, natural, 0.1, 1);

  const auto other_fit = fit_unseen<Real>(compacted, other, options);

  EXPECT_EQ(fit.model, other_fit.model) << format;
  EXPECT_EQ(fit.known_fit, other_fit.known_fit) << format;
  EXPECT_LT(fit.error, 0.3) << format;
  EXPECT_GT(other_fit.error, 0.8) << format;
}

TEST(HeldOutFit, does_not_see_the_held_out_values) {
  for (const auto& format : format_names()) expect_blind<double>(format);
  expect_blind<float>("auto");
}

TEST(HeldOutFit, predicts_a_tensor_without_noise) {
  for (const std::vector<Index>& dims : {std::vector<Index>{12, 11, 10}, {8, 7, 6, 7}}) {
    auto x = dense_tensor(dims, random_model(dims, 2, 3));
    for (const double unit : {1.0, 1e200}) {
      for (double& value : x.values()) value *= unit;
      const auto compacted = compact<double>(x);
      const auto held_out = hold_out(compacted, natural_mode_order(x.order()), 0.1, 1);
      const auto fit = fit_unseen<double>(compacted, held_out, test::options_for(2, 500, 1e-7));
      EXPECT_LT(fit.error, 0.01);
      EXPECT_GT(fit.known_fit, 0.99);
      EXPECT_LT(fit.iterations, 500);
    }
  }
}

TEST(HeldOutFit, says_the_fit_to_what_it_saw) {
  const std::vector<Index> dims{9, 8, 7};
  const auto x = dense_tensor(dims, random_model(dims, 3, 1), 0.1);
  const auto compacted = compact<double>(x);
  const auto held_out = hold_out(compacted, natural_mode_order(3), 0.2, 1);

  const auto fit = fit_unseen<double>(compacted, held_out, test::options_for(2, 15));

  double squares = 0, rest = 0;
  for (Index z = 0; z < x.num_nonzeros(); ++z) {
    if (std::ranges::binary_search(held_out.nonzeros, z)) continue;
    const double value = x.values()[z],
                 difference = value - kernels::ref::entry<double>(fit.model, test::coordinates(x, z));
    squares += value * value;
    rest += difference * difference;
  }
  EXPECT_NEAR(fit.known_fit, 1 - std::sqrt(rest / squares), 1e-9);
}

TEST(ComponentSweep, has_the_fits_of_the_decompositions_with_its_seeds) {
  const test::Threads one(1);
  const auto x = test::tame_tensor({30, 20, 10}, 900, 3);
  auto options = counts_up_to(3);
  options.decompose.als.seed = 5;

  const auto result = sweep(x, options);

  ASSERT_EQ(result.evidence.size(), 3U);
  for (const auto& evidence : result.evidence)
    for (std::size_t start = 0; start < 3; ++start)
      EXPECT_EQ(evidence.fits[start],
                test::decompose(x, test::options_for(evidence.num_components, 200, 1e-6, 5 + start)).fit());
}

TEST(ComponentSweep, gives_the_same_bits_when_it_runs_twice) {
  const auto x = test::tame_tensor({30, 20, 10}, 900, 3);
  const auto a = sweep(x, counts_up_to(4)), b = sweep(x, counts_up_to(4));
  for (std::size_t i = 0; i < a.evidence.size(); ++i) {
    EXPECT_EQ(a.evidence[i].fits, b.evidence[i].fits);
    EXPECT_EQ(a.evidence[i].held_out_errors, b.evidence[i].held_out_errors);
    EXPECT_EQ(a.evidence[i].core_consistency, b.evidence[i].core_consistency);
    EXPECT_EQ(a.evidence[i].stability, b.evidence[i].stability);
  }
  EXPECT_EQ(a.recommendation.reason, b.recommendation.reason);
}

Index count_of_least_error(const ComponentSweepResult& result) {
  return std::ranges::min_element(result.evidence, {}, [](const auto& e) { return *e.held_out_error(); })
      ->num_components;
}

// No number predicts much better than what was planted, and fewer predict worse.
void expect_best_near(Index planted, const ComponentSweepResult& result) {
  const double error = *result.evidence[planted - 1].held_out_error();
  EXPECT_LT(error, 1.03 * *result.evidence[count_of_least_error(result) - 1].held_out_error());
  for (Index fewer = 1; fewer < planted; ++fewer)
    EXPECT_GT(*result.evidence[fewer - 1].held_out_error(), 1.3 * error) << fewer;
}

TEST(ComponentSweep, predicts_best_at_or_near_what_was_planted) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const std::vector<Index> dims{14, 13, 12};
    expect_best_near(3, sweep(dense_tensor(dims, random_model(dims, 3, seed), 0.2, seed), counts_up_to(6)));
    expect_best_near(3, sweep(sparse_planted({60, 50, 40}, 3, 0.2, seed), counts_up_to(6)));
  }
}

TEST(ComponentSweep, recommends_what_was_planted_nearly_always) {
  int runs = 0, right = 0;
  for (std::uint64_t seed = 21; seed <= 22; ++seed)
    for (const double noise : {0.01, 0.05})
      for (const Index planted : {2, 3, 4, 5})
        for (const std::vector<Index>& dims : {std::vector<Index>{14, 13, 12}, {8, 7, 7, 6}}) {
          const auto dense = dense_tensor(dims, random_model(dims, planted, seed), noise, seed);
          std::vector<Index> longer;
          for (const Index dim : dims) longer.push_back(3 * dim);
          const auto sparse = sparse_planted(longer, planted, noise, seed);
          for (const auto* x : {&dense, &sparse}) {
            ++runs;
            right += sweep(*x, counts_up_to(planted + 2)).recommendation.num_components == planted ? 1 : 0;
          }
        }
  EXPECT_GE(right, runs - 4) << "of " << runs;
}

TEST(ComponentSweep, finds_three_amino_acids) {
  const auto file = test::shared_data() / "dense/aminoacid.sptensor.txt.gz";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << test::no_shared_data;

  const auto result = sweep(io::read_tensor(file).tensor, counts_up_to(5));

  EXPECT_EQ(result.recommendation.num_components, 3);
  EXPECT_GT(*result.evidence[2].core_consistency, 99);
  EXPECT_LT(*result.evidence[3].core_consistency, 0);
  EXPECT_GT(*result.evidence[2].stability, 0.99);
}

TEST(ComponentSweep, knows_matrices_by_prediction_alone) {
  const std::vector<Index> dims{40, 30};
  const auto x = dense_tensor(dims, random_model(dims, 3, 1), 0.05);
  EXPECT_EQ(sweep(x, counts_up_to(5)).recommendation.num_components, 3);
  auto blind = counts_up_to(3);
  blind.held_out = 0;
  EXPECT_EQ(sweep(x, blind).recommendation.num_components, std::nullopt);
}

TEST(ComponentSweep, has_no_held_out_error_where_nothing_can_be_predicted) {
  SparseTensor<double> zeros({3, 4, 5});
  zeros.append(std::vector<Index>{0, 1, 2}, 0);
  zeros.append(std::vector<Index>{2, 1, 2}, 0);
  const auto result = sweep(zeros, counts_up_to(2));
  for (const auto& evidence : result.evidence) EXPECT_EQ(evidence.held_out_error(), std::nullopt);
  EXPECT_GT(result.num_held_out_nonzeros, 0);
  auto options = counts_up_to(2);
  options.held_out = 0;
  EXPECT_TRUE(sweep(test::tame_tensor({5, 4, 3}, 30, 1), options).evidence[0].held_out_errors.empty());
  EXPECT_EQ(sweep(test::tame_tensor({5, 4, 3}, 30, 1), options).num_held_out_nonzeros, 0);
}

TEST(ComponentSweep, works_in_single_precision_and_without_negative_entries) {
  const auto x = sparse_planted({40, 30, 20}, 3, 0.05, 2);
  EXPECT_EQ(sweep<float>(x, counts_up_to(5)).recommendation.num_components, 3);
  auto options = counts_up_to(5);
  options.decompose.als.nonnegative.assign(3, true);
  EXPECT_EQ(sweep(x, options).recommendation.num_components, 3);
}

TEST(ComponentSweep, takes_small_tensors) {
  for (const auto& shape : test::problem_shapes()) {
    const auto x = test::tame_tensor(shape.extents, std::min<Index>(shape.num_nonzeros, 300), 1, shape.heavy);
    const auto result = sweep(x, counts_up_to(3));
    for (const auto& evidence : result.evidence) {
      for (const double fit : evidence.fits) EXPECT_TRUE(std::isfinite(fit));
      for (const double error : evidence.held_out_errors) EXPECT_TRUE(std::isfinite(error));
      EXPECT_TRUE(std::isfinite(evidence.core_consistency.value_or(0)));
      EXPECT_TRUE(std::isfinite(evidence.stability.value_or(0)));
    }
  }
}

TEST(ComponentSweep, tries_no_more_components_than_a_tensor_can_need) {
  EXPECT_EQ(usual_component_counts(std::vector<Index>{100, 50, 20}).size(), 8U);
  EXPECT_EQ(usual_component_counts(std::vector<Index>{100, 3}), (std::vector<Index>{1, 2, 3}));
  EXPECT_EQ(usual_component_counts(std::vector<Index>{2, 2, 2}), (std::vector<Index>{1, 2, 3, 4}));
  EXPECT_EQ(usual_component_counts(std::vector<Index>{1, 1}), (std::vector<Index>{1}));
}

// A number of components with one start's worth of figures.
CountEvidence figures(Index count, std::optional<double> error, std::optional<double> core,
                      std::optional<double> stability) {
  CountEvidence evidence;
  evidence.num_components = count;
  evidence.fits = {0.5};
  if (error) evidence.held_out_errors = {*error};
  evidence.known_fits = {0.5};
  evidence.core_consistency = core;
  evidence.stability = stability;
  return evidence;
}

TEST(ComponentRecommendation, is_the_smallest_that_predicts_about_best_among_those_that_hold_up) {
  const std::vector<CountEvidence> evidence{figures(1, 0.5, 100, 1), figures(2, 0.102, 90, 0.99),
                                            figures(3, 0.1, 80, 0.95), figures(4, 0.05, -7, 0.4)};
  const auto result = recommend(evidence, 3);
  EXPECT_EQ(result.num_components, 2);
  EXPECT_EQ(
      result.reason,
      "held-out error 0.102, close to the smallest, 0.1 with 3 components; the starts agree "
      "(stability 0.990) and core consistency is high (90); 4 components predict better (0.05), but the "
      "starts differ (stability 0.400) and core consistency is low (-7)");
}

TEST(ComponentRecommendation, says_when_the_tests_disagree) {
  const std::vector<CountEvidence> evidence{figures(1, 0.5, 100, 1), figures(2, 0.1, -40, 1)};
  EXPECT_EQ(
      recommend(evidence, 4).reason,
      "held-out error 0.1, the smallest; the starts agree (stability 1.000) but core consistency is low "
      "(-40); it is the largest number tried, so try more");
}

TEST(ComponentRecommendation, counts_a_start_that_went_astray_for_nothing) {
  auto two = figures(2, 0.1, 99, 0.6);
  two.held_out_errors = {0.9, 0.1, 0.8};
  two.known_fits = {0.3, 0.8, 0.4};
  const std::vector<CountEvidence> evidence{figures(1, 0.5, 100, 1), two, figures(3, 0.1, -9, 0.5)};
  EXPECT_EQ(recommend(evidence, 3).num_components, 2);
}

TEST(ComponentRecommendation, takes_the_smaller_of_two_that_predict_all) {
  const std::vector<CountEvidence> evidence{figures(1, 2e-6, 100, 1), figures(2, 1e-9, 100, 1),
                                            figures(3, 3e-9, 100, 1)};
  EXPECT_EQ(recommend(evidence, 3).num_components, 1);
}

TEST(ComponentRecommendation, does_without_held_out_cells) {
  const std::vector<CountEvidence> evidence{figures(1, {}, 100, 1), figures(2, {}, 90, 0.99),
                                            figures(3, {}, -7, 0.95)};
  const auto result = recommend(evidence, 3);
  EXPECT_EQ(result.num_components, 2);
  EXPECT_EQ(
      result.reason,
      "the largest number tried that nothing speaks against: the starts agree (stability 0.990) and core "
      "consistency is high (90)");
  EXPECT_EQ(recommend(evidence, 2).num_components, std::nullopt);
}

TEST(ComponentRecommendation, says_why_nothing_was_predicted) {
  const std::vector<CountEvidence> evidence{figures(4, {}, -5, 0.3), figures(5, {}, -9, 0.2)};
  EXPECT_EQ(
      recommend(evidence, 3, Unpredicted::nothing_held_out).reason,
      "nothing decides: no cells were held out, and no number tried has starts that agree or a consistent "
      "core");
  EXPECT_EQ(
      recommend(evidence, 3, Unpredicted::only_zeros_held_out).reason,
      "nothing decides: all cells that were held out are zero, and no number tried has starts that agree or "
      "a consistent core");
}

TEST(ComponentRecommendation, says_when_no_number_holds_up_or_predicts) {
  const std::vector<CountEvidence> evidence{figures(4, 1.2, -5, 0.3), figures(5, 1.1, -9, 0.2),
                                            figures(6, 1.3, -9, 0.2)};
  const auto result = recommend(evidence, 3);
  EXPECT_EQ(result.num_components, 5);
  EXPECT_EQ(
      result.reason,
      "held-out error 1.1, the smallest; the starts differ (stability 0.200) and core consistency is low "
      "(-9); no number tried holds up better; zeros would predict as well");
}

}  // namespace
}  // namespace polyad
