#include "polyad/plan/als_plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace polyad {
namespace {

std::string tree_text(const std::vector<int>& modes) {
  std::vector<int> from_one;
  for (const int mode : modes) from_one.push_back(mode + 1);
  return fmt::format("tree {}", fmt::join(from_one, "-"));
}

std::string levels_text(const std::vector<int>& modes, int num_levels) {
  if (num_levels == 1) return fmt::format("mode {} over {}", modes[0] + 1, tree_text(modes));
  std::vector<int> from_one;
  for (int level = 0; level + 1 < num_levels; ++level) from_one.push_back(modes[level] + 1);
  return fmt::format("modes {} and {} in one pass over {}", fmt::join(from_one, ", "),
                     modes[num_levels - 1] + 1, tree_text(modes));
}

std::string step_text(const AlsPlan& plan, const AlsStep& step) {
  switch (step.kind) {
    case AlsStep::Kind::root:
      return fmt::format("mode {} over {}", step.mode + 1, tree_text(plan.trees[step.tree]));
    case AlsStep::Kind::root_and_next:
      return fmt::format("modes {} and {} in one pass over {}{}", step.mode + 1, plan.trees[step.tree][1] + 1,
                         tree_text(plan.trees[step.tree]), step.keeps_sums ? " that keeps sums" : "");
    case AlsStep::Kind::levels:
      return levels_text(plan.trees[step.tree], step.num_levels);
    case AlsStep::Kind::scatter:
      return fmt::format("mode {} by scattering over {}", step.mode + 1, tree_text(plan.trees[step.tree]));
    default:
      return fmt::format("mode {}", step.mode + 1);
  }
}

}  // namespace

AlsPlan plain_plan(std::vector<int> mode_order, std::vector<std::vector<int>> trees) {
  AlsPlan plan{std::move(mode_order), std::move(trees), {}};
  for (const int mode : plan.mode_order) plan.steps.push_back({AlsStep::Kind::mttkrp, mode, 0});
  return plan;
}

std::string describe(const AlsPlan& plan) {
  std::vector<std::string> steps;
  for (const auto& step : plan.steps) steps.push_back(step_text(plan, step));
  return fmt::format("{}", fmt::join(steps, ", "));
}

}  // namespace polyad
