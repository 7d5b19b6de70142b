#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "polyad/hypergraph/hypergraph.hpp"
#include "polyad/hypergraph/metrics.hpp"
#include "polyad/hypergraph/partition_kinds.hpp"
#include "polyad/io/bytes/existing.hpp"
#include "polyad/tasks/context.hpp"
#include "polyad/tasks/tensor.hpp"

namespace polyad {

using hypergraph::Effort;
using hypergraph::Hypergraph;
using hypergraph::PartitionMethod;
using hypergraph::PartitionMetrics;
using hypergraph::PartitionModel;
using hypergraph::SliceWeights;

// What a partition is optimised for. Lambda of a net is the number of parts that hold vertices of it.
enum class PartitionMetric {
  connectivity,  // the sum of lambda - 1 over all nets: the rows that processes send
  lambda_power   // the sum of lambda^rho over the nets that more than one part holds
};
// "connectivity" and "lambda2", as the command line calls them.
std::string to_string(PartitionMetric metric);
inline constexpr std::array all_partition_metrics{PartitionMetric::connectivity,
                                                  PartitionMetric::lambda_power};

struct PartitionOptions {
  int parts = 2;                                        // number of parts, from 1 to 65535
  PartitionModel model = PartitionModel::fine;          // what is assigned to parts; of tensors
  SliceWeights slice_weights = SliceWeights::per_mode;  // what is balanced; of PartitionModel::coarse
  PartitionMethod method = PartitionMethod::hypergraph;
  PartitionMetric metric = PartitionMetric::connectivity;
  double rho = 2;           // the exponent of PartitionMetric::lambda_power, from 1 to 8
  double imbalance = 0.05;  // how much heavier than the mean a part may be, as a fraction; from 0 to 100
  Effort effort = Effort::normal;
  double time_limit_seconds = 0;  // then the best partition so far is returned; 0: no limit
  std::uint64_t seed = 1;
  // A file with a previous partition to improve, one part per line, as save() writes it. Nonzeros, rows or
  // vertices after its end are new. Empty: a new partition is computed.
  std::filesystem::path previous_file = {};
  // With PartitionModel::coarse: the dims of the tensor that the previous partition is of; empty: those of
  // the tensor itself.
  std::vector<Index> previous_dims = {};
  std::filesystem::path cache = {};  // folder of cached partitions; empty: the user's cache folder
  bool no_cache = false;             // neither look for the partition in the cache nor store it there
};

// Throws Error{bad_option} for options that make no sense whatever is partitioned.
void validate(const PartitionOptions& options);
// The same for options of which some apply to tensors only, where a hypergraph is partitioned.
void validate_for_hypergraph(const PartitionOptions& options);

// A partition with its metrics. Copies share the same.
class Partition {
 public:
  struct State;  // private to the library
  explicit Partition(std::shared_ptr<const State> state) : state_(std::move(state)) {}

  // The part of each nonzero in the order of the tensor (fine, also with rows), of each slice, mode after
  // mode (coarse), of each row or column, or of each vertex of a hypergraph; counted from 0. Slices and rows
  // without nonzeros have a part too.
  const std::vector<int>& parts() const;
  // With PartitionModel::fine_with_rows: the part that owns the factor row of each slice, mode after mode;
  // else empty.
  const std::vector<int>& row_owners() const;
  int num_parts() const;
  // Communication and balance. All refer to the hypergraph of the tensor: docs/partition.md.
  const PartitionMetrics& metrics() const;
  // The size of that hypergraph.
  Index num_vertices() const;
  Index num_nets() const;
  Index num_pins() const;
  // Whether it was found in the cache.
  bool was_cached() const;
  // Whether the time limit ended the search; then another run may find another partition.
  bool was_cut_short() const;

  // The metrics as text for people.
  std::string summary() const;
  // All figures as one JSON object; docs/json.md describes its keys.
  std::string json() const;

 private:
  std::shared_ptr<const State> state_;
};

// Partitions a tensor for a number of processes, so that they send little and have equally much to do. What a
// method that searches finds is cached, so that `decompose` with as many processes finds it. Throws
// Error{bad_option} also where there are fewer vertices than parts. Runs on one process: throws
// Error{bad_option} for a context of several.
Partition partition(const Context& context, const Tensor& x, const PartitionOptions& options);
// The same for the vertices of a hypergraph, without a cache.
Partition partition(const Context& context, const Hypergraph& h, const PartitionOptions& options);

// The hypergraph whose vertices are partitioned for a tensor.
Hypergraph model_hypergraph(const Tensor& x, const PartitionOptions& options);

// Writes a part per line, in the order of Partition::parts. Throws Error{io} and Error{resource} where it
// cannot be written, and Error{bad_option} where the file exists and may not be replaced.
void save(const Context& context, const Partition& partition, const std::filesystem::path& path,
          Existing existing = Existing::replaced);
// The same for Partition::row_owners, which DistributionOptions::row_owners_file then names. Throws
// Error{bad_option} where there are none.
void save_row_owners(const Context& context, const Partition& partition, const std::filesystem::path& path,
                     Existing existing = Existing::replaced);
// Throws Error{resource} where a partition of this tensor is known not to fit on the disk.
void check_output(const Context& context, const Tensor& x, const PartitionOptions& options,
                  const std::filesystem::path& path);

// Hypergraphs in files of hMetis (.hgr), compressed or not; docs/partition.md describes the format.
bool is_hypergraph_file(const std::filesystem::path& path);
struct LoadedHypergraph {
  Hypergraph hypergraph;
  double load_seconds = 0;  // that reading took; part of Partition::json
};
// Throws Error{bad_input} with file and line for a file that cannot be understood.
LoadedHypergraph load_hypergraph(const Context& context, const std::filesystem::path& path);
Partition partition(const Context& context, const LoadedHypergraph& loaded, const PartitionOptions& options);
// Throws Error{bad_option} where vertices have several weights, which the format has no place for, or where
// the file exists and may not be replaced.
void save(const Context& context, const Hypergraph& h, const std::filesystem::path& path,
          Existing existing = Existing::replaced);

}  // namespace polyad
