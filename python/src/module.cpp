#include <nanobind/nanobind.h>

#include "polyad/base/memory.hpp"
#include "polyad/tasks/doctor.hpp"
#include "polyad/tasks/option_values.hpp"
#include "polyad/version.hpp"
#include "python/src/host.hpp"

#include <nanobind/stl/string.h>

NB_MODULE(_core, module) {
  using namespace polyad;
  module.doc() = "The library, as the package polyad calls it; nothing here is for users.";
  module.attr("version") = POLYAD_VERSION;
  note_program_memory();
  python::register_errors();
  python::bind_comm(module);
  python::bind_host(module);
  python::bind_tensor(module);
  python::bind_cp(module);
  python::bind_ratings(module);
  python::bind_contract(module);
  python::bind_plan(module);
  python::bind_generate(module);
  module.def(
      "doctor",
      [](const python::Host& host) {
        return python::run(host, [](const Context& context) { return doctor(context).summary(); });
      },
      nanobind::arg("host"), "What the library was built with, and whether it works.");
  module.def(
      "parse_bytes",
      [](const std::string& text, const std::string& option) { return parse_bytes(text, option); },
      nanobind::arg("text"), nanobind::arg("option"), "800MB as a number of bytes.");
  module.def(
      "parse_duration",
      [](const std::string& text, const std::string& option) { return parse_duration(text, option); },
      nanobind::arg("text"), nanobind::arg("option"), "1h50m as a number of seconds.");
}
