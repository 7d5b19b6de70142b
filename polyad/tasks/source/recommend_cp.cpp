#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <system_error>
#include <utility>

#include "polyad/base/suggestion.hpp"
#include "polyad/comm/collective.hpp"
#include "polyad/io/bytes/input_file.hpp"
#include "polyad/io/models/rating_model_file.hpp"
#include "polyad/io/tensors/coordinate_file.hpp"
#include "polyad/io/tensors/recognition/recognise.hpp"
#include "polyad/report/statistics_report.hpp"
#include "polyad/tasks/detail/cp_model_state.hpp"
#include "polyad/tasks/detail/ratings/completion_state.hpp"
#include "polyad/tasks/detail/ratings/recommend_source.hpp"
#include "polyad/tasks/detail/task_checks.hpp"
#include "polyad/tasks/detail/task_scope.hpp"
#include "polyad/tasks/load_model.hpp"

// A CP model at given places of all modes but two is a model of ratings without biases: with s_r the product
// of component r's weight and its entries at these places, the score of an item is the sum over r of
// s_r * user's entry * item's entry.

namespace polyad {
namespace {

using LearnedRows = Recommender<double>::Learned;

std::vector<std::string> mode_names(const CpModel& model) {
  std::vector<std::string> names;
  for (std::size_t m = 0; m < model.labels().size(); ++m) {
    const auto& name = model.labels()[m].name;
    names.push_back(name.empty() ? "mode" + std::to_string(m + 1) : name);
  }
  return names;
}

// The mode of this name or, counted from 1, number.
int find_mode(const std::vector<std::string>& names, const std::string& text, const char* field) {
  const auto found = std::ranges::find(names, text);
  if (found != names.end()) return int(found - names.begin());
  for (std::size_t m = 0; m < names.size(); ++m)
    if (text == std::to_string(m + 1)) return int(m);
  std::string list;
  for (const auto& name : names) list += (list.empty() ? "" : ", ") + name;
  tasks::refuse_option(fmt::format("{} {}: the model has no such mode{}; its modes are {}",
                                   option_name(field), text, suggestion(text, names), list));
}

// [row]: whether it has any entry other than zero, as rows of slices with cells have.
std::vector<bool> find_learned(const Matrix<double>& rows) {
  std::vector<bool> learned;
  for (Index i = 0; i < rows.num_rows(); ++i)
    learned.push_back(std::ranges::any_of(rows.row(i), [](double entry) { return entry != 0; }));
  return learned;
}

std::vector<double> mean_row(const Matrix<double>& rows, const std::vector<bool>& learned) {
  std::vector<double> mean(std::size_t(rows.num_cols()));
  const auto count = double(std::max<Index>(std::ranges::count(learned, true), 1));
  for (Index i = 0; i < rows.num_rows(); ++i)
    for (Index r = 0; r < rows.num_cols() && learned[i]; ++r) mean[r] += rows(i, r) / count;
  return mean;
}

struct Modes {
  int user = 0, item = 1;
};

Modes find_modes(const std::vector<std::string>& names, const RecommendOptions& options) {
  const bool has_user = !options.user_mode.empty(), has_item = !options.item_mode.empty();
  Modes modes;
  if (has_user) modes.user = find_mode(names, options.user_mode, "user_mode");
  if (has_item) modes.item = find_mode(names, options.item_mode, "item_mode");
  if (!has_user) modes.user = has_item && modes.item == 0 ? 1 : 0;
  if (!has_item) modes.item = modes.user == 0 ? 1 : 0;
  if (modes.user == modes.item)
    tasks::refuse_option(fmt::format("{} and {} are both {}", option_name("user_mode"),
                                     option_name("item_mode"), names[std::size_t(modes.user)]));
  return modes;
}

// The decomposition as a model of ratings.
class RatingView {
 public:
  RatingView(const Context& context, const CpModel& model, const RecommendOptions& options)
      : context_(context),
        model_(model),
        options_(options),
        names_(mode_names(model)),
        modes_(find_modes(names_, options)),
        kruskal_(tasks::whole_model(model)),
        space_(model.dims(), model.labels(), io::IndexSpace::Unknown::fault) {
    source_.user_mode = names_[std::size_t(modes_.user)];
    source_.item_mode = names_[std::size_t(modes_.item)];
    source_.known = options.known_file.string();
  }

  CompletionModel rating_model() {
    const auto scales = component_scales();
    auto users = scaled(modes_.user, scales, Signs::with),
         items = scaled(modes_.item, scales, Signs::without);
    LearnedRows learned{find_learned(factor(modes_.user)), find_learned(factor(modes_.item))};
    give_mean_to_others(users, learned[0]);
    tasks::WholeModel<double> whole;
    whole.model.users = std::move(users);
    whole.model.items = std::move(items);
    whole.ratings = read_known();
    whole.learned = std::move(learned);
    return as_completion_model(std::move(whole));
  }

 private:
  enum class Signs { with, without };

  const Matrix<double>& factor(int mode) const { return kruskal_->factors[std::size_t(mode)]; }

