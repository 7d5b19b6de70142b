#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "polyad/plan/format_choice.hpp"
#include "polyad/plan/gpu_cost.hpp"
#include "polyad/plan/plan_evaluation.hpp"
#include "polyad/tensor/sort.hpp"
#include "tests/support/factor_problem.hpp"

namespace polyad {
namespace {

using Kind = AlsStep::Kind;

TensorShape shape_like(const std::vector<Index>& rows, Index nonzeros) {
  return {rows, nonzeros, {}, double(nonzeros) / 3};
}

// The modes that a plan updates, in their order.
std::vector<int> updated_modes(const AlsPlan& plan) {
  std::vector<int> modes;
  for (const auto& step : plan.steps) {
    modes.push_back(step.mode);
    if (step.kind == Kind::root_and_next) modes.push_back(plan.trees[step.tree][1]);
  }
  return modes;
}

void expect_sound(const AlsPlan& plan, int order) {
  auto sorted = plan.mode_order;
  std::ranges::sort(sorted);
  EXPECT_EQ(sorted, natural_mode_order(order));
  EXPECT_EQ(updated_modes(plan), plan.mode_order);
  for (const auto& step : plan.steps) {
    if (step.kind == Kind::mttkrp) continue;
    const auto& tree = plan.trees[step.tree];
    EXPECT_EQ(tree.front() == step.mode, step.kind != Kind::scatter);
    auto modes = tree;
    std::ranges::sort(modes);
    EXPECT_EQ(modes, natural_mode_order(order));
  }
}

std::vector<TensorShape> shapes() {
  return {shape_like({100, 200}, 1000),
          shape_like({12092, 9184, 28818}, 5000000),
          shape_like({379164, 17770, 2182}, 10000000),
          shape_like({2043118, 2042255, 166}, 8000000),
          shape_like({357521, 1451140, 960025, 1443}, 8000000),
          shape_like({5, 4, 3, 2, 6}, 300),
          shape_like({50, 400, 3, 20, 60, 7}, 30000),
          shape_like({2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2}, 1000),
          shape_like({0, 0, 0}, 0)};
}

TEST(PlanAls, updates_every_mode_once_in_its_order) {
  for (const auto& shape : shapes())
    for (const int threads : {1, 2, 64}) {
      const AlsCost cost(shape, {16, 8, threads});
      expect_sound(plan_csf(cost, {}), shape.order());
      for (const auto& option : list_formats(cost, choose_mode_order(shape, 16)))
        expect_sound(option.plan, shape.order());
    }
}

TEST(PlanAls, keeps_the_order_that_was_asked_for) {
  const AlsCost cost(shape_like({300, 20, 1000}, 5000), {16, 8, 2});

  for (const auto& option : list_formats(cost, {2, 0, 1}))
    EXPECT_EQ(option.plan.mode_order, (std::vector<int>{2, 0, 1}));
}

TEST(PlanAls, does_not_scatter_long_modes_on_many_threads) {
  const auto plan = plan_csf(AlsCost(shapes()[3], {16, 8, 64}), {});

  for (const auto& step : plan.steps) {
    if (step.kind == Kind::scatter) {
      EXPECT_EQ(step.mode, 2);
    }
    if (step.kind == Kind::root_and_next) {
      EXPECT_EQ(plan.trees[step.tree][1], 2);
    }
  }
}

// Where long fibers make it worth it, and where the memory is small beside that of the tensor.
TEST(PlanAls, keeps_sums_of_rows_that_other_processes_add_to) {
  TensorShape shape = shape_like({2000, 2000, 2000}, 4000000);
  shape.distinct = {{0b011, 200000}, {0b101, 3900000}, {0b110, 3900000}};
  const std::vector<int> order{0, 1, 2};
  const auto plan_with = [&](double complete, Index num_components, bool may_keep) {
    return plan_csf(AlsCost(shape, {.num_components = num_components,
                                    .complete_share = std::vector<double>(3, complete),
                                    .may_keep_sums = may_keep}),
                    {.mode_order = order});
  };
  const auto bytes_of = [&](const AlsPlan& plan, bool may_keep) {
    return AlsCost(shape, {.complete_share = std::vector<double>(3, 0.0), .may_keep_sums = may_keep})
        .work_bytes(plan);
  };
  const auto keeps = [](const AlsPlan& plan) {
    return std::ranges::any_of(plan.steps, [](const AlsStep& step) { return step.keeps_sums; });
  };
  for (const double complete : {0.0, 0.5}) EXPECT_TRUE(keeps(plan_with(complete, 16, true)));
  EXPECT_FALSE(keeps(plan_with(1, 16, true))) << "no row is shared";
  EXPECT_FALSE(keeps(plan_with(0, 16, false)));
  EXPECT_FALSE(keeps(plan_with(0, 512, true))) << "too much memory";

  auto plan = plan_with(0, 16, true);
  EXPECT_EQ(plan.steps.front(), (AlsStep{Kind::root_and_next, 0, plan.steps.front().tree, 0, true}));
  EXPECT_NE(describe(plan).find("that keeps sums"), std::string::npos);
  const Index with_sums = bytes_of(plan, true);
  plan.steps.front().keeps_sums = false;
  EXPECT_EQ(with_sums - bytes_of(plan, true), Index(200000) * 16 * 8);
}

TEST(PlanAls, is_no_slower_than_the_plain_list_by_its_own_account) {
  for (const auto& shape : shapes()) {
    const AlsCost cost(shape, {16, 8, 2});
    const auto order = natural_mode_order(shape.order());
    const auto plain = plain_plan(order, a_tree_per_mode(shape.rows));
    const double build = cost.tree_build_seconds() / usual_iterations;
    const auto planned = plan_csf(cost, {.mode_order = order});

    EXPECT_LE(cost.seconds(planned) + build * double(planned.trees.size()),
              cost.seconds(plain) + build * double(plain.trees.size()) + 1e-12);
  }
}

TEST(PlanEvaluation, serves_every_mode_once) {
  for (const auto& shape : shapes())
    for (const int threads : {1, 2, 64}) {
      const AlsCost cost(shape, {16, 8, threads});
      for (const auto& option : list_formats(cost, natural_mode_order(shape.order()), plan_evaluation)) {
        const auto& plan = option.plan;
        std::vector<int> served;
        for (const auto& step : plan.steps) {
          if (step.kind == Kind::mttkrp) {
            served.push_back(step.mode);
            continue;
          }
          ASSERT_EQ(step.kind, Kind::levels);
          const auto& tree = plan.trees[step.tree];
          EXPECT_EQ(tree.front(), step.mode);
          served.insert(served.end(), tree.begin(), tree.begin() + step.num_levels);
        }
        std::ranges::sort(served);
        EXPECT_EQ(served, natural_mode_order(shape.order())) << option.name;
      }
    }
}

TEST(PlanEvaluation, is_no_slower_than_a_pass_per_mode_by_its_own_account) {
  for (const auto& shape : shapes())
    for (const int threads : {1, 2, 64}) {
      const AlsCost cost(shape, {16, 8, threads});
      const auto order = natural_mode_order(shape.order());
      const double build = cost.tree_build_seconds() / usual_iterations;
      for (const auto& trees : {one_tree(shape.rows), two_trees(shape.rows), a_tree_per_mode(shape.rows)}) {
        const double plain = cost.seconds(plain_plan(order, a_tree_per_mode(shape.rows)));
        const auto planned = plan_evaluation(cost, {}), given = plan_evaluation(cost, {order, trees});

        EXPECT_EQ(given.trees, trees);
        EXPECT_LE(cost.seconds(planned) + build * double(planned.trees.size()),
                  (plain + build * double(shape.order())) * (1 + 1e-9));
        EXPECT_LE(cost.seconds(planned) + build * double(planned.trees.size()),
                  (cost.seconds(given) + build * double(trees.size())) * (1 + 1e-9));
        if (std::ssize(trees) == shape.order()) {
          EXPECT_LE(cost.seconds(given), plain * (1 + 1e-9));
        }
      }
    }
}

TEST(PlanEvaluation, does_not_add_to_long_modes_on_many_threads) {
  const auto plan = plan_evaluation(AlsCost(shapes()[3], {16, 8, 64}), {});

  for (const auto& step : plan.steps)
    for (int level = 1; level < step.num_levels; ++level) EXPECT_EQ(plan.trees[step.tree][level], 2);
}

TEST(ChooseFormat, takes_the_fastest_that_fits) {
  const std::vector<FormatOption> options{{"fast", Format::csf, {}, 1.0, 0, 3000},
                                          {"small", Format::coo, {}, 2.0, 0, 1000}};
  const Index program = options[0].peak_bytes() - 3000;

  EXPECT_EQ(choose_format(options, "auto", 0)->name, "fast");
  EXPECT_EQ(choose_format(options, "auto", program + 3000)->name, "fast");
  EXPECT_EQ(choose_format(options, "auto", program + 2999)->name, "small");
  EXPECT_FALSE(choose_format(options, "auto", program + 999));
  EXPECT_EQ(choose_format(options, "small", 0)->name, "small");
  EXPECT_FALSE(choose_format(options, "fast", program + 2999));
}

TEST(AlsPlan, describes_itself) {
  const AlsPlan plan{{0, 2, 1}, {{0, 2, 1}}, {{Kind::root_and_next, 0, 0}, {Kind::scatter, 1, 0}}};

  EXPECT_EQ(describe(plan),
            "modes 1 and 3 in one pass over tree 1-3-2, mode 2 by scattering over tree 1-3-2");
  EXPECT_EQ(describe(plain_plan({1, 0})), "mode 2, mode 1");
  const AlsPlan evaluation{
      {0, 1, 2, 3}, {{3, 0, 1, 2}, {2, 1, 0, 3}}, {{Kind::levels, 3, 0, 3}, {Kind::levels, 2, 1, 1}}};
  EXPECT_EQ(describe(evaluation), "modes 4, 1 and 2 in one pass over tree 4-1-2-3, mode 3 over tree 3-2-1-4");
}

TEST(ShapeOf, counts_the_fibers_of_a_tensor) {
  const auto compacted = compact<double>(test::tame_tensor({30, 40, 50}, 5000, 1));
  auto x = compacted.tensor;
  const std::vector<std::span<const Index>> rows(compacted.rows.begin(), compacted.rows.end());
  const auto shape = shape_of(x.extents(), x.num_nonzeros(), sketch_fibers<double>(x, rows, x.extents()));
  const CsfTree<double> tree(x, {0, 2, 1});

  EXPECT_NEAR(shape.num_nodes(0b101), double(tree.num_nodes(1)), 0.06 * double(tree.num_nodes(1)));
  EXPECT_EQ(shape.num_nodes(0b111), double(x.num_nonzeros()));
  EXPECT_EQ(shape.num_nodes(0b010), 40);
}

MachineModel scaled(double factor) {
  MachineModel machine;
  for (auto constant :
       {&MachineModel::per_near_line, &MachineModel::per_far_line, &MachineModel::per_streamed_byte,
        &MachineModel::per_node, &MachineModel::per_solved_row, &MachineModel::per_sorted_nonzero})
    machine.*constant *= factor;
  return machine;
}

TEST(AlsCost, is_twice_as_much_on_a_machine_that_takes_twice_as_long) {
  for (const auto& shape : shapes()) {
    const auto order = choose_mode_order(shape, 16);
    const auto usual = list_formats(AlsCost(shape, {16, 8, 3}), order);
    const auto slow =
        list_formats(AlsCost(shape, {.num_components = 16, .threads = 3, .machine = scaled(2)}), order);
    ASSERT_EQ(usual.size(), slow.size());
    for (std::size_t f = 0; f < usual.size(); ++f) {
      EXPECT_EQ(slow[f].seconds, 2 * usual[f].seconds);
      EXPECT_EQ(slow[f].build_seconds, 2 * usual[f].build_seconds);
      EXPECT_EQ(slow[f].plan, usual[f].plan);
      EXPECT_EQ(slow[f].peak_bytes(), usual[f].peak_bytes());
    }
  }
}

TEST(AlsCost, every_constant_of_the_machine_counts) {
  const auto shape = shapes()[1];
  const auto order = choose_mode_order(shape, 16);
  const auto seconds = [&](const MachineModel& machine) {
    const auto formats = list_formats(AlsCost(shape, {.num_components = 16, .machine = machine}), order);
    return formats.front().seconds + formats.front().build_seconds;
  };
  for (auto constant :
       {&MachineModel::per_near_line, &MachineModel::per_far_line, &MachineModel::per_streamed_byte,
        &MachineModel::per_node, &MachineModel::per_solved_row, &MachineModel::per_sorted_nonzero}) {
    MachineModel machine;
    machine.*constant *= 3;
    EXPECT_GT(seconds(machine), seconds({}));
  }
}

// Where sorting is dear, one tree for all modes; where it is cheap, a tree for each.
TEST(AlsCost, a_machine_with_other_constants_chooses_another_format) {
  const auto shape = shape_like({2000, 3000, 4000}, 20000);
  const auto order = choose_mode_order(shape, 16);
  std::set<std::string> chosen;
  for (const double sort : {1e-9, 1e-4}) {
    MachineModel machine;
    machine.per_sorted_nonzero = sort;
    const auto formats = list_formats(AlsCost(shape, {.num_components = 16, .machine = machine}), order);
    chosen.insert(choose_format(formats, "auto", 0)->name + "/" +
                  std::to_string(choose_format(formats, "auto", 0)->plan.trees.size()));
  }
  EXPECT_EQ(chosen.size(), 2);
}

// Every node below the root reads a row of 16 numbers, every row of the root is written, read and solved for.
TEST(AlsPlan, predicts_a_gpu_from_the_counts_of_nodes) {
  TensorShape shape;
  shape.rows = {10, 20, 30};
  shape.num_nonzeros = 500;
  shape.distinct[0b011] = 100;
  GpuModel gpu;
  gpu.per_copied_byte = 1;
  gpu.per_near_byte = gpu.per_far_byte = 1000;
  gpu.per_solved_entry = 1e6;
  gpu.per_solved_product = 1e9;
  gpu.per_mode = 1e13;
  const double expected =
      500 * (8 + 8 + 1) + 10 * 128 + 1000.0 * (100 + 500) * 128 + 10 * (16 * 1e6 + 256 * 1e9) + 1e13;
  EXPECT_DOUBLE_EQ(gpu_mode_seconds(shape, std::vector{0, 1, 2}, {16, 8}, gpu), expected);
}

}  // namespace
}  // namespace polyad
