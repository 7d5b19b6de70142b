#include "polyad/base/error.hpp"
#include "polyad/hypergraph/external_partitioner.hpp"

// For builds that have no Zoltan.
namespace polyad::hypergraph {

bool has_zoltan() {
  return false;
}

PartitionResult partition_by_zoltan(const Hypergraph& /*h*/, const PartitionOptions& /*options*/) {
  throw Error(Errc::bad_option, no_zoltan);
}

}  // namespace polyad::hypergraph
