#include "polyad/base/error.hpp"
#include "polyad/hypergraph/external_partitioner.hpp"

// For builds that have no Mt-KaHyPar.
namespace polyad::hypergraph {

bool has_mt_kahypar() {
  return false;
}

PartitionResult partition_by_mt_kahypar(const Hypergraph& /*h*/, const PartitionOptions& /*options*/) {
  throw Error(Errc::bad_option, no_mt_kahypar);
}

}  // namespace polyad::hypergraph
