// The derivation is reconstructed from the finished plan: every entry of the templates has the stage at which
// the constraints determine it. Before that stage it is printed as a question mark (Schatz 2013, section 5).

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "polyad/dense/contraction_plan.hpp"
#include "polyad/dense/distribution_text.hpp"

namespace polyad::dense {
namespace {

enum Stage { given, stationary, alike, the_rest, result, sums };

struct Entry {
  std::string index;
  ModeDistribution mode;
  Stage known_at;
};

struct TensorEntry {
  std::string name;
  std::vector<Entry> entries;
  TensorDistribution places;  // its hyperplanes and sums
};

// "left = right", with the operator between them and, for a sum, its grid modes.
struct Line {
  std::string phase, verb;
  TensorEntry left;
  std::vector<TensorEntry> right;
  std::vector<int> summed_over;
};

std::string text_at(const TensorEntry& tensor, Stage stage) {
  std::vector<std::string> indices, modes;
  for (const auto& [index, mode, known_at] : tensor.entries) {
    indices.push_back(index);
    const auto text = to_string(TensorDistribution{{mode}, {}, {}});
    modes.push_back(known_at <= stage ? text.substr(1, text.size() - 2) : "?");
  }
  const auto places = to_string(TensorDistribution{{}, tensor.places.held_on, tensor.places.summed_over});
  return fmt::format("{}[{}]({}){}", tensor.name, fmt::join(indices, ","), fmt::join(modes, ","),
                     places.substr(2));
}

std::string text_at(const Line& line, Stage stage) {
  std::vector<std::string> right;
  for (const auto& tensor : line.right) right.push_back(text_at(tensor, stage));
  std::string sum;
  if (!line.summed_over.empty())
    sum = fmt::format("sum over <{}> of ",
                      stage >= sums ? fmt::format("{}", fmt::join(line.summed_over, ",")) : "?");
  return fmt::format("  {:<8} {} {} {}{}\n", line.phase, text_at(line.left, stage), line.verb, sum,
                     fmt::join(right, " * "));
}

// This, unless a tensor of the expression is called so.
std::string free_name(std::string name, const ContractionExpression& expression) {
  const IndexNames taken{expression.name_a, expression.name_b, expression.name_c};
  while (has_index(taken, name)) name += "'";
  return name;
}
std::string partial_name(const ContractionExpression& expression) {
  return free_name("T", expression);
}
std::string moved_name(const ContractionExpression& expression) {
  return free_name(expression.name_c + "'", expression);
}

class Derivation {
 public:
  explicit Derivation(const ContractionPlan& plan)
      : plan_(plan), problem_(plan.problem), expression_(plan.problem.expression) {
    add_input(expression_.name_a, expression_.a, problem_.a, plan.a, Stationary::a);
    add_input(expression_.name_b, expression_.b, problem_.b, plan.b, Stationary::b);
    if (plan.stationary == Stationary::c)
      add_compute();
    else
      add_product_and_sums();
  }

  std::string templates() const {
    std::string text;
    int number = 0;
    const bool has_sums = !plan_.reduce.steps.empty();
    for (const auto& [stage, why] : reasons()) {
      if (stage >= result && !has_sums) continue;
      text += fmt::format("{}. {}\n", ++number, why);
      for (const auto& line : lines_) text += text_at(line, stage);
    }
    return text;
  }

 private:
  std::vector<std::pair<Stage, std::string>> reasons() const {
    const bool is_c = plan_.stationary == Stationary::c;
    const auto& name = is_c                                ? expression_.name_c
                       : plan_.stationary == Stationary::a ? expression_.name_a
                                                           : expression_.name_b;
    std::vector<std::pair<Stage, std::string>> all{
        {given, "What is looked for."},
        {stationary, fmt::format("{} is not moved.", name)},
        {alike, "An index is distributed alike in all tensors of a local computation."},
        {the_rest, "The other indices of it are not distributed."}};
    if (is_c) return all;
    all.emplace_back(
        result,
        fmt::format(
            "The sum keeps the grid modes that it shares with {}; each of its elements is on one process.",
            name));
    all.emplace_back(sums, "Every sum hands its grid modes on.");
    return all;
  }

