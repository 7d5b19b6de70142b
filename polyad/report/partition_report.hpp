#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "polyad/hypergraph/partition_tensor.hpp"

namespace polyad::report {

// Options, result and costs of a run of `polyad partition`.
struct PartitionRun {
  std::string model;  // fine, coarse, row, column, or hypergraph if one was read
  hypergraph::PartitionMethod method = hypergraph::PartitionMethod::hypergraph;
  hypergraph::PartitionOptions options;
  hypergraph::TensorPartition partition;  // its parts are not part of the report
  bool was_cached = false;
  int threads = 1;
  double load_seconds = 0, partition_seconds = 0;
  Index peak_memory_bytes = 0;
};

// The keys of `polyad partition --json`; docs/json.md names them all.
nlohmann::ordered_json partition_json(const PartitionRun& run);
std::string partition_text(const PartitionRun& run);

}  // namespace polyad::report
