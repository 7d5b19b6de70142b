#include "polyad/tasks/detail/partition_cache.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bit>
#include <numeric>

#include "polyad/base/error.hpp"
#include "polyad/comm/collective.hpp"
#include "polyad/comm/lone_work.hpp"
#include "polyad/distributed/tensor_fingerprint.hpp"

namespace polyad::tasks {
namespace {

// On one process all nonzeros, in the order of the processes that had them.
SparseTensor<double> gather_tensor(const Comm& comm, const SparseTensor<double>& share, int root) {
  const auto counts = comm.all_gather(share.num_nonzeros());
  auto whole = collectively(comm, [&] {
    const auto total =
        comm.rank() == root ? std::size_t(std::accumulate(counts.begin(), counts.end(), Index(0))) : 0;
    std::vector<Array<Index>> indices(std::size_t(share.order()), Array<Index>(total));
    return SparseTensor<double>(share.extents(), std::move(indices), Array<double>(total, 1.0));
  });
  for (int m = 0; m < share.order(); ++m)
    comm.gather_varying<Index>(share.indices(m), counts, whole.indices(m), root);
  return whole;
}

// From one process to those that have the nonzeros.
std::vector<int> scatter_parts(const Comm& comm, std::span<const int> all, Index mine) {
  const auto counts = comm.all_gather(mine);
  auto parts = collectively(comm, [&] { return std::vector<int>(std::size_t(mine)); });
  comm.scatter_varying<int>(all, counts, parts, 0);
  return parts;
}

// From process 0: of fine grain to those that have the nonzeros, else all parts to all.
std::vector<int> spread_parts(const Comm& comm, std::vector<int> all, const SparseTensor<double>& share,
                              hypergraph::PartitionModel model) {
  if (model == hypergraph::PartitionModel::fine) return scatter_parts(comm, all, share.num_nonzeros());
  const Index count = comm.broadcast(std::ssize(all), 0);
  collectively(comm, [&] { all.resize(std::size_t(count)); });
  comm.broadcast(std::span<int>(all), 0);
  return all;
}

void add_notice(std::string& notices, const std::string& more) {
  if (!notices.empty() && !more.empty()) notices += "; ";
  notices += more;
}

// The partition with this key, which is the same on all processes. Collective.
std::optional<KeptPartition> find_kept(const Comm& comm, const SparseTensor<double>& share,
                                       const std::string& cache, hypergraph::PartitionModel model,
                                       PartitionKey key) {
  const auto folder = cache_folder(cache);
  StoredPartition found;
  std::vector<std::string> notices;
  collectively(comm, [&] {
    for (const bool is_cut_short : {false, true}) {
      if (comm.rank() != 0 || found.parts) break;
      key.is_cut_short = is_cut_short;
      found = read_stored_partition(folder, key);
      if (!found.notice.empty()) notices.push_back(std::move(found.notice));
      if (found.parts && is_cut_short)
        notices.push_back(
            fmt::format("{} is used, which was cut short when it was made", file_of(folder, key).string()));
    }
  });
  if (!comm.broadcast(found.parts.has_value(), 0)) {
    if (notices.empty()) return std::nullopt;
    return KeptPartition{{}, fmt::format("{}", fmt::join(notices, "; ")), false};
  }
  KeptPartition kept{{}, fmt::format("{}", fmt::join(notices, "; ")), true};
  kept.parts = spread_parts(comm, std::move(found.parts).value_or(std::vector<int>{}), share, model);
  return kept;
}

}  // namespace

std::uint64_t partition_fingerprint(const Comm& comm, const SparseTensor<double>& share,
                                    const hypergraph::TensorPartitionOptions& options) {
  auto fingerprint = tensor_fingerprint(comm, share, FingerprintOf::coordinates);
  const auto& how = options.hypergraph;
  for (const std::uint64_t choice :
       {std::uint64_t(options.slice_weights), std::uint64_t(options.method), std::uint64_t(how.effort),
        how.seed, std::uint64_t(how.objective.kind), std::bit_cast<std::uint64_t>(how.objective.rho),
        std::bit_cast<std::uint64_t>(how.imbalance)})
    fingerprint = extend_fingerprint(fingerprint, choice);
  // Those of earlier versions were made otherwise, and not as well.
  constexpr std::uint64_t power_version = 2, slices_version = 2;
  if (options.model != hypergraph::PartitionModel::fine)
    fingerprint = extend_fingerprint(fingerprint, slices_version);
  if (how.objective.kind == hypergraph::Objective::Kind::lambda_power)
    fingerprint = extend_fingerprint(fingerprint, power_version);
  return fingerprint;
}

hypergraph::TensorPartitionOptions hypergraph_options(hypergraph::PartitionModel model, int num_parts,
                                                      std::uint64_t seed) {
  hypergraph::TensorPartitionOptions options;
  options.model = model;
  options.hypergraph.num_parts = num_parts;
  options.hypergraph.seed = seed;
  return options;
}

hypergraph::TensorPartitionOptions completion_partition_options(RatingSide side, int num_parts,
                                                                std::uint64_t seed) {
  const auto model =
      side == RatingSide::user ? hypergraph::PartitionModel::row : hypergraph::PartitionModel::column;
  auto options = hypergraph_options(model, num_parts, seed);
  options.hypergraph.objective.kind = hypergraph::Objective::Kind::lambda_power;
  return options;
}

PartitionKey partition_key(const Comm& comm, const SparseTensor<double>& share,
                           const hypergraph::TensorPartitionOptions& options) {
  const Index count = options.model == hypergraph::PartitionModel::fine
                          ? comm.all_reduce(share.num_nonzeros())
                          : num_partitioned(share, options.model);
  return {to_string(options.model), options.hypergraph.num_parts, count,
          partition_fingerprint(comm, share, options), false};
}

std::optional<KeptPartition> kept_partition(const Comm& comm, const SparseTensor<double>& share,
                                            const std::string& cache,
                                            const hypergraph::TensorPartitionOptions& options) {
  return find_kept(comm, share, cache, options.model, partition_key(comm, share, options));
}

KeptPartition partition_or_reuse(const Comm& comm, const SparseTensor<double>& share,
                                 const std::string& cache,
                                 const hypergraph::TensorPartitionOptions& options) {
  const auto key = partition_key(comm, share, options);
  auto kept = find_kept(comm, share, cache, options.model, key);
  if (kept && kept->is_found) return std::move(*kept);
  const auto whole = gather_tensor(comm, share, 0);
  KeptPartition made{{}, kept ? kept->notice : "", true};
  auto all = alone(comm, 0, [&] {
    auto parts = partition_tensor(whole, options).parts;
    add_notice(made.notice, store_partition(cache_folder(cache), key, parts));
    return parts;
  });
  made.parts = spread_parts(comm, std::move(all), share, options.model);
  return made;
}

KeptPartition partition_and_keep(const SparseTensor<double>& x, const std::string& cache,
                                 const hypergraph::TensorPartitionOptions& options) {
  auto key = partition_key(Comm::self(), x, options);
  const auto folder = cache_folder(cache);
  auto earlier = read_stored_partition(folder, key);
  if (earlier.parts) return {std::move(*earlier.parts), std::move(earlier.notice), true};
  auto partition = partition_tensor(x, options);
  if (!partition.was_cut_short) {
    add_notice(earlier.notice, store_partition(folder, key, partition.parts));
    return {std::move(partition.parts), std::move(earlier.notice), true};
  }
  key.is_cut_short = true;
  auto notice = store_partition(folder, key, partition.parts);
  if (notice.empty() && !folder.empty())
    notice = fmt::format("cut short; kept as {}", file_of(folder, key).string());
  return {std::move(partition.parts), std::move(notice), true};
}

}  // namespace polyad::tasks
