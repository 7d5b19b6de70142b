#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "polyad/tasks/load.hpp"
#include "polyad/tasks/save.hpp"
#include "polyad/tasks/stats.hpp"
#include "polyad/tasks/tensor.hpp"
#include "python/src/arrays.hpp"
#include "python/src/host.hpp"

namespace polyad::python {
namespace {

using Path = std::filesystem::path;
using Labels = std::vector<std::optional<std::vector<std::string>>>;

std::vector<ModeLabels> mode_labels(const std::optional<std::vector<std::string>>& modes,
                                    const std::optional<Labels>& labels, std::size_t order) {
  const auto require = [&](std::size_t count, const char* what) {
    if (count != order)
      throw Error(Errc::bad_input, std::string(what) + ": " + std::to_string(count) +
                                       " were given for a tensor of " + std::to_string(order) + " modes");
  };
  if (modes) require(modes->size(), "modes");
  if (labels) require(labels->size(), "labels");
  std::vector<ModeLabels> result(order);
  for (std::size_t mode = 0; mode < order; ++mode) {
    if (modes) result[mode].name = (*modes)[mode];
    if (labels && (*labels)[mode]) result[mode].labels = *(*labels)[mode];
  }
  return result;
}

Tensor tensor_from_pieces(const std::vector<Input<Index>>& coords, const Input<double>& values,
                          std::vector<Index> shape, const std::optional<std::vector<std::string>>& modes,
                          const std::optional<Labels>& labels) {
  const nb::gil_scoped_release unlocked;
  if (coords.size() != shape.size())
    throw Error(Errc::bad_input, "coords: " + std::to_string(coords.size()) + " arrays were given for " +
                                     std::to_string(shape.size()) + " modes");
  std::vector<Array<Index>> indices;
  for (const auto& column : coords) {
    if (column.size() != values.size())
      throw Error(Errc::bad_input, "coords: " + std::to_string(column.size()) + " indices were given for " +
                                       std::to_string(values.size()) + " values");
    indices.push_back(copied<Index>(column));
  }
  auto names = mode_labels(modes, labels, shape.size());
  return make_tensor(SparseTensor<double>(std::move(shape), std::move(indices), copied<double>(values)),
                     std::move(names));
}

// The options that have a name in Python and an own way to be said in C++.
struct Reading {
  std::optional<std::string> format, duplicates;
  std::string transform;
  std::vector<std::pair<int, Path>> label_files;
};

LoadOptions load_options(LoadOptions options, const Reading& reading) {
  if (reading.format) options.format = io::format_by_name(*reading.format);
  if (reading.duplicates)
    options.duplicates = named(*reading.duplicates, all_duplicate_rules(), "duplicates");
  options.transform = named(reading.transform, all_transforms(), "transform");
  for (const auto& [mode, path] : reading.label_files) options.labels.files.push_back({mode, path});
  return options;
}

Tensor read(const Host& host, const std::vector<Path>& paths, const LoadOptions& options,
            const Reading& reading) {
  return run(host, [&](const Context& context) {
    return load(context, TensorFiles(paths), load_options(options, reading));
  });
}

}  // namespace

void bind_tensor(nb::module_& module) {
  nb::class_<LoadOptions>(module, "LoadOptions")
      .def(nb::init<>())
      .def_rw("index_base", &LoadOptions::index_base)
      .def_rw("dims", &LoadOptions::dims)
      .def_rw("columns", &LoadOptions::columns)
      .def_rw("value", &LoadOptions::value)
      .def_rw("min_count", &LoadOptions::min_count)
      .def_rw("dense_zeros", &LoadOptions::dense_zeros)
      .def_prop_rw(
          "header", [](const LoadOptions& o) { return o.table.header; },
          [](LoadOptions& o, std::optional<bool> header) { o.table.header = header; }, nb::arg().none())
      .def_prop_rw(
          "separator", [](const LoadOptions& o) { return o.table.separator; },
          [](LoadOptions& o, const std::string& separator) { o.table.separator = separator; })
      .def_prop_rw(
          "decimal_comma", [](const LoadOptions& o) { return o.table.decimal_comma; },
          [](LoadOptions& o, bool is_comma) { o.table.decimal_comma = is_comma; })
      .def_prop_rw(
          "multiline", [](const LoadOptions& o) { return o.table.multiline; },
          [](LoadOptions& o, bool is_multiline) { o.table.multiline = is_multiline; })
      .def_prop_rw(
          "fields", [](const LoadOptions& o) { return o.table.fields; },
          [](LoadOptions& o, Index fields) { o.table.fields = fields; })
      .def_prop_rw(
          "missing_value", [](const LoadOptions& o) { return o.table.missing; },
          [](LoadOptions& o, std::optional<double> value) { o.table.missing = value; }, nb::arg().none())
      .def_prop_rw(
          "label_folder", [](const LoadOptions& o) { return o.labels.folder; },
          [](LoadOptions& o, const Path& folder) { o.labels.folder = folder; })
      .def_prop_rw(
          "no_labels", [](const LoadOptions& o) { return o.labels.none; },
          [](LoadOptions& o, bool none) { o.labels.none = none; });
  nb::class_<Tensor>(module, "Tensor")
      .def_prop_ro("shape", [](const Tensor& x) { return x.tensor.extents(); })
      .def_prop_ro("nnz", [](const Tensor& x) { return x.tensor.num_nonzeros(); })
      .def_prop_ro("path", [](const Tensor& x) { return x.path; })
      .def("mode_name",
           [](const Tensor& x, std::size_t mode) {
             return mode < x.labels.size() ? x.labels[mode].name : std::string();
           })
      .def("labels", [](const Tensor& x, std::size_t mode) { return labels_of(x.labels, mode); })
      .def("coords",
           [](const nb::object& self, int mode) {
             const auto& x = nb::cast<const Tensor&>(self);
             return as_view(x.tensor.indices(mode), self);
           })
      .def("values", [](const nb::object& self) {
        const auto& x = nb::cast<const Tensor&>(self);
        return as_view(x.tensor.values(), self);
      });
  module.def("tensor_from_pieces", tensor_from_pieces, nb::arg("coords"), nb::arg("values"), nb::arg("shape"),
             nb::arg("modes") = nb::none(), nb::arg("labels") = nb::none());
  module.def(
      "read",
      [](const Host& host, const std::vector<Path>& paths, const LoadOptions& options,
         const std::optional<std::string>& format, const std::optional<std::string>& duplicates,
         const std::string& transform, const std::vector<std::pair<int, Path>>& label_files) {
        return read(host, paths, options, {format, duplicates, transform, label_files});
      },
      nb::arg("host"), nb::arg("paths"), nb::arg("options"), nb::arg("format").none(),
      nb::arg("duplicates").none(), nb::arg("transform"), nb::arg("label_files"));
  module.def(
      "save_tensor",
      [](const Host& host, const Tensor& x, const Path& path, const std::optional<std::string>& format,
         bool compress, bool overwrite) {
        return run(host, [&](const Context& context) {
          SaveOptions options{.compress = compress,
                              .existing = overwrite ? Existing::replaced : Existing::refused};
          if (format) options.format = io::format_by_name(*format);
          return save(context, x, path, options);
        });
      },
      nb::arg("host"), nb::arg("x"), nb::arg("path"), nb::arg("format").none(), nb::arg("compress"),
      nb::arg("overwrite"));
  module.def(
      "stats",
      [](const Host& host, const Tensor& x, bool formats, Index rank) {
        return run(host, [&](const Context& context) {
          const auto found = stats(context, x, {.formats = formats, .rank = rank});
          return std::pair(found.summary(), found.json());
        });
      },
      nb::arg("host"), nb::arg("x"), nb::arg("formats"), nb::arg("rank"));
}

}  // namespace polyad::python