  // When the distribution of an index of a local computation is known.
  Stage stage_of(const std::string& index, Stationary which) const {
    if (which == plan_.stationary) return stationary;
    const auto& fixed = plan_.stationary == Stationary::a   ? expression_.a
                        : plan_.stationary == Stationary::b ? expression_.b
                                                            : expression_.c;
    return has_index(fixed, index) ? alike : the_rest;
  }

  TensorEntry entry(const std::string& name, const IndexNames& indices,
                    const TensorDistribution& distribution, const std::vector<Stage>& stages) const {
    TensorEntry tensor{name, {}, {{}, distribution.held_on, distribution.summed_over}};
    for (std::size_t m = 0; m < indices.size(); ++m)
      tensor.entries.push_back({indices[m], distribution.modes[m], stages[m]});
    return tensor;
  }
  TensorEntry entry(const std::string& name, const IndexNames& indices,
                    const TensorDistribution& distribution, Stage stage) const {
    return entry(name, indices, distribution, std::vector<Stage>(indices.size(), stage));
  }
  TensorEntry local_entry(const std::string& name, const IndexNames& indices,
                          const TensorDistribution& distribution, Stationary which) const {
    std::vector<Stage> stages;
    for (const auto& index : indices) stages.push_back(stage_of(index, which));
    return entry(name, indices, distribution, stages);
  }

  void add_input(const std::string& name, const IndexNames& indices, const TensorDistribution& distribution,
                 const InputPlan& plan, Stationary which) {
    const std::string phase = lines_.empty() ? "Prep" : "";
    auto before = entry(name, indices, distribution, given);
    if (plan.indices.size() != indices.size()) {
      const auto summed = entry(name, plan.indices, plan.prep.from, given);
      lines_.push_back({phase, "= local sums of", summed, {before}, {}});
      before = summed;
    }
    multiplied_.push_back(local_entry(name, plan.indices, plan.prep.to, which));
    lines_.push_back({lines_.empty() ? "Prep" : "", "<-", multiplied_.back(), {before}, {}});
  }

  void add_compute() {
    const auto moved = local_entry(expression_.name_c, expression_.c, problem_.c, Stationary::c);
    lines_.push_back({"", "<-", moved, {entry(expression_.name_c, expression_.c, problem_.c, given)}, {}});
    lines_.push_back({"Compute", "+=", moved, multiplied_, {}});
  }

  // T has the indices of the stationary tensor, with a prime where they are still to be summed over, and then
  // those of the other.
  TensorEntry partial_product() const {
    const bool is_a = plan_.stationary == Stationary::a;
    const auto& fixed = is_a ? expression_.a : expression_.b;
    const auto& modes = (is_a ? problem_.a : problem_.b).modes;
    TensorEntry t{partial_name(expression_), {}, {}};
    for (std::size_t m = 0; m < fixed.size(); ++m)
      if (has_index(expression_.c, fixed[m]))
        t.entries.push_back({fixed[m], modes[m], alike});
      else if (std::ranges::find(plan_.reduced, fixed[m]) != plan_.reduced.end())
        t.entries.push_back({fixed[m] + "'", modes[m], alike});
    for (const auto& index : other_indices(expression_.c, fixed)) t.entries.push_back({index, {}, the_rest});
    return t;
  }

