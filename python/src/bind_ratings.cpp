#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "polyad/tasks/complete.hpp"
#include "polyad/tasks/every_process.hpp"
#include "polyad/tasks/recommend.hpp"
#include "polyad/tasks/save.hpp"
#include "python/src/arrays.hpp"
#include "python/src/host.hpp"

namespace polyad::python {
namespace {

using Path = std::filesystem::path;

constexpr std::array all_methods{CompletionMethod::sgd, CompletionMethod::als};
constexpr std::array all_solvers{RowSolver::automatic, RowSolver::cholesky, RowSolver::cg};
constexpr std::array all_lists{ListsBy::automatic, ListsBy::ranking, ListsBy::ratings};

const char* stop_name(CompletionStop stop) {
  switch (stop) {
    case CompletionStop::epochs:
      return "epochs";
    case CompletionStop::test_error:
      return "test_error";
    case CompletionStop::settled:
      return "converged";
    case CompletionStop::interrupted:
      return "interrupted";
    case CompletionStop::time_limit:
      return "time";
    case CompletionStop::observer:
      break;
  }
  return "callback";
}

TestRatings held_out_share(double fraction) {
  return {.kind = TestRatings::Kind::fraction, .fraction = fraction};
}

// Sets what ratings are held out, in the fields `test` and `validate`.
template <TestRatings CompleteOptions::*Field>
void bind_held_out(nb::class_<CompleteOptions>& options, const std::string& name) {
  options
      .def((name + "_fraction").c_str(),
           [](CompleteOptions& o, double fraction) { o.*Field = held_out_share(fraction); })
      .def((name + "_leave_one_out").c_str(),
           [](CompleteOptions& o) { (o.*Field).kind = TestRatings::Kind::leave_one_out; })
      .def((name + "_tensor").c_str(), [](CompleteOptions& o, const Tensor& ratings) {
        (o.*Field).kind = TestRatings::Kind::tensor;
        (o.*Field).tensor = ratings.tensor;
      });
}

void bind_complete_options(nb::module_& module) {
  nb::class_<CompleteOptions> options(module, "CompleteOptions");
  options.def(nb::init<>())
      .def_rw("factors", &CompleteOptions::factors)
      .def_rw("implicit", &CompleteOptions::implicit)
      .def_rw("alpha", &CompleteOptions::alpha)
      .def_rw("cg_steps", &CompleteOptions::cg_steps)
      .def_rw("popularity", &CompleteOptions::popularity)
      .def_rw("neighbours", &CompleteOptions::neighbours)
      .def_rw("max_epochs", &CompleteOptions::max_epochs)
      .def_rw("learning_rate", &CompleteOptions::learning_rate)
      .def_rw("decay", &CompleteOptions::decay)
      .def_rw("regularisation", &CompleteOptions::regularisation)
      .def_rw("shrinkage", &CompleteOptions::shrinkage)
      .def_rw("no_bias", &CompleteOptions::no_bias)
      .def_rw("patience", &CompleteOptions::patience)
      .def_rw("ranking", &CompleteOptions::ranking)
      .def_rw("relevant", &CompleteOptions::relevant)
      .def_rw("seed", &CompleteOptions::seed)
      .def_rw("max_memory_bytes", &CompleteOptions::max_memory_bytes)
      .def_rw("max_seconds", &CompleteOptions::max_seconds)
      .def(
          "set_checkpoint",
          [](CompleteOptions& o, const std::string& directory, const std::string& every, int keep) {
            o.checkpoint = parse_checkpoint(directory, every, keep);
          },
          nb::arg("directory"), nb::arg("every"), nb::arg("keep"))
      .def("set_method",
           [](CompleteOptions& o, const std::string& name) {
             o.method = named<CompletionMethod>(name, all_methods, "method");
           })
      .def("set_solver",
           [](CompleteOptions& o, const std::string& name) {
             o.solver = named<RowSolver>(name, all_solvers, "solver");
           })
      .def("set_device",
           [](CompleteOptions& o, const std::string& text) { o.device = parse_device(text, "device"); })
      .def("set_lists", [](CompleteOptions& o,
                           const std::string& name) { o.lists = named<ListsBy>(name, all_lists, "lists"); })
      .def("set_schedule",
           [](CompleteOptions& o, const std::string& name) {
             const auto all = all_step_schedules();
             o.schedule = named<StepSchedule::Kind>(name, all, "schedule");
           })
      .def("set_single", [](CompleteOptions& o, bool single) {
        o.precision = single ? Precision::float32 : Precision::float64;
      });
  bind_held_out<&CompleteOptions::test>(options, "test");
  bind_held_out<&CompleteOptions::validate>(options, "validate");
}

std::pair<CompletionModel, bool> complete_watched(const Host& host, Tensor& ratings, bool is_last_use,
                                                  CompleteOptions options, const nb::object& callback) {
  Watch watch(callback);
  options.observer = [&](const EpochRecord& record) { return watch(record); };
  auto model = run(host, [&](const Context& context) {
    auto result = complete(context, is_last_use ? std::move(ratings) : ratings, options);
    warn_of_memory(context, result.peak_memory_bytes(), options.max_memory_bytes);
    return host.is_of_several() ? on_every_process(result) : result;
  });
  return {std::move(model), watch.is_interrupted()};
}

void bind_completion_model(nb::module_& module) {
  nb::class_<EpochRecord>(module, "EpochRecord")
      .def_ro("epoch", &EpochRecord::epoch)
      .def_ro("step", &EpochRecord::step)
      .def_ro("loss", &EpochRecord::loss)
      .def_prop_ro("train_rmse", [](const EpochRecord& record) { return record.train.rmse; })
      .def_prop_ro("test_rmse",
                   [](const EpochRecord& record) {
                     return record.test ? std::optional(record.test->rmse) : std::nullopt;
                   })
      .def_ro("seconds", &EpochRecord::seconds)
      .def_ro("was_undone", &EpochRecord::was_undone)
      .def("__str__", [](const EpochRecord& record) { return to_text(record); });
  nb::class_<CompletionModel>(module, "CompletionModel")
      .def_prop_ro("num_users", &CompletionModel::num_users)
      .def_prop_ro("num_items", &CompletionModel::num_items)
      .def_prop_ro("num_factors", &CompletionModel::num_factors)
      .def_prop_ro("num_ratings", &CompletionModel::num_ratings)
      .def_prop_ro("mean", &CompletionModel::mean)
      .def_prop_ro("best_epoch", &CompletionModel::best_epoch)
      .def_prop_ro("stop",
                   [](const CompletionModel& model) -> std::optional<std::string> {
                     const auto stop = model.stop_reason();
                     return stop ? std::optional<std::string>(stop_name(*stop)) : std::nullopt;
                   })
      .def_prop_ro("test_rmse",
                   [](const CompletionModel& model) {
                     const auto& errors = model.test_errors();
                     return errors ? std::optional(errors->rmse) : std::nullopt;
                   })
      .def("epochs", [](const CompletionModel& model) { return model.epochs(); })
      .def("labels",
           [](const CompletionModel& model, std::size_t mode) { return labels_of(model.labels(), mode); })
      .def("user_factors", [](const CompletionModel& model) { return as_array(model.user_factors()); })
      .def("item_factors", [](const CompletionModel& model) { return as_array(model.item_factors()); })
      .def("user_biases", [](const CompletionModel& model) { return as_array(model.user_biases()); })
      .def("item_biases", [](const CompletionModel& model) { return as_array(model.item_biases()); })
      .def("summary", &CompletionModel::summary)
      .def("json", &CompletionModel::json);
}

struct ItemList {
  std::vector<Index> items;
  std::vector<double> scores;
};

std::vector<ItemList> lists_of(const Recommendations& recommendations) {
  std::vector<ItemList> lists;
  for (const auto& list : recommendations.lists()) {
    auto& made = lists.emplace_back();
    for (const auto& item : list.items) {
      made.items.push_back(item.item);
      made.scores.push_back(item.score);
    }
  }
  return lists;
}

}  // namespace

void bind_ratings(nb::module_& module) {
  bind_complete_options(module);
  bind_completion_model(module);
  nb::class_<RecommendOptions>(module, "RecommendOptions")
      .def(nb::init<>())
      .def_rw("users", &RecommendOptions::users)
      .def_rw("user_names", &RecommendOptions::user_names)
      .def_rw("similar_items", &RecommendOptions::similar_items)
      .def_rw("similar_item_names", &RecommendOptions::similar_item_names)
      .def_rw("similar_users", &RecommendOptions::similar_users)
      .def_rw("similar_user_names", &RecommendOptions::similar_user_names)
      .def_rw("support", &RecommendOptions::support)
      .def_rw("top", &RecommendOptions::top)
      .def_rw("with_rated", &RecommendOptions::with_rated)
      .def_rw("candidates", &RecommendOptions::candidates)
      .def_rw("exclude", &RecommendOptions::exclude)
      .def("set_new_user",
           [](RecommendOptions& o, std::vector<Index> items, std::vector<double> ratings) {
             o.new_user = {std::move(items), std::move(ratings)};
           })
      .def("set_lists", [](RecommendOptions& o, const std::string& name) {
        o.lists = named<ListsBy>(name, all_lists, "lists");
      });
  module.def("complete", complete_watched, nb::arg("host"), nb::arg("ratings"), nb::arg("is_last_use"),
             nb::arg("options"), nb::arg("callback").none());
  module.def(
      "recommend",
      [](const Host& host, const CompletionModel& model, const RecommendOptions& options) {
        const auto lists =
            run(host, [&](const Context& context) { return lists_of(recommend(context, model, options)); });
        std::vector<std::pair<Vector<Index>, Vector<double>>> result;
        for (const auto& list : lists) result.emplace_back(as_array(list.items), as_array(list.scores));
        return result;
      },
      nb::arg("host"), nb::arg("model"), nb::arg("options"));
  module.def(
      "add_items",
      [](const Host& host, const CompletionModel& model,
         std::vector<std::tuple<std::string, std::vector<Index>, std::vector<double>>> given) {
        std::vector<NewItem> items;
        for (auto& [label, users, ratings] : given)
          items.push_back({std::move(label), std::move(users), std::move(ratings)});
        return run(host, [&](const Context& context) { return add_items(context, model, items); });
      },
      nb::arg("host"), nb::arg("model"), nb::arg("items"));
  module.def(
      "update_users",
      [](const Host& host, const CompletionModel& model,
         std::vector<std::tuple<Index, std::string, std::vector<Index>, std::vector<double>>> given) {
        std::vector<UpdatedUser> users;
        for (auto& [user, label, items, ratings] : given)
          users.push_back({user, std::move(label), {std::move(items), std::move(ratings)}});
        return run(host, [&](const Context& context) { return update_users(context, model, users); });
      },
      nb::arg("host"), nb::arg("model"), nb::arg("users"));
  module.def(
      "save_completion_model",
      [](const Host& host, const CompletionModel& model, const Path& folder) {
        run(host, [&](const Context& context) { save(context, model, folder); });
      },
      nb::arg("host"), nb::arg("model"), nb::arg("folder"));
  module.def(
      "load_completion_model",
      [](const Host& host, const Path& folder) {
        return run(host, [&](const Context& context) { return load_completion_model(context, folder); });
      },
      nb::arg("host"), nb::arg("folder"));
  module.def(
      "save_completion_report",
      [](const Host& host, const CompletionModel& model, const Path& path) {
        run(host, [&](const Context& context) { save_report(context, model, path); });
      },
      nb::arg("host"), nb::arg("model"), nb::arg("path"));
}

}  // namespace polyad::python
