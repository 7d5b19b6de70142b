#include "polyad/report/html/completion_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include "polyad/base/progress.hpp"
#include "polyad/report/html/completion_plots.hpp"
#include "polyad/report/html/csv_download.hpp"
#include "polyad/report/html/page_parts.hpp"
#include "polyad/report/html/plan_page.hpp"
#include "polyad/report/html/plan_plots.hpp"
#include "polyad/report/html/plots.hpp"
#include "polyad/report/printable_text.hpp"
#include "polyad/report/ranking_report.hpp"
#include "polyad/report/statistics_report.hpp"

namespace polyad::report {
namespace {

// What neither the style of all pages nor that of plans has.
constexpr std::string_view completion_page_style = R"css(
.epochs, .sub-epochs { width: calc(100% - 4.25rem); margin-left: 3.625rem; margin-right: .625rem; }
svg .kept { stroke: var(--soft); stroke-width: 1; }
svg .undone { stroke: var(--s2); stroke-width: 1; stroke-dasharray: 2 3; }
.plots h3 { margin-top: 1rem; }
.card h3 { margin-top: 0; }
.balance { max-width: 44rem; margin-top: 1rem; }
)css";

constexpr std::size_t max_listed_processes = 64;  // keep the page small

std::string error_text(double error) {
  return fmt::format("{:.5g}", error);
}

std::string model_text(const CompletionRun& run) {
  return plural(run.options.num_factors, "factor") + (run.options.has_biases ? " and biases" : "");
}

std::string opening(const CompletionPageContents& c, const std::string& title) {
  const auto& run = c.run;
  auto html = fmt::format(
      "<header class=\"opening\">\n<p class=\"kicker\">Recommender</p>\n<h1>{}</h1>\n<p class=\"lead\">{} of "
      "{} by {}, learned by {}",
      escape_html(title), plural(run.num_ratings, "rating"), plural(run.num_items, "item"),
      plural(run.num_users, "user"), model_text(run));
  if (run.test_errors)
    html += fmt::format(", which predict {} that were held out with a root mean square error of {}",
                        plural(run.num_test, "rating"), error_text(run.test_errors->rmse));
  html += ".</p>\n<dl class=\"figures\">\n";
  if (run.test_errors)
    html += fact("test RMSE", error_text(run.test_errors->rmse)) +
            fact("test MAE", error_text(run.test_errors->mae));
  if (run.validation_errors) html += fact("validation RMSE", error_text(run.validation_errors->rmse));
  html += fact("train RMSE", error_text(run.train.rmse));
  html += run.test_errors ? fact("best epoch", with_commas(run.best_epoch))
                          : fact("train MAE", error_text(run.train.mae));
  return html + "</dl>\n</header>\n";
}

std::vector<std::string> warnings(const CompletionRun& run) {
  std::vector<std::string> all;
  if (run.num_duplicates > 0)
    all.push_back(counted_were(run.num_duplicates, "rating") + " repeated by a later line, and dropped");
  if (run.num_test_duplicates > 0)
    all.push_back(counted_were(run.num_test_duplicates, "test rating") +
                  " repeated by a later line, and dropped");
  if (run.num_unknown > 0)
    all.push_back(counted_were(run.num_unknown, "test rating") +
                  " left out, of users or items that the training ratings do not have");
  if (const auto undone = run.epochs_undone(); undone > 0)
    all.push_back("errors grew beyond bounds: " + counted_were(undone, "epoch") +
                  " undone, and the step halved");
  if (run.ranking)
    if (const auto warning = below_popularity(*run.ranking)) all.push_back(*warning);
  return all;
}

std::string subject(const CompletionPageContents& c) {
  const auto& run = c.run;
  const auto test = run.num_test == 0 ? std::string("none")
                                      : plural(run.num_test, "rating") + " (" + escape_html(run.test) + ")";
  return "<dl class=\"facts\">\n" + fact("file", escape_html(c.input)) +
         fact("users", with_commas(run.num_users)) + fact("items", with_commas(run.num_items)) +
         fact("ratings", with_commas(run.num_ratings)) +
         (run.options.has_biases ? fact("mean", fmt::format("{:.5g}", run.mean)) : "") +
         (run.alpha ? ""
                    : fact(run.options.has_biases ? "deviation" : "root mean square",
                           fmt::format("{:.5g}", run.deviation))) +
         fact("held out to test", test) +
         (run.num_validation > 0
              ? fact("held out to choose the epoch",
                     plural(run.num_validation, "rating") + " (" + escape_html(run.validate) + ")")
              : "") +
         "</dl>\n";
}

std::string stop_sentence(const CompletionRun& run) {
  switch (run.stop) {
    case CompletionStop::epochs:
      return "the maximum number of epochs";
    case CompletionStop::test_error:
      return run.validation_errors ? "the validation error no longer decreased"
                                   : "the test error no longer decreased";
    case CompletionStop::settled:
      return "the loss no longer decreased";
    case CompletionStop::observer:
      return "it was stopped";
    case CompletionStop::interrupted:
      return "a signal ended it";
    case CompletionStop::time_limit:
      return "the time limit ended it";
  }
  return "";
}

// The test error beside those of predictions that need no training.
std::string baselines_table(double test_rmse, const BaselineErrors& baselines) {
  auto html =
      "<table class=\"costs\">\n<thead><tr><th scope=\"col\">prediction of test ratings by</th><th "
      "scope=\"col\" class=\"number\">RMSE</th></tr></thead>\n<tbody>\n" +
      cost_row("this model", "<b>" + error_text(test_rmse) + "</b>") +
      cost_row("mean and biases of users and items", error_text(baselines.biases)) +
      cost_row("mean of the item", error_text(baselines.item_means)) +
      cost_row("mean of the user", error_text(baselines.user_means)) +
      cost_row("mean of all ratings", error_text(baselines.mean)) + "</tbody>\n</table>\n";
  if (test_rmse >= baselines.biases)
    html += "<p class=\"note\">The factors do not improve the predictions: biases alone are as good.</p>\n";
  return html;
}

std::string chosen_text(const CompletionRun& run) {
  if (run.options.patience == 0) return "";
  if (run.validation_errors)
    return fmt::format(", which {} chose that were neither learned from nor tested on",
                       plural(run.num_validation, "rating"));
  return ", which the test ratings chose: ratings that choose nothing would have a slightly higher error";
}

std::string errors(const CompletionRun& run) {
  if (run.alpha)
    return fmt::format(
        "<p>Training ended after {}: {}. Implicit feedback has no errors of predicted ratings: the quality "
        "of the lists counts.</p>\n",
        plural(run.epochs_run(), "sweep"), stop_sentence(run));
  const auto plot = error_plot(run.epochs, run.best_epoch);
  if (plot.empty()) return "<p>There was no epoch that could be kept.</p>\n";
  auto html = fmt::format("<p>Training ended after {}: {}.",
                          plural(run.epochs_run() - run.epochs_undone(), "epoch"), stop_sentence(run));
  if (run.test_errors || run.validation_errors)
    html += fmt::format(" The model is that of epoch {}{}.", run.best_epoch, chosen_text(run));
  html += "</p>\n<figure>" + plot + "</figure>\n";
  return run.test_errors && run.baselines ? html + baselines_table(run.test_errors->rmse, *run.baselines)
                                          : html;
}

std::string ratings_list(const char* heading, const std::vector<NamedRating>& ratings, double largest) {
  constexpr int max_label_cells = 60;
  const NumberColumn numbers(largest);
  auto html = fmt::format("<div class=\"mode\"><h4>{}</h4><ol class=\"entries\">", heading);
  for (const auto& [item, rating] : ratings)
    html += fmt::format("<li><span>{}</span> <b>{}</b>{}</li>",
                        escape_html(clip(printable(item), max_label_cells)), numbers.text(rating),
                        value_bar(rating, largest));
  if (ratings.empty()) html += "<li><span>nothing</span></li>";
  return html + "</ol></div>\n";
}

std::string example_card(const ExampleUser& user) {
  double largest = 0;
  for (const auto* list : {&user.liked, &user.recommended})
    for (const auto& one : *list) largest = std::max(largest, std::abs(one.rating));
  return fmt::format(
             "<article class=\"card\">\n<header><h3>{}</h3><p class=\"weight\">{}</p></header>\n<div "
             "class=\"modes\">\n",
             escape_html(clip(printable(user.name), 60)), plural(user.num_rated, "rating")) +
         ratings_list("Rated best", user.liked, largest) +
         ratings_list("Recommended", user.recommended, largest) + "</div>\n</article>\n";
}

std::string examples(const CompletionPageContents& c) {
  std::string html =
      "<p class=\"note\">The users with the most training ratings: items that they rated best, and items "
      "that the model recommends, with the predicted ratings.</p>\n";
  for (const auto& user : c.examples) html += example_card(user);
  return html;
}

std::string downloads(const CompletionPageContents& c) {
  return "<p class=\"note\">A row for every user, and for every item: bias, then factors.</p>\n" +
         downloads_html(c.downloads,
                        "They are too large for this page: polyad complete with --out DIR writes them to "
                        "DIR/model.npz, which NumPy reads.");
}

std::string balance_table(const CompletionRun& run) {
  double slowest = 0;
  for (const auto& process : run.process_seconds)
    slowest = std::max(slowest, process.learn + process.communicate + process.wait);
  const auto row = [](const char* name, const std::string& predicted, const std::string& counted) {
    return fmt::format("<tr><th scope=\"row\">{}</th>", name) + cell("predicted", predicted) +
           cell("counted", counted) + "</tr>\n";
  };
  return "<div class=\"balance\">\n" +
         table_of({"per epoch, all processes", "predicted", "counted"},
                  row("words", with_commas(run.predicted_volume_words), with_commas(run.volume_words)) +
                      row("messages", with_commas(run.predicted.messages), with_commas(run.messages)) +
                      row("time", seconds_text(run.predicted.predicted_seconds),
                          seconds_text(slowest / std::max(1, run.epochs_here())))) +
         "</div>\n";
}

std::string partition_text(const std::string& partition) {
  if (partition == "random") return "at random";
  if (partition == "block") return "in blocks";
  return partition == "file" ? "by a file" : "by " + escape_html(partition);
}

std::string staleness_sentence(const CompletionRun& run) {
  if (run.staleness_words() == 0) return "None is ever stale.";
  return fmt::format("{} words per epoch are stale; with {} sub-epochs none would be.",
                     with_commas(run.staleness_words()), with_commas(run.predicted.max_connectivity));
}

std::string synchronisation(const CompletionRun& run) {
  const auto words = words_over_sub_epochs(run);
  const auto shared = to_string(run.travelling()) + "s";
  const auto why =
      run.side_seconds ? fmt::format("<p class=\"note\">Predicted: {}.</p>\n", side_seconds_text(run)) : "";
  return fmt::format(
             "<p>Every process has {}s of its own, distributed {}. After each of {} an epoch, processes send "
             "each other the rows of {} that they share. {}</p>\n{}<div class=\"plots\">\n<div><h3>Volume "
             "and staleness</h3>\n<figure>{}</figure></div>\n"
             "<div><h3>How widely {} are shared</h3>\n<figure>{}</figure></div>\n</div>\n",
             to_string(run.by), partition_text(run.partition), plural(run.num_sub_epochs, "sub-epoch"),
             shared, staleness_sentence(run), why, sync_plot(words, run.num_sub_epochs), shared,
             connectivity_plot(run.rows_by_connectivity, run.travelling())) +
         balance_table(run);
}

std::string where_time_goes(const CompletionRun& run) {
  const auto& all = run.process_seconds;
  const auto total = [](const EpochSeconds& s) { return s.learn + s.communicate + s.wait; };
  double longest = 0;
  for (const auto& process : all) longest = std::max(longest, total(process));
  std::string html = "<ol class=\"entries times\">\n";
  for (std::size_t p = 0; p < std::min(all.size(), max_listed_processes); ++p) {
    const std::array shares{BarShare{"computing", all[p].learn}, BarShare{"waiting", all[p].wait},
                            BarShare{"communicating", all[p].communicate}};
    html += fmt::format("<li><span>process {}</span><b>{} = {} + {} + {}</b>{}</li>\n", p,
                        seconds_text(total(all[p])), seconds_text(all[p].learn), seconds_text(all[p].wait),
                        seconds_text(all[p].communicate), stacked_bar(shares, longest));
  }
  html += "</ol>\n<p class=\"note\">Computing + waiting + communicating, of the whole training.";
  if (all.size() > max_listed_processes)
    html += fmt::format(" The first {} of {} processes; the JSON has all.", max_listed_processes, all.size());
  return html + "</p>\n";
}

std::string training(const CompletionRun& run) {
  const auto& options = run.options;
  auto processes = run.processes == 1 ? "one process" : with_commas(run.processes) + " processes";
  if (run.parts() > run.processes) processes += ", for " + with_commas(run.parts());
  return "<dl class=\"facts\">\n" + fact("model", model_text(run)) +
         (run.is_als ? fact("method", method_text(run))
                     : fact("step", fmt::format("{}, first {:.4g}", to_string(options.step.kind),
                                                options.step.size))) +
         fact("patience", options.patience == 0 ? "without end" : plural(options.patience, "epoch")) +
         fact("on", device_text(run.device, run.threads, processes)) +
         (run.lists && run.lists->device != run.device ? fact("lists on", escape_html(run.lists->device))
                                                       : "") +
         (run.parts() > 1 && !run.is_als ? fact("constants", escape_html(run.machine)) : "") + "</dl>\n";
}

std::string costs(const CompletionRun& run) {
  return "<table class=\"costs\">\n<tbody>\n" + cost_row("load", seconds_text(run.load_seconds)) +
         cost_row("distribute", seconds_text(run.distribute_seconds)) +
         cost_row("train", seconds_text(run.train_seconds)) +
         (run.lists ? cost_row("train the model for lists", seconds_text(run.lists->seconds)) : "") +
         cost_row("output", seconds_text(run.output_seconds)) +
         cost_row("ratings per second", with_prefix(run.ratings_per_second(), "")) +
         cost_row("peak memory", with_prefix(double(run.peak_memory_bytes), "B")) + "</tbody>\n</table>\n";
}

std::string figure_of(const SearchTrial& trial) {
  if (trial.ndcg) return error_text(*trial.ndcg);
  return trial.errors ? error_text(trial.errors->rmse) : "";
}

// The trials, the best first.
std::string search(const CompletionRun& run) {
  auto trials = run.search;
  const bool by_lists = trials.front().ndcg.has_value();
  std::ranges::stable_sort(trials, [&](const SearchTrial& one, const SearchTrial& other) {
    if (one.is_chosen != other.is_chosen) return one.is_chosen;
    if (by_lists) return *one.ndcg > *other.ndcg;
    return one.errors && (!other.errors || one.errors->rmse < other.errors->rmse);
  });
  std::string rows;
  for (const auto& trial : trials) {
    rows += fmt::format("<tr><th>{}</th>", with_commas(trial.factors)) +
            cell("regularisation", fmt::format("{:.4g}", trial.regularisation));
    if (trial.learning_rate) rows += cell("learning rate", fmt::format("{:.4g}", *trial.learning_rate));
    if (trial.alpha) rows += cell("alpha", fmt::format("{:.4g}", *trial.alpha));
    rows += cell("epoch", with_commas(trial.best_epoch)) +
            cell(by_lists ? "validation NDCG" : "validation RMSE", figure_of(trial)) +
            cell("time", seconds_text(trial.seconds)) + "</tr>\n";
  }
  std::vector<const char*> columns{"factors", "regularisation"};
  if (trials.front().learning_rate) columns.push_back("learning rate");
  if (trials.front().alpha) columns.push_back("alpha");
  for (const char* column : {"epoch", by_lists ? "validation NDCG" : "validation RMSE", "time"})
    columns.push_back(column);
  return fmt::format(
             "<p>{}, measured on validation ratings, the best first. The model has the settings of the "
             "first.</p>\n",
             plural(std::ssize(trials), "trial")) +
         table_of(columns, rows);
}

}  // namespace

std::string completion_page(const CompletionPageContents& c) {
  const auto& run = c.run;
  const auto title = std::filesystem::path(c.input).filename().string();
  Page page(title + ": recommender", opening(c, title) + warnings_html(warnings(run)));
  page.add("subject", "Ratings", subject(c));
  if (run.ranking) page.begin_pair();
  page.add("errors", "Errors", errors(run));
  if (run.ranking) {
    page.add("ranking", "Recommendations", ranking_html(*run.ranking));
    page.end_pair();
  }
  if (!run.search.empty()) page.add("search", "Search", search(run));
  if (!c.examples.empty()) page.add("examples", "Examples", examples(c));
  page.add("downloads", "Factors as csv", downloads(c));
  if (run.parts() > 1 && !run.is_als) page.add("synchronisation", "Communication", synchronisation(run));
  if (run.processes > 1) {
    page.add("time", "Time per process", where_time_goes(run));
  }
  page.begin_pair();
  page.add("training", "Training", training(run));
  page.add("costs", "Time and memory", costs(run));
  page.end_pair();
  return page.html(c.record, std::string(plan_page_style()) + std::string(completion_page_style));
}

}  // namespace polyad::report
