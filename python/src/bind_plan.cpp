#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <filesystem>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "polyad/tasks/partition.hpp"
#include "polyad/tasks/plan.hpp"
#include "polyad/tasks/rank.hpp"
#include "python/src/arrays.hpp"
#include "python/src/host.hpp"

namespace polyad::python {
namespace {

// The parts, the JSON of the metrics, and a summary.
std::tuple<Vector<int>, std::string, std::string> partition_tensor(const Host& host, const Tensor& x,
                                                                   const PartitionOptions& options) {
  const auto found = run(host, [&](const Context& context) { return partition(context, x, options); });
  return {as_array(std::vector<int>(found.parts())), found.json(), found.summary()};
}

void bind_partition(nb::module_& module) {
  nb::class_<PartitionOptions>(module, "PartitionOptions")
      .def(nb::init<>())
      .def_rw("parts", &PartitionOptions::parts)
      .def_rw("rho", &PartitionOptions::rho)
      .def_rw("imbalance", &PartitionOptions::imbalance)
      .def_rw("time_limit_seconds", &PartitionOptions::time_limit_seconds)
      .def_rw("seed", &PartitionOptions::seed)
      .def_rw("no_cache", &PartitionOptions::no_cache)
      .def("set_model",
           [](PartitionOptions& o, const std::string& name) {
             o.model = named<PartitionModel>(name, hypergraph::all_partition_models, "model");
           })
      .def("set_weights",
           [](PartitionOptions& o, const std::string& name) {
             o.slice_weights = named<SliceWeights>(name, hypergraph::all_slice_weights, "weights");
           })
      .def("set_method",
           [](PartitionOptions& o, const std::string& name) {
             o.method = named<PartitionMethod>(name, hypergraph::all_partition_methods, "method");
           })
      .def("set_metric",
           [](PartitionOptions& o, const std::string& name) {
             o.metric = named<PartitionMetric>(name, all_partition_metrics, "metric");
           })
      .def("set_effort", [](PartitionOptions& o, const std::string& name) {
        o.effort = named<Effort>(name, hypergraph::all_efforts, "effort");
      });
  module.def("partition", partition_tensor, nb::arg("host"), nb::arg("x"), nb::arg("options"));
}

void bind_rank(nb::module_& module) {
  nb::class_<RankOptions>(module, "RankOptions")
      .def(nb::init<>())
      .def_rw("ranks", &RankOptions::ranks)
      .def_rw("num_starts", &RankOptions::num_starts)
      .def_rw("held_out", &RankOptions::held_out)
      .def_rw("max_iterations", &RankOptions::max_iterations)
      .def_rw("tolerance", &RankOptions::tolerance)
      .def_rw("seed", &RankOptions::seed)
      .def_rw("nonnegative", &RankOptions::nonnegative)
      .def_rw("nonnegative_modes", &RankOptions::nonnegative_modes)
      .def_rw("max_memory_bytes", &RankOptions::max_memory_bytes)
      .def("set_start",
           [](RankOptions& o, const std::string& name) { o.start = named(name, all_starts(), "init"); })
      .def("set_format",
           [](RankOptions& o, const std::string& name) {
             o.format = named(name, all_storage_formats(), "format");
           })
      .def("set_single", [](RankOptions& o, bool single) {
        o.precision = single ? Precision::float32 : Precision::float64;
      });
  nb::class_<RankChoice>(module, "RankChoice")
      .def_prop_ro("rank", &RankChoice::rank)
      .def_prop_ro("reason", &RankChoice::reason)
      .def_prop_ro("table",
                   [](const RankChoice& choice) {
                     std::string table = report::rank_table_head();
                     for (const auto& evidence : choice.evidence())
                       table += "\n" + report::rank_table_line(evidence);
                     return table;
                   })
      .def("json", [](const RankChoice& choice) { return choice.json(); });
  module.def(
      "choose_rank",
      [](const Host& host, Tensor& x, bool is_last_use, RankOptions options) {
        options.observer = [](const CountEvidence&) {
          const nb::gil_scoped_acquire locked;
          if (PyErr_CheckSignals() != 0) throw nb::python_error();
        };
        return run(host, [&](const Context& context) {
          return choose_rank(context, is_last_use ? std::move(x) : x, options);
        });
      },
      nb::arg("host"), nb::arg("x"), nb::arg("is_last_use"), nb::arg("options"));
}

}  // namespace

void bind_plan(nb::module_& module) {
  bind_rank(module);
  bind_partition(module);
  nb::class_<Plan>(module, "Plan")
      .def("summary", &Plan::summary)
      .def("json", &Plan::json)
      .def_prop_ro("reason", &Plan::reason);
  module.def(
      "plan",
      [](const Host& host, const Tensor& x, Index rank, const std::vector<int>& processes,
         int threads_per_process, int processes_per_machine, bool with_hypergraph, double seconds,
         Index max_memory_bytes) {
        return run(host, [&](const Context& context) {
          PlanOptions options;
          options.rank = rank;
          options.processes = processes;
          options.threads_per_process = threads_per_process;
          options.processes_per_machine = processes_per_machine;
          options.with_hypergraph = with_hypergraph;
          options.time_limit_seconds = seconds;
          options.max_memory_bytes = max_memory_bytes;
          return plan(context, x, options);
        });
      },
      nb::arg("host"), nb::arg("x"), nb::arg("rank"), nb::arg("processes"), nb::arg("threads_per_process"),
      nb::arg("processes_per_machine"), nb::arg("with_hypergraph"), nb::arg("seconds"),
      nb::arg("max_memory_bytes"));
  module.def(
      "save_plan_report",
      [](const Host& host, const Plan& found, const std::filesystem::path& path) {
        run(host, [&](const Context& context) { save_report(context, found, path); });
      },
      nb::arg("host"), nb::arg("plan"), nb::arg("path"));
}

}  // namespace polyad::python
