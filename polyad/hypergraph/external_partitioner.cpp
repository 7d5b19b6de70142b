#include "polyad/hypergraph/external_partitioner.hpp"

#include <fmt/format.h>

#include <cassert>
#include <limits>

#include "polyad/base/error.hpp"

namespace polyad::hypergraph {

void check_outside(const std::string& name, const Hypergraph& h, const PartitionOptions& options) {
  if (options.objective.kind != Objective::Kind::connectivity)
    throw Error(Errc::bad_option, name + " makes connectivity - 1 small, not the sum of lambda^rho");
  if (h.num_constraints() > 1)
    throw Error(Errc::bad_option,
                fmt::format("{} balances one weight per vertex, these have {}", name, h.num_constraints()));
  constexpr Index maximum = std::numeric_limits<int>::max();
  if (h.num_pins() > maximum || h.num_vertices() > maximum || h.num_nets() > maximum)
    throw Error(Errc::resource,
                fmt::format("{} counts pins with 31 bits, there are {} of them", name, h.num_pins()));
  assert(options.starts.empty() && options.previous.empty() && options.shares.empty());
}

}  // namespace polyad::hypergraph
