#include "polyad/algo/analysis/component_recommendation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace polyad {
namespace {

// What the two tests that need no held-out cells say of a number; nothing where they were not made.
struct Verdict {
  std::optional<bool> is_stable, is_consistent;

  bool holds_up() const {
    return is_stable.value_or(false) || is_consistent.value_or(false) || (!is_stable && !is_consistent);
  }
  bool is_unopposed() const { return is_stable.value_or(true) && is_consistent.value_or(true); }
  bool is_known() const { return is_stable || is_consistent; }
};

Verdict judge(const CountEvidence& evidence, int order) {
  Verdict verdict;
  if (order < 3) return verdict;
  if (evidence.stability) verdict.is_stable = *evidence.stability >= min_stability;
  if (evidence.core_consistency) verdict.is_consistent = *evidence.core_consistency >= min_core_consistency;
  return verdict;
}

std::string components(Index count) {
  return count == 1 ? "1 component" : fmt::format("{} components", count);
}

std::string stability_text(const CountEvidence& evidence, const Verdict& verdict) {
  if (!verdict.is_stable) return "";
  return fmt::format("the starts {} (stability {:.3f})", *verdict.is_stable ? "agree" : "differ",
                     *evidence.stability);
}

std::string core_text(const CountEvidence& evidence, const Verdict& verdict) {
  if (!verdict.is_consistent) return "";
  return fmt::format("core consistency is {} ({:.3g})", *verdict.is_consistent ? "high" : "low",
                     *evidence.core_consistency);
}

// "the starts agree (stability 1.000) and core consistency is high (99.9)".
std::string verdict_text(const CountEvidence& evidence, const Verdict& verdict) {
  const auto stability = stability_text(evidence, verdict), core = core_text(evidence, verdict);
  if (stability.empty() || core.empty()) return stability + core;
  return stability + (*verdict.is_stable == *verdict.is_consistent ? " and " : " but ") + core;
}

const CountEvidence& min_error(std::span<const CountEvidence* const> among) {
  return **std::ranges::min_element(among, {}, [](const auto* e) { return *e->held_out_error(); });
}

// How much larger an error may be than this one before it counts.
double allowance(double error) {
  return std::max(min_gain, worthwhile_gain * std::min(error, 1 - error));
}

// By held-out error, among numbers that hold up or, if none does, among all.
ComponentRecommendation recommend_by_prediction(std::span<const CountEvidence> evidence, int order) {
  std::vector<const CountEvidence*> all, held;
  for (const auto& e : evidence) {
    all.push_back(&e);
    if (judge(e, order).holds_up()) held.push_back(&e);
  }
  const bool none_holds_up = held.empty();
  if (none_holds_up) held = all;
  const auto& best = min_error(held);
  const double bound = *best.held_out_error() + allowance(*best.held_out_error());
  const auto& chosen =
      **std::ranges::find_if(held, [&](const auto* e) { return *e->held_out_error() <= bound; });

  const auto verdict = judge(chosen, order);
  std::string reason = fmt::format("held-out error {:.3g}", *chosen.held_out_error());
  if (&chosen == &best)
    reason += none_holds_up || held.size() == all.size() ? ", the smallest"
                                                         : ", the smallest of those that hold up";
  else
    reason += fmt::format(", close to the smallest, {:.3g} with {}", *best.held_out_error(),
                          components(best.num_components));
  if (verdict.is_known()) reason += "; " + verdict_text(chosen, verdict);
  if (none_holds_up) reason += "; no number tried holds up better";
  if (*chosen.held_out_error() >= 1) reason += "; zeros would predict as well";
  const auto& overall = min_error(all);
  if (*overall.held_out_error() + allowance(*overall.held_out_error()) < *chosen.held_out_error())
    reason += fmt::format("; {} predict better ({:.3g}), but {}", components(overall.num_components),
                          *overall.held_out_error(), verdict_text(overall, judge(overall, order)));
  return {chosen.num_components, reason};
}

// The largest number that no test speaks against; if there is none, the largest that holds up.
ComponentRecommendation recommend_by_tests(std::span<const CountEvidence> evidence, int order,
                                           Unpredicted unpredicted) {
  const CountEvidence* chosen = nullptr;
  const CountEvidence* second = nullptr;
  for (const auto& e : evidence) {
    const auto verdict = judge(e, order);
    if (!verdict.is_known()) continue;
    if (verdict.is_unopposed()) chosen = &e;
    if (verdict.holds_up()) second = &e;
  }
  const bool is_opposed = chosen == nullptr;
  if (is_opposed) chosen = second;
  if (chosen == nullptr)
    return {
        {},
        fmt::format("nothing decides: {}, and no number tried has starts that agree or a consistent core",
                    unpredicted == Unpredicted::nothing_held_out ? "no cells were held out"
                                                                 : "all cells that were held out are zero")};
  return {chosen->num_components, fmt::format("the largest number tried {}: {}",
                                              is_opposed ? "that holds up" : "that nothing speaks against",
                                              verdict_text(*chosen, judge(*chosen, order)))};
}

}  // namespace

double CountEvidence::best_fit() const {
  return fits.empty() ? 0 : *std::ranges::max_element(fits);
}

double CountEvidence::mean_fit() const {
  return fits.empty() ? 0 : std::accumulate(fits.begin(), fits.end(), 0.0) / double(fits.size());
}

std::optional<double> CountEvidence::held_out_error() const {
  if (held_out_errors.empty()) return {};
  return held_out_errors[std::ranges::max_element(known_fits) - known_fits.begin()];
}

ComponentRecommendation recommend(std::span<const CountEvidence> evidence, int order,
                                  Unpredicted unpredicted) {
  const bool predicts =
      std::ranges::all_of(evidence, [](const auto& e) { return e.held_out_error().has_value(); });
  auto result =
      predicts ? recommend_by_prediction(evidence, order) : recommend_by_tests(evidence, order, unpredicted);
  if (evidence.size() > 1 && result.num_components == evidence.back().num_components)
    result.reason += "; it is the largest number tried, so try more";
  return result;
}

}  // namespace polyad
