#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <span>
#include <string>
#include <utility>

#include "polyad/base/error.hpp"
#include "polyad/comm/comm.hpp"
#include "polyad/tasks/context.hpp"

namespace polyad::python {

namespace nb = nanobind;

// How the Python package calls a field of an options struct: "memory" for "max_memory_bytes".
std::string keyword_of(const std::string& field);

// Makes polyad::Error an exception of polyad._errors.
void register_errors();

// Who is informed while a task runs, and by how many threads and processes it is run. The objects belong to
// the caller.
struct Host {
  int threads = 0;
  nb::object on_message;   // called with (kind, text); None: messages are dropped
  nb::object on_progress;  // called with a ProgressState; None: nobody; "terminal": a bar on standard error

  std::optional<Comm> comm = {};  // nothing: this process alone

  bool is_of_several() const { return comm && comm->size() > 1; }
  Context context() const;
};

// Runs a task without the lock of the interpreter, so that other threads of Python run meanwhile. What it
// returns is no object of Python.
template <class Task>
auto run(const Host& host, Task task) {
  const nb::gil_scoped_release unlocked;
  const auto context = host.context();
  return task(context);
}

// Calls back between the steps of a run, and looks for Ctrl-C. The callback belongs to the caller.
class Watch {
 public:
  explicit Watch(nb::handle callback) : callback_(callback) {}

  // Whether to go on: not after Ctrl-C, nor when the callback returns something false other than None.
  template <class... Figures>
  bool operator()(const Figures&... figures) {
    const nb::gil_scoped_acquire locked;
    try {
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
      return callback_.is_none() || goes_on(callback_(figures...));
    } catch (const nb::python_error& raised) {
      if (!raised.matches(PyExc_KeyboardInterrupt)) throw;
      is_interrupted_ = true;
      return false;
    }
  }
  bool is_interrupted() const { return is_interrupted_; }

 private:
  static bool goes_on(const nb::object& answer);

  nb::handle callback_;
  bool is_interrupted_ = false;
};

// The value of a list that has this name.
template <class Value>
Value named(const std::string& name, std::span<const Value> all, const std::string& keyword) {
  std::string names;
  for (const Value value : all) {
    if (name == to_string(value)) return value;
    names += (names.empty() ? "" : ", ") + to_string(value);
  }
  throw Error(Errc::bad_option, keyword + "='" + name + "': expected one of " + names);
}

void bind_comm(nb::module_& module);
void bind_host(nb::module_& module);
void bind_tensor(nb::module_& module);
void bind_cp(nb::module_& module);
void bind_ratings(nb::module_& module);
void bind_contract(nb::module_& module);
void bind_plan(nb::module_& module);
void bind_generate(nb::module_& module);

}  // namespace polyad::python
