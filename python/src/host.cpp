#include "python/src/host.hpp"

#include <nanobind/stl/string.h>

#include <map>
#include <memory>

#include "polyad/base/progress.hpp"
#include "polyad/comm/comm.hpp"

namespace polyad::python {
namespace {

const char* code_name(Errc code) {
  switch (code) {
    case Errc::bad_input:
      return "bad_input";
    case Errc::bad_option:
      return "bad_option";
    case Errc::io:
      return "io";
    case Errc::resource:
      return "resource";
    case Errc::comm:
      return "comm";
    case Errc::interrupted:
      return "interrupted";
    case Errc::internal:
      break;
  }
  return "internal";
}

void raise(const Error& error) {
  const auto make = nb::module_::import_("polyad._errors").attr("make");
  const nb::object exception = make(code_name(error.code()), error.text(keyword_of), error.input().file,
                                    error.input().line, keyword_of(error.option()));
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
}

void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& error) {
    try {
      raise(error);
    } catch (nb::python_error& failed) {
      failed.restore();
    }
  }
}

}  // namespace

std::string keyword_of(const std::string& field) {
  static const std::map<std::string, std::string> others{{"max_memory_bytes", "memory"},
                                                         {"max_iterations", "max_iter"},
                                                         {"tolerance", "tol"},
                                                         {"nonnegative", "nonneg"},
                                                         {"nonnegative_modes", "nonneg"},
                                                         {"num_starts", "starts"},
                                                         {"start", "init"},
                                                         {"start_model", "init"},
                                                         {"precision", "dtype"},
                                                         {"regularisation", "reg"},
                                                         {"shrinkage", "shrink"},
                                                         {"max_epochs", "epochs"},
                                                         {"learning_rate", "lr"},
                                                         {"test_fraction", "test"},
                                                         {"held_out", "holdout"},
                                                         {"scheme", "distribution"},
                                                         {"max_seconds", "time_limit"},
                                                         {"every_seconds", "every"},
                                                         {"every_iterations", "every"},
                                                         {"ranks", "components"},
                                                         {"top", "N"},
                                                         {"existing=replaced", "overwrite=True"},
                                                         {"header=false", "header=False"},
                                                         {"header=true", "header=True"},
                                                         {"LoadOptions::format", "format"},
                                                         {"missing", "missing_value"},
                                                         {"DecomposeOptions::missing", "missing"},
                                                         {"MissingOptions::weights", "weights"},
                                                         {"labels.none", "labels=False"},
                                                         {"labels.folder", "labels"},
                                                         {"labels.files", "labels"}};
  const auto other = others.find(field);
  return other == others.end() ? field : other->second;
}

void register_errors() {
  nb::register_exception_translator(translate);
}

// Callbacks hold no references, which could only be given up with the lock: the caller holds them.
Context Host::context() const {
  ContextOptions options;
  options.threads = threads;
  options.option_names = keyword_of;
  const nb::handle message = on_message, progress = on_progress;
  if (!message.is_none())
    options.on_message = [message](const Message& told) {
      const nb::gil_scoped_acquire locked;
      message(told.kind == Message::Kind::note ? "note" : "warning", told.text);
    };
  auto processes = comm ? *comm : Comm::self();
  if (progress.is_none()) return Context(std::move(processes), std::move(options));
  if (PyCallable_Check(progress.ptr()) == 0) {
    const auto style = processes.rank() == 0 ? Progress::Style::terminal : Progress::Style::silent;
    return Context(std::move(processes), std::move(options), std::make_shared<Progress>(style));
  }
  options.on_progress = [progress](const ProgressState& state) {
    const nb::gil_scoped_acquire locked;
    progress(nb::cast(state));
  };
  return Context(std::move(processes), std::move(options));
}

bool Watch::goes_on(const nb::object& answer) {
  if (answer.is_none()) return true;
  const int is_true = PyObject_IsTrue(answer.ptr());
  if (is_true < 0) throw nb::python_error();
  return is_true == 1;
}

void bind_host(nb::module_& module) {
  nb::class_<Host>(module, "Host", "Who is informed while a task runs, and by how many threads it is run.")
      .def(
          "__init__",
          [](Host* host, int threads, nb::object on_message, nb::object on_progress, const Comm* comm) {
            new (host) Host{threads, std::move(on_message), std::move(on_progress),
                            comm == nullptr ? std::nullopt : std::optional(*comm)};
          },
          nb::arg("threads") = 0, nb::arg("on_message").none() = nb::none(),
          nb::arg("on_progress").none() = nb::none(), nb::arg("comm").none() = nb::none());
  nb::class_<ProgressState>(module, "ProgressState", "State of a phase of a task.")
      .def_ro("phase", &ProgressState::phase)
      .def_ro("done", &ProgressState::done)
      .def_ro("total", &ProgressState::total)
      .def_ro("unit", &ProgressState::unit)
      .def_ro("seconds", &ProgressState::seconds)
      .def_ro("figure", &ProgressState::figure)
      .def("__str__", [](const ProgressState& state) {
        auto line = progress_line(state.phase, state.done, state.total, state.unit, state.seconds);
        return state.figure.empty() ? line : line + ", " + state.figure;
      });
}

}  // namespace polyad::python