  // [component]: its weight times its entries at the places of the other modes.
  std::vector<double> component_scales() {
    auto scales = kruskal_->weights;
    const auto places = find_places();
    for (int m = 0; m < kruskal_->order(); ++m) {
      if (m == modes_.user || m == modes_.item) continue;
      const auto row = row_at(m, places[std::size_t(m)]);
      for (std::size_t r = 0; r < scales.size(); ++r) scales[r] *= row[r];
    }
    return scales;
  }

  // [mode]: where the model is evaluated; -1: nowhere in particular.
  std::vector<Index> find_places() {
    std::vector<Index> places(std::size_t(kruskal_->order()), -1);
    for (const auto& [mode, place] : options_.at) {
      const int m = find_mode(names_, mode, "at");
      const auto& name = names_[std::size_t(m)];
      if (m == modes_.user || m == modes_.item)
        tasks::refuse_option(fmt::format(
            "{} {}={}: {} is the mode of the {}; {} and {} choose others", option_name("at"), mode, place,
            name, m == modes_.user ? "users" : "items", option_name("user_mode"), option_name("item_mode")));
      if (places[std::size_t(m)] >= 0)
        tasks::refuse_option(
            fmt::format("{} names two places of {}; ask once for each", option_name("at"), name));
      places[std::size_t(m)] = find_place(m, place);
      source_.at.push_back({name, place});
    }
    return places;
  }

  Index find_place(int mode, const std::string& place) const {
    try {
      return space_.find_named(mode, place, names_[std::size_t(mode)]);
    } catch (const Error& error) {
      tasks::refuse_option(
          fmt::format("{} {}={}: {}", option_name("at"), names_[std::size_t(mode)], place, error.message()));
    }
  }

  std::vector<double> row_at(int mode, Index place) {
    const auto& rows = factor(mode);
    const auto learned = find_learned(rows);
    const auto& name = names_[std::size_t(mode)];
    if (place < 0) source_.averaged.push_back(name);
    if (place >= 0 && learned[std::size_t(place)]) return {rows.row(place).begin(), rows.row(place).end()};
    if (place >= 0)
      context_.warn(fmt::format("{}: {} {} has no cells in the tensor; the mean over all others is used",
                                model_.state().input, name, source_.at.back().place));
    return mean_row(rows, learned);
  }

  // Both sides take a root of the scale, so that their rows are comparable among each other too.
  Matrix<double> scaled(int mode, const std::vector<double>& scales, Signs signs) const {
    auto rows = factor(mode);
    for (Index i = 0; i < rows.num_rows(); ++i)
      for (Index r = 0; r < rows.num_cols(); ++r) {
        const double root = std::sqrt(std::abs(scales[std::size_t(r)]));
        rows(i, r) *= signs == Signs::with ? std::copysign(root, scales[std::size_t(r)]) : root;
      }
    return rows;
  }

  // Users of whom nothing is known get what everyone likes.
  static void give_mean_to_others(Matrix<double>& users, const std::vector<bool>& learned) {
    const auto mean = mean_row(users, learned);
    for (Index i = 0; i < users.num_rows(); ++i)
      if (!learned[std::size_t(i)]) std::ranges::copy(mean, users.row(i).begin());
  }

  std::vector<ModeLabels> labels_of_sides() const { return {labels_of(modes_.user), labels_of(modes_.item)}; }
  ModeLabels labels_of(int mode) const {
    auto labels = model_.labels()[std::size_t(mode)];
    labels.name = names_[std::size_t(mode)];
    return labels;
  }

  std::vector<Index> dims_of_sides() const {
    return {model_.dims()[std::size_t(modes_.user)], model_.dims()[std::size_t(modes_.item)]};
  }

  // Which cells users have: users x items, each once.
  SparseTensor<double> read_known() {
    SparseTensor<double> known(dims_of_sides());
    if (options_.known_file.empty()) return known;
    const auto unknown = io::IndexSpace::Unknown::leave_out;
    const io::IndexSpace sides(dims_of_sides(), labels_of_sides(), unknown),
        all(model_.dims(), model_.labels(), unknown);
    const bool has_sides_only = is_table_of_sides();
    io::ReadOptions read;
    read.space = has_sides_only ? &sides : &all;
    if (has_sides_only)
      read.columns = options_.columns.empty()
                         ? io::CsvColumns{{{source_.user_mode}, {source_.item_mode}}, "", {}}
                         : io::parse_coordinate_columns(options_.columns, "", 2);
    const io::CoordinateFile file(options_.known_file, read);
    for (const auto& note : file.notes()) context_.warn(options_.known_file.string() + ": " + note);
    const std::size_t user = has_sides_only ? 0 : std::size_t(modes_.user),
                      item = has_sides_only ? 1 : std::size_t(modes_.item);
    std::vector<std::array<Index, 2>> pairs;
    file.for_each_batch([&](const io::CoordinateBatch& batch) {
      for (Index z = 0; z < batch.size(); ++z)
        pairs.push_back({batch.indices[user][z], batch.indices[item][z]});
    });
    std::ranges::sort(pairs);
    const auto repeated = std::ranges::unique(pairs);
    pairs.erase(repeated.begin(), repeated.end());
    for (const auto& pair : pairs) known.append(pair, 1);
    if (file.num_unknown() > 0)
      context_.warn(fmt::format("{}: {} left out that the model does not have", options_.known_file.string(),
                                report::counted_were(file.num_unknown(), "coordinate")));
    return known;
  }

