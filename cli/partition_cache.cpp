#include "cli/partition_cache.hpp"

#include <fmt/format.h>

#include <bit>
#include <numeric>

#include "polyad/base/error.hpp"
#include "polyad/comm/collective.hpp"
#include "polyad/dist/repeated_nonzeros.hpp"
#include "polyad/io/partition_file.hpp"

namespace polyad::cli {
namespace {

constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;

std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 31)) * odd;
  return x ^ (x >> 29);
}

struct SharePlace {
  Index first, total;  // of the nonzeros of all processes
};

SharePlace place_of(const Comm& comm, const SparseTensor<double>& share) {
  const auto counts = comm.all_gather(share.num_nonzeros());
  return {std::accumulate(counts.begin(), counts.begin() + comm.rank(), Index(0)),
          std::accumulate(counts.begin(), counts.end(), Index(0))};
}

// On one process all nonzeros, in the order of the processes that had them.
SparseTensor<double> gather_tensor(const Comm& comm, const SparseTensor<double>& share, int root) {
  std::vector<Array<Index>> indices;
  for (int m = 0; m < share.order(); ++m)
    indices.push_back(comm.gather_varying<Index>(share.indices(m), root).items);
  Array<double> values(comm.rank() == root ? indices[0].size() : 0, 1.0);
  for (auto& column : indices) column.resize(values.size());
  return {share.extents(), std::move(indices), std::move(values)};
}

// Where a partition is kept that another run would not make again: only a plan does so, for the run that it
// is a plan of.
std::filesystem::path cut_short(std::filesystem::path path) {
  return path.replace_extension(".cut-short.part");
}

// From one process to those that have the nonzeros.
std::vector<int> scatter_parts(const Comm& comm, std::span<const int> all, Index mine) {
  const auto counts = comm.all_gather(mine);
  const std::vector<Index> none(std::size_t(comm.size()), 0);
  std::vector<Index> receive = none;
  receive[0] = mine;
  std::vector<int> parts(static_cast<std::size_t>(mine));
  comm.all_to_all<int>(all, comm.rank() == 0 ? counts : none, parts, receive);
  return parts;
}

}  // namespace

std::uint64_t partition_fingerprint(const Comm& comm, const SparseTensor<double>& share,
                                    const TensorPartitionOptions& options) {
  const Index first = place_of(comm, share).first;
  std::uint64_t sum = 0;
  for (Index z = 0; z < share.num_nonzeros(); ++z)
    sum += mixed(coordinate_hash(share, z) + odd * std::uint64_t(first + z + 1));
  sum = comm.all_reduce(sum);
  const auto& how = options.hypergraph;
  for (const Index extent : share.extents()) sum = mixed(sum ^ std::uint64_t(extent));
  for (const std::uint64_t choice :
       {std::uint64_t(options.slice_weights), std::uint64_t(options.method), std::uint64_t(how.effort),
        how.seed, std::uint64_t(how.objective.kind), std::bit_cast<std::uint64_t>(how.objective.rho),
        std::bit_cast<std::uint64_t>(how.imbalance)})
    sum = mixed(sum + choice);
  return sum;
}

std::filesystem::path cached_partition(const std::string& tensor_path, const TensorPartitionOptions& options,
                                       std::uint64_t fingerprint) {
  return fmt::format("{}.{}-{}-{:016x}.part", tensor_path, to_string(options.model),
                     options.hypergraph.num_parts, fingerprint);
}

std::string keep_partition(const std::filesystem::path& path, std::span<const int> parts) {
  try {
    io::write_partition(path, parts);
  } catch (const Error& error) {
    return fmt::format("the partition is not kept beside the tensor: {}", error.what());
  }
  return "";
}

TensorPartitionOptions hypergraph_options(PartitionModel model, int num_parts, std::uint64_t seed) {
  TensorPartitionOptions options;
  options.model = model;
  options.hypergraph.num_parts = num_parts;
  options.hypergraph.seed = seed;
  return options;
}

TensorPartitionOptions completion_partition_options(RatingSide side, int num_parts, std::uint64_t seed) {
  const auto model = side == RatingSide::user ? PartitionModel::row : PartitionModel::column;
  auto options = hypergraph_options(model, num_parts, seed);
  options.hypergraph.objective.kind = Objective::Kind::lambda_power;
  return options;
}

std::optional<KeptPartition> kept_partition(const Comm& comm, const SparseTensor<double>& share,
                                            const std::string& tensor_path,
                                            const TensorPartitionOptions& options) {
  const auto path = cached_partition(tensor_path, options, partition_fingerprint(comm, share, options));
  const bool is_fine = options.model == PartitionModel::fine;
  const auto place = is_fine ? place_of(comm, share) : SharePlace{0, 0};
  const Index mine = num_partitioned(share, options.model);
  const io::PartitionLines lines{place.first, mine, is_fine ? place.total : mine,
                                 options.hypergraph.num_parts};
  for (const auto& kept : {path, cut_short(path)})
    if (comm.all_reduce<std::int32_t>(std::filesystem::exists(kept), Reduce::min) == 1)
      return KeptPartition{
          collectively(comm, [&] { return io::read_partition(kept, lines); }),
          kept == path ? "" : fmt::format("{} is used, which was cut short when it was made", kept.string())};
  return std::nullopt;
}

KeptPartition partition_or_reuse(const Comm& comm, const SparseTensor<double>& share,
                                 const std::string& tensor_path, const TensorPartitionOptions& options) {
  if (auto kept = kept_partition(comm, share, tensor_path, options)) return std::move(*kept);
  const bool is_fine = options.model == PartitionModel::fine;
  const auto path = cached_partition(tensor_path, options, partition_fingerprint(comm, share, options));
  const auto whole = gather_tensor(comm, share, 0);
  KeptPartition made;
  auto all = collectively(comm, [&] {
    if (comm.rank() != 0) return std::vector<int>{};
    auto parts = partition_tensor(whole, options).parts;
    made.notice = keep_partition(path, parts);
    return parts;
  });
  if (is_fine) {
    made.parts = scatter_parts(comm, all, share.num_nonzeros());
  } else {
    comm.broadcast(all, 0);
    made.parts = std::move(all);
  }
  return made;
}

KeptPartition partition_and_keep(const SparseTensor<double>& x, const std::string& tensor_path,
                                 const TensorPartitionOptions& options) {
  const auto path = cached_partition(tensor_path, options, partition_fingerprint(Comm::self(), x, options));
  auto partition = partition_tensor(x, options);
  if (!partition.was_cut_short) {
    auto notice = keep_partition(path, partition.parts);
    return {std::move(partition.parts), std::move(notice)};
  }
  const Index count = num_partitioned(x, options.model);
  if (std::filesystem::exists(path))
    return {io::read_partition(path, {0, count, count, options.hypergraph.num_parts}),
            fmt::format("cut short; {}, which was not, is taken instead", path.string())};
  auto notice = keep_partition(cut_short(path), partition.parts);
  if (notice.empty()) notice = fmt::format("cut short; kept as {}", cut_short(path).string());
  return {std::move(partition.parts), std::move(notice)};
}

}  // namespace polyad::cli
