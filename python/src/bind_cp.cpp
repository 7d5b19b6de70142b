#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <filesystem>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "polyad/tasks/compare.hpp"
#include "polyad/tasks/decompose.hpp"
#include "polyad/tasks/distribution_texts.hpp"
#include "polyad/tasks/every_process.hpp"
#include "polyad/tasks/load_model.hpp"
#include "polyad/tasks/predict.hpp"
#include "polyad/tasks/save.hpp"
#include "python/src/arrays.hpp"
#include "python/src/host.hpp"

namespace polyad::python {
namespace {

using Path = std::filesystem::path;

Method method_of(const std::string& name) {
  if (name == "als") return Method::als;
  if (name == "opt") return Method::opt;
  throw Error(Errc::bad_option, "method='" + name + "': expected als or opt");
}

const char* stop_name(StopReason stop) {
  switch (stop) {
    case StopReason::converged:
      return "converged";
    case StopReason::test_error:
      return "test_error";
    case StopReason::iteration_limit:
      return "iterations";
    case StopReason::interrupted:
      return "interrupted";
    case StopReason::time_limit:
      return "time";
    case StopReason::observer:
      break;
  }
  return "callback";
}

// The model, and whether Ctrl-C ended the run. A tensor that nobody needs afterwards is moved from.
std::pair<CpModel, bool> decompose_watched(const Host& host, Tensor& x, bool is_last_use,
                                           DecomposeOptions options, const nb::object& callback) {
  Watch watch(callback);
  options.observer = [&](const CpProgress& progress) {
    return watch(progress.iteration, progress.fit, progress.fit_change, progress.start);
  };
  if (options.max_seconds > 0) options.max_seconds += x.load_seconds;  // it counts from this call
  auto model = run(host, [&](const Context& context) {
    auto result = decompose(context, is_last_use ? std::move(x) : x, options);
    warn_of_memory(context, result.peak_memory_bytes(), options.max_memory_bytes);
    return host.is_of_several() ? on_every_process(result) : result;
  });
  return {std::move(model), watch.is_interrupted()};
}

// As on the command line; unlike there, a name of nothing is an error.
void set_distribution(DecomposeOptions& options, const std::string& scheme, const std::string& grid,
                      const std::string& partition, int order) {
  DistributionTexts texts;
  texts.scheme = scheme;
  texts.grid = grid;
  texts.partition = partition;
  options.distribution = parse_distribution(texts, options.seed, order);
  if (scheme != "auto" && !options.distribution.scheme)
    throw Error(Errc::bad_option,
                "distribution='" + scheme + "': expected one of auto, coarse, medium, fine");
}

void bind_options(nb::module_& module) {
  nb::class_<DecomposeOptions>(module, "CpOptions")
      .def(nb::init<>())
      .def_rw("rank", &DecomposeOptions::rank)
      .def_rw("max_iterations", &DecomposeOptions::max_iterations)
      .def_rw("tolerance", &DecomposeOptions::tolerance)
      .def_rw("seed", &DecomposeOptions::seed)
      .def_rw("num_starts", &DecomposeOptions::num_starts)
      .def_rw("nonnegative", &DecomposeOptions::nonnegative)
      .def_rw("nonnegative_modes", &DecomposeOptions::nonnegative_modes)
      .def_rw("mode_order", &DecomposeOptions::mode_order)
      .def_rw("max_memory_bytes", &DecomposeOptions::max_memory_bytes)
      .def_rw("max_seconds", &DecomposeOptions::max_seconds)
      .def(
          "set_checkpoint",
          [](DecomposeOptions& options, const std::string& directory, const std::string& every, int keep) {
            options.checkpoint = parse_checkpoint(directory, every, keep);
          },
          nb::arg("directory"), nb::arg("every"), nb::arg("keep"))
      .def("set_distribution", set_distribution, nb::arg("scheme"), nb::arg("grid"), nb::arg("partition"),
           nb::arg("order"))
      .def("set_method",
           [](DecomposeOptions& options, const std::string& name) { options.method = method_of(name); })
      .def("set_start", [](DecomposeOptions& options,
                           const std::string& name) { options.start = named(name, all_starts(), "init"); })
      .def("set_start_model",
           [](DecomposeOptions& options, const CpModel& model) { options.start_model = model; })
      .def("set_format",
           [](DecomposeOptions& options, const std::string& name) {
             options.format = named(name, all_storage_formats(), "format");
           })
      .def("set_device", [](DecomposeOptions& options,
                            const std::string& text) { options.device = parse_device(text, "device"); })
      .def("set_single",
           [](DecomposeOptions& options, bool single) {
             options.precision = single ? Precision::float32 : Precision::float64;
           })
      .def(
          "set_missing",
          [](DecomposeOptions& options, std::optional<double> regularisation, double test_fraction,
             bool has_biases) {
            MissingOptions missing{.test_fraction = test_fraction, .has_biases = has_biases};
            if (regularisation) missing.regularisation = *regularisation;
            options.missing = std::move(missing);
          },
          nb::arg("regularisation").none(), nb::arg("test_fraction"), nb::arg("has_biases"))
      .def("set_weights",
           [](DecomposeOptions& options, const Tensor& weights) { options.missing->weights = weights; })
      .def(
          "set_implicit",
          [](DecomposeOptions& options, double alpha, std::optional<double> regularisation,
             std::optional<double> shrinkage, double test_fraction) {
            options.implicit = ImplicitOptions{alpha, regularisation, shrinkage, test_fraction};
          },
          nb::arg("alpha"), nb::arg("regularisation").none(), nb::arg("shrinkage").none(),
          nb::arg("test_fraction"));
}

void bind_model(nb::module_& module) {
  nb::class_<CpModel>(module, "CpModel")
      .def_prop_ro("rank", &CpModel::rank)
      .def_prop_ro("shape", &CpModel::dims)
      .def_prop_ro("fit", &CpModel::fit)
      .def_prop_ro("stop",
                   [](const CpModel& model) -> std::optional<std::string> {
                     const auto stop = model.stop_reason();
                     return stop ? std::optional<std::string>(stop_name(*stop)) : std::nullopt;
                   })
      .def("weights", [](const CpModel& model) { return as_array(model.weights()); })
      .def("fits", [](const CpModel& model) { return as_array(model.fits()); })
      .def("factor", [](const CpModel& model, int mode) { return as_array(model.factor(mode)); })
      .def("mode_name",
           [](const CpModel& model, std::size_t mode) {
             const auto& labels = model.labels();
             return mode < labels.size() ? labels[mode].name : std::string();
           })
      .def("labels", [](const CpModel& model, std::size_t mode) { return labels_of(model.labels(), mode); })
      .def("summary", &CpModel::summary)
      .def("details", &CpModel::details)
      .def("component_table", &CpModel::component_table)
      .def("component_cards", &CpModel::component_cards)
      .def("json", &CpModel::json);
}

}  // namespace

void bind_cp(nb::module_& module) {
  bind_options(module);
  bind_model(module);
  module.def("decompose", decompose_watched, nb::arg("host"), nb::arg("x"), nb::arg("is_last_use"),
             nb::arg("options"), nb::arg("callback").none());
  module.def(
      "predict",
      [](const Host& host, const CpModel& model, const Tensor& x) {
        return as_array(run(host, [&](const Context& context) { return predict(context, model, x); }));
      },
      nb::arg("host"), nb::arg("model"), nb::arg("x"));
  module.def(
      "compare",
      [](const Host& host, const CpModel& first, const CpModel& second) {
        const auto found = run(host, [&](const Context& context) { return compare(context, first, second); });
        std::vector<std::tuple<Index, Index, double, std::vector<double>>> pairs;
        for (const auto& pair : found.pairs())
          pairs.emplace_back(pair.first, pair.second, pair.congruence, pair.cosines);
        return std::tuple(found.score(), pairs, found.summary(), found.json());
      },
      nb::arg("host"), nb::arg("first"), nb::arg("second"));
  module.def(
      "save_model",
      [](const Host& host, const CpModel& model, const Path& path, bool overwrite) {
        run(host, [&](const Context& context) {
          check_model_place(path, overwrite ? Existing::replaced : Existing::refused);
          save(context, model, path);
        });
      },
      nb::arg("host"), nb::arg("model"), nb::arg("path"), nb::arg("overwrite"));
  module.def(
      "load_model",
      [](const Host& host, const Path& path) {
        return run(host, [&](const Context& context) { return load_model(context, path); });
      },
      nb::arg("host"), nb::arg("path"));
  module.def(
      "save_cp_report",
      [](const Host& host, const CpModel& model, const Path& path, Index top) {
        run(host, [&](const Context& context) { save_report(context, model, path, top); });
      },
      nb::arg("host"), nb::arg("model"), nb::arg("path"), nb::arg("top"));
}

}  // namespace polyad::python