  // Whether the columns of users and items are found by name, and others do not matter.
  bool is_table_of_sides() const {
    if (!options_.columns.empty()) return true;
    const io::IndexSpace all(model_.dims(), model_.labels(), io::IndexSpace::Unknown::leave_out);
    io::ReadOptions read;
    read.space = &all;
    const auto head = io::recognise(io::InputFile(options_.known_file), read);
    const auto has = [&](const std::string& name) {
      return std::ranges::find(head.column_names, name) != head.column_names.end();
    };
    return head.format == io::TensorFormat::csv && head.has_header && has(source_.user_mode) &&
           has(source_.item_mode);
  }

  CompletionModel as_completion_model(tasks::WholeModel<double> whole) {
    auto shared = std::make_shared<tasks::WholeModel<double>>(std::move(whole));
    const auto& state = model_.state();
    auto view = std::make_shared<tasks::CompletionState<double>>(state.comm, labels_of_sides(),
                                                                 [shared] { return std::move(*shared); });
    view->input = state.input;
    view->source = source_;
    view->run.num_users = shared->model.num_users();
    view->run.num_items = shared->model.num_items();
    view->run.num_ratings = shared->ratings.num_nonzeros();
    view->run.options.num_factors = shared->model.num_factors();
    view->run.precision = "double";
    view->run.load_seconds = state.has_run() ? 0 : state.run.load_seconds;
    return CompletionModel(std::move(view));
  }

  const Context& context_;
  const CpModel& model_;
  const RecommendOptions& options_;
  std::vector<std::string> names_;  // of the modes
  Modes modes_;
  std::shared_ptr<const Kruskal<double>> kruskal_;
  io::IndexSpace space_;
  report::RecommendationSource source_;
};

void check_for_decomposition(const CpModel& model, const RecommendOptions& options) {
  if (model.order() < 2) tasks::refuse_option("the model has one mode; recommendations need users and items");
  for (const auto& [is_given, field] :
       {std::pair(!options.new_user.items.empty() || !options.new_user_file.empty(), "new_user"),
        std::pair(!options.new_users_file.empty(), "new_users"),
        std::pair(!options.new_items_file.empty(), "new_items")})
    if (is_given)
      tasks::refuse_option(
          fmt::format("{} requires a model of ratings, which complete writes; this is a CP "
                      "model",
                      option_name(field)));
  const bool is_similar = !options.similar_items.empty() || !options.similar_item_names.empty() ||
                          !options.similar_users.empty() || !options.similar_user_names.empty();
  if (is_similar && options.support > 0 && options.known_file.empty())
    tasks::refuse_option(
        fmt::format("{} {:g} needs numbers of ratings, which a CP model does not have: give "
                    "{} FILE, or {} 0 for cosines alone",
                    option_name("support"), options.support, option_name("known"), option_name("support")));
  if (!options.columns.empty() && options.known_file.empty())
    tasks::refuse_option(fmt::format("{} requires {}", option_name("columns"), option_name("known")));
  if (!is_similar && options.known_file.empty() && options.with_rated)
    tasks::refuse_option(fmt::format("{} has no effect without {}: nothing is left out",
                                     option_name("with_rated"), option_name("known")));
}

bool asks_for_lists(const RecommendOptions& options) {
  return options.all_users || !options.users.empty() || !options.user_names.empty();
}

}  // namespace

void tasks::refuse_decomposition_options(const RecommendOptions& options) {
  for (const auto& [is_given, field] :
       {std::pair(!options.at.empty(), "at"), std::pair(!options.user_mode.empty(), "user_mode"),
        std::pair(!options.item_mode.empty(), "item_mode"), std::pair(!options.known_file.empty(), "known"),
        std::pair(!options.columns.empty(), "columns")})
    if (is_given)
      tasks::refuse_option(
          fmt::format("{} is for models that cpd writes; this is a model of ratings, which has "
                      "users and items only, and its training ratings",
                      option_name(field)));
}

Recommendations recommend(const Context& context, const CpModel& model, const RecommendOptions& options) {
  const tasks::TaskScope scope(context);
  validate(options);
  check_for_decomposition(model, options);
  const auto view =
      collectively(model.state().comm, [&] { return RatingView(context, model, options).rating_model(); });
  if (options.known_file.empty() && asks_for_lists(options))
    context.note(fmt::format("items that users have already are not left out; {} FILE says which they are",
                             option_name("known")));
  return recommend(context, view, options);
}

Recommendations recommend(const Context& context, const std::filesystem::path& model,
                          const RecommendOptions& options) {
  std::error_code ignored;
  const bool is_of_ratings = collectively(
      context.comm(), [&] { return io::is_rating_model(model) || !std::filesystem::exists(model, ignored); });
  if (is_of_ratings) return recommend(context, load_completion_model(context, model), options);
  return recommend(context, load_model(context, model), options);
}

}  // namespace polyad
