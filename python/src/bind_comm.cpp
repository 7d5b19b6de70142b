#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "polyad/comm/collective.hpp"
#include "polyad/comm/comm.hpp"
#include "polyad/comm/loaded_mpi.hpp"
#include "polyad/tasks/every_process.hpp"
#include "python/src/host.hpp"

namespace polyad::python {
namespace {

Errc code_named(const std::string& name) {
  static const std::map<std::string, Errc> codes{{"bad_input", Errc::bad_input},
                                                 {"bad_option", Errc::bad_option},
                                                 {"io", Errc::io},
                                                 {"resource", Errc::resource},
                                                 {"comm", Errc::comm}};
  const auto found = codes.find(name);
  return found == codes.end() ? Errc::internal : found->second;
}

}  // namespace

void bind_comm(nb::module_& module) {
  nb::class_<Comm>(module, "Comm", "The processes of a communicator of MPI.")
      .def_prop_ro("rank", &Comm::rank)
      .def_prop_ro("size", &Comm::size)
      .def(
          "first_other",
          [](const Comm& comm, std::uint64_t mine) {
            const nb::gil_scoped_release unlocked;
            const auto all = comm.all_gather(mine);
            return int(std::ranges::find_if(all, [&](auto x) { return x != all[0]; }) - all.begin()) %
                   comm.size();
          },
          nb::arg("mine"), "The first process whose number is not that of process 0; 0 where there is none.")
      .def(
          "of_first",
          [](const Comm& comm, std::uint64_t mine) {
            const nb::gil_scoped_release unlocked;
            return comm.broadcast(mine, 0);
          },
          nb::arg("mine"), "The number of process 0.")
      .def(
          "throw_together",
          [](const Comm& comm, const std::string& code, const std::string& text) {
            const nb::gil_scoped_release unlocked;
            throw_together(comm, text.empty() ? std::nullopt : std::optional(Error(code_named(code), text)));
          },
          nb::arg("code"), nb::arg("text"),
          "Raises an error on all processes where one of them has one; an empty text is none.");
  module.def(
      "comm_of_mpi",
      [](const std::string& library, bool has_int_handles,
         const std::map<std::string, std::uint64_t>& constants, std::uint64_t handle) {
        const LoadedMpi mpi{library, has_int_handles,
                            [&](const std::string& name) { return constants.at(name); }};
        const nb::gil_scoped_release unlocked;
        return from_loaded_mpi(mpi, handle);
      },
      nb::arg("library"), nb::arg("has_int_handles"), nb::arg("constants"), nb::arg("handle"));
  module.def(
      "own_share",
      [](const Host& host, const Tensor& whole) {
        return run(host, [&](const Context& context) { return own_share(context, whole); });
      },
      nb::arg("host"), nb::arg("whole"));
  module.def(
      "check_shares",
      [](const Host& host, const Tensor& share) {
        run(host, [&](const Context& context) { check_shares(context, share); });
      },
      nb::arg("host"), nb::arg("share"));
}

}  // namespace polyad::python
