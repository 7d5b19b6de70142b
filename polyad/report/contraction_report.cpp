#include "polyad/report/contraction_report.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "polyad/dense/distribution_text.hpp"
#include "polyad/report/statistics_report.hpp"

namespace polyad::report {
namespace {

nlohmann::ordered_json step_json(const std::string& tensor, const dense::RedistributionStep& step,
                                 const dense::StepCost& cost, const dense::DenseMachine& machine) {
  return {{"tensor", tensor},
          {"move", to_string(step.move)},
          {"grid_modes", step.grid_modes},
          {"from", to_string(step.from)},
          {"to", to_string(step.to)},
          {"words", cost.words},
          {"messages", cost.messages},
          {"predicted_seconds", seconds(cost, machine)}};
}

nlohmann::ordered_json steps_json(const dense::ContractionPlan& plan, const dense::DenseMachine& machine) {
  auto steps = nlohmann::ordered_json::array();
  const auto add = [&](const std::vector<dense::NamedSteps>& all) {
    for (const auto& [tensor, moves] : all)
      for (const auto& step : moves.steps)
        steps.push_back(step_json(tensor, step, cost_of(step, moves.grid, moves.extents), machine));
  };
  const auto add_sums = [&](const std::string& tensor, double additions) {
    if (additions > 0)
      steps.push_back({{"tensor", tensor},
                       {"move", "local sums"},
                       {"flops", additions},
                       {"predicted_seconds", additions * machine.per_addition}});
  };
  add_sums(plan.problem.expression.name_a, local_additions(plan, dense::Stationary::a));
  add_sums(plan.problem.expression.name_b, local_additions(plan, dense::Stationary::b));
  add(steps_before_product(plan));
  steps.push_back({{"tensor", plan.problem.expression.name_c},
                   {"move", "product"},
                   {"flops", local_flops(plan)},
                   {"predicted_seconds", local_flops(plan) * machine.per_flop}});
  add(steps_after_product(plan));
  return steps;
}

}  // namespace

nlohmann::ordered_json contraction_json(const ContractionRun& run) {
  const auto& problem = run.plan.problem;
  const auto& expression = run.expression;
  nlohmann::ordered_json json;
  json["expression"] = to_string(expression);
  json["dims"] = {{"a", problem.extents_of(expression.a)},
                  {"b", problem.extents_of(expression.b)},
                  {"c", problem.extents_of(expression.c)}};
  json["stationary"] = to_string(run.plan.plan.stationary);
  json["grid"] = problem.grid.dims();
  json["distributions"] = {
      {"a", to_string(problem.a)}, {"b", to_string(problem.b)}, {"c", to_string(problem.c)}};
  json["blocks"] = {{"index", run.plan.block_index}, {"count", run.plan.num_blocks()}};
  json["steps"] = steps_json(run.plan.plan, run.machine);
  json["predicted_seconds"] = run.predicted_seconds;
  json["machine"] = run.machine_source;
  for (const auto& [phase, seconds] : run.timings.phases()) json["seconds"][phase] = seconds;
  json["flops"] = run.flops;
  json["gflops"] = run.gflops();
  json["norm"] = run.norm;
  json["communication"] = {
      {"words", run.words}, {"predicted_words", run.predicted_words}, {"max_words", run.max_words}};
  json["memory_bytes"] = run.working_bytes;
  json["predicted_memory_bytes"] = run.predicted_bytes;
  json["precision"] = run.precision;
  json["out"] = run.out;
  json["processes"] = run.processes;
  json["threads"] = run.threads;
  json["peak_memory_bytes"] = run.peak_memory_bytes;
  return json;
}

std::string contraction_text(const ContractionRun& run) {
  const auto& problem = run.plan.problem;
  auto text = fmt::format("{}\n", to_string(run.expression));
  const auto dims = problem.extents_of(problem.expression.c);
  text += fmt::format("result      {}, norm {:.6g}\n", dims.empty() ? "a number" : dims_text(dims), run.norm);
  text += fmt::format("way         stationary {} on a grid of {}", to_string(run.plan.plan.stationary),
                      to_string(problem.grid));
  if (run.plan.num_blocks() > 1)
    text += fmt::format(", in {} blocks of index {}", run.plan.num_blocks(), run.plan.block_index);
  text += fmt::format("\nmoved       {} between processes\n", counted(run.words, "word"));
  text += fmt::format("time        {:.3g} s (predicted: {:.3g} s), {:.3g} GFLOP/s in {} precision",
                      run.timings.seconds("contract"), run.predicted_seconds, run.gflops(), run.precision);
  return text;
}

std::string contraction_derivation(const ContractionRun& run) {
  const auto& plan = run.plan;
  auto derivation = explain(plan.plan, run.machine);
  if (plan.num_blocks() <= 1) return derivation;
  return fmt::format("In {} blocks of at most {} of index {}, each by itself:\n{}", plan.num_blocks(),
                     plan.block_extent, plan.block_index, derivation);
}

}  // namespace polyad::report