  void add_product_and_sums() {
    const auto name = moved_name(expression_);
    auto last = plan_.reduced.empty() ? local_entry(name, expression_.c, plan_.product, Stationary::c)
                                      : partial_product();
    lines_.push_back({"Product", "=", last, multiplied_, {}});
    for (std::size_t s = 0; s < plan_.reduced.size(); ++s) {
      const auto& step = plan_.reduce.steps[s];
      const bool is_last = s + 1 == plan_.reduced.size();
      auto next =
          is_last ? entry(name, expression_.c, step.to, result) : after_sum(last, plan_.reduced[s], step);
      lines_.push_back({s == 0 ? "Reduce" : "", "=", next, {last}, step.grid_modes});
      last = std::move(next);
    }
    lines_.push_back(
        {"Finish", "+=", entry(expression_.name_c, expression_.c, problem_.c, given), {last}, {}});
  }

  // Without the index that was summed over; the others as the step leaves them.
  TensorEntry after_sum(const TensorEntry& before, const std::string& index,
                        const RedistributionStep& step) const {
    TensorEntry after = before;
    std::erase_if(after.entries, [&](const Entry& e) { return e.index == index + "'"; });
    for (auto& e : after.entries) {
      e.known_at = sums;
      for (std::size_t m = 0; m < expression_.c.size(); ++m)
        if (expression_.c[m] == e.index) e.mode = step.to.modes[m];
    }
    return after;
  }

  const ContractionPlan& plan_;
  const ContractionProblem& problem_;
  const ContractionExpression& expression_;
  std::vector<Line> lines_;
  std::vector<TensorEntry> multiplied_;
};

std::string cost_line(const std::string& what, const StepCost& cost, const DenseMachine& machine) {
  return fmt::format("  {}: {:.0f} words, {:.0f} messages, {:.2g} s\n", what, cost.words, cost.messages,
                     seconds(cost, machine));
}

std::string sums_line(const std::string& name, double additions, const DenseMachine& machine) {
  if (additions == 0) return "";
  return fmt::format("  {}: local sums, {:.4g} additions, {:.2g} s\n", name, additions,
                     additions * machine.per_addition);
}

std::string cost_lines(const std::vector<NamedSteps>& all, const DenseMachine& machine) {
  std::string text;
  for (const auto& [name, plan] : all)
    for (const auto& step : plan.steps) {
      const auto over = step.move == Move::filter
                            ? std::string()
                            : fmt::format(" over <{}>", fmt::join(step.grid_modes, ","));
      const auto what = fmt::format("{}: {}{} {} -> {}", name, to_string(step.move), over,
                                    to_string(step.from), to_string(step.to));
      text += cost_line(what, cost_of(step, plan.grid, plan.extents), machine);
    }
  return text;
}

}  // namespace

std::vector<NamedSteps> steps_before_product(const ContractionPlan& plan) {
  const auto& expression = plan.problem.expression;
  return {{expression.name_a, plan.a.prep}, {expression.name_b, plan.b.prep}};
}

std::vector<NamedSteps> steps_after_product(const ContractionPlan& plan) {
  const auto& expression = plan.problem.expression;
  return {{partial_name(expression), plan.reduce}, {moved_name(expression), plan.finish}};
}

std::string explain(const ContractionPlan& plan, const DenseMachine& machine) {
  const auto& expression = plan.problem.expression;
  std::string text = fmt::format("{} on a grid of {}, stationary {}\n\n", to_string(expression),
                                 to_string(plan.problem.grid), to_string(plan.stationary));
  text += Derivation(plan).templates();
  text += "\nCosts, of the process that has the most to do:\n";
  text += sums_line(expression.name_a, local_additions(plan, Stationary::a), machine);
  text += sums_line(expression.name_b, local_additions(plan, Stationary::b), machine);
  text += cost_lines(steps_before_product(plan), machine);
  text += fmt::format("  product: {:.4g} flops, {:.2g} s\n", local_flops(plan),
                      local_flops(plan) * machine.per_flop);
  text += cost_lines(steps_after_product(plan), machine);
  const auto moved = communication_cost(plan);
  return text + fmt::format("  together: {:.0f} words, {:.0f} messages, {:.2g} s\n", moved.words,
                            moved.messages, predicted_seconds(plan, machine));
}

}  // namespace polyad::dense
