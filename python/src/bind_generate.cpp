#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>

#include "polyad/tasks/generate.hpp"
#include "python/src/host.hpp"

namespace polyad::python {
namespace {

void bind_generate_options(nb::module_& module) {
  nb::class_<SkewedOptions>(module, "SkewedOptions")
      .def(nb::init<>())
      .def_rw("dims", &SkewedOptions::dims)
      .def_rw("num_nonzeros", &SkewedOptions::num_nonzeros)
      .def_rw("seed", &SkewedOptions::seed)
      .def_rw("exponents", &SkewedOptions::exponents)
      .def_rw("fiber_mode", &SkewedOptions::fiber_mode)
      .def_rw("fiber_mean", &SkewedOptions::fiber_mean)
      .def_rw("num_blocks", &SkewedOptions::num_blocks)
      .def_rw("block_dims", &SkewedOptions::block_dims)
      .def_rw("block_share", &SkewedOptions::block_share)
      .def_rw("corner_dims", &SkewedOptions::corner_dims)
      .def_rw("corner_share", &SkewedOptions::corner_share)
      .def_rw("diagonal_share", &SkewedOptions::diagonal_share)
      .def_rw("diagonal_distance", &SkewedOptions::diagonal_distance)
      .def("set_ordered", [](SkewedOptions& options, bool ordered) {
        options.index_order = ordered ? IndexOrder::ordered : IndexOrder::shuffled;
      });
  nb::class_<PlantedOptions>(module, "PlantedOptions")
      .def(nb::init<>())
      .def_rw("dims", &PlantedOptions::dims)
      .def_rw("num_nonzeros", &PlantedOptions::num_nonzeros)
      .def_rw("num_components", &PlantedOptions::num_components)
      .def_rw("noise", &PlantedOptions::noise)
      .def_rw("seed", &PlantedOptions::seed)
      .def_rw("observed", &PlantedOptions::observed);
  nb::class_<RatingsOptions>(module, "RatingsOptions")
      .def(nb::init<>())
      .def_rw("num_users", &RatingsOptions::num_users)
      .def_rw("num_items", &RatingsOptions::num_items)
      .def_rw("num_ratings", &RatingsOptions::num_ratings)
      .def_rw("num_factors", &RatingsOptions::num_factors)
      .def_rw("user_exponent", &RatingsOptions::user_exponent)
      .def_rw("item_exponent", &RatingsOptions::item_exponent)
      .def_rw("noise", &RatingsOptions::noise)
      .def_rw("test_fraction", &RatingsOptions::test_fraction)
      .def_rw("seed", &RatingsOptions::seed);
}

}  // namespace

void bind_generate(nb::module_& module) {
  bind_generate_options(module);
  module.def("options_like", options_like, nb::arg("name"), nb::arg("scale"));
  module.def(
      "generate_skewed",
      [](const Host& host, const SkewedOptions& options) {
        return run(host, [&](const Context& context) { return generate(context, options); });
      },
      nb::arg("host"), nb::arg("options"));
  module.def(
      "generate_planted",
      [](const Host& host, const PlantedOptions& options) {
        return run(host, [&](const Context& context) {
          auto made = generate(context, options);
          return std::tuple(std::move(made.tensor), std::move(made.truth));
        });
      },
      nb::arg("host"), nb::arg("options"));
  module.def(
      "generate_ratings",
      [](const Host& host, const RatingsOptions& options) {
        return run(host, [&](const Context& context) {
          auto made = generate(context, options);
          return std::tuple(std::move(made.train), std::move(made.test), made.noise_floor);
        });
      },
      nb::arg("host"), nb::arg("options"));
}

}  // namespace polyad::python
