#include "polyad/tasks/detail/checkpoints/checkpoint_identity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "polyad/base/error.hpp"
#include "polyad/distributed/tensor_fingerprint.hpp"
#include "polyad/io/bytes/checksum.hpp"
#include "polyad/tasks/detail/settings.hpp"
#include "polyad/version.hpp"

namespace polyad::tasks {
namespace {

// Settings that say how long a run goes on, where it is stored and how it is divided: not what it computes.
constexpr std::array free_settings{"max_iterations",
                                   "tolerance",
                                   "format",
                                   "max_memory_bytes",
                                   "scheme",
                                   "partition",
                                   "cache",
                                   "grid",
                                   "num_free_primes",
                                   "policy",
                                   "row_rule",
                                   "is_replicated",
                                   "exchange",
                                   "allows_coarse",
                                   "checkpoint",
                                   "every",
                                   "keep",
                                   "max_seconds",
                                   "device",
                                   "max_epochs",
                                   "ranking",
                                   "relevant",
                                   "sync",
                                   "virtual_processes",
                                   "random_owners",
                                   "by"};

// The field that option_name made a name of.
std::string field_of(const std::string& name) {
  return with_option_names(name, [](const std::string& field) { return field; });
}

void add_options(const std::vector<Setting>& settings, io::CheckpointManifest& identity) {
  for (const auto& setting : settings)
    if (const auto field = field_of(setting.name);
        std::ranges::find(free_settings, field) == free_settings.end())
      identity.options.emplace_back(field, setting.value);
}

std::uint64_t checksum_of(std::span<const double> numbers) {
  return io::checksum({reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes()});
}

// What every run has: its tensor and its options. Collective.
template <class Options>
io::CheckpointManifest identity_of(const Comm& comm, const char* command, const SparseTensor<double>& x,
                                   const Options& options) {
  io::CheckpointManifest identity;
  identity.program = "polyad " POLYAD_VERSION;
  identity.command = command;
  identity.processes = comm.size();
  identity.dims = x.extents();
  identity.num_nonzeros = comm.all_reduce(x.num_nonzeros());
  identity.tensor = tensor_fingerprint(comm, x, FingerprintOf::cells_in_any_order);
  identity.value_bytes = options.precision == Precision::float32 ? 4 : 8;
  add_options(settings_of(options), identity);
  return identity;
}

}  // namespace

io::CheckpointManifest checkpoint_identity(const Context& context, const Tensor& x,
                                           const DecomposeOptions& options) {
  const Comm& comm = context.comm();
  auto identity = identity_of(comm, "cpd", x.tensor, options);
  identity.options.emplace_back("duplicates", to_string(x.duplicate_rule));
  if (options.missing && options.missing->weights) {
    const auto weights =
        tensor_fingerprint(comm, options.missing->weights->tensor, FingerprintOf::cells_in_any_order);
    identity.options.emplace_back("fingerprint of the weights", fmt::format("{:016x}", weights));
  }
  if (options.start_model)
    identity.options.emplace_back("checksum of the initial weights",
                                  fmt::format("{:016x}", checksum_of(options.start_model->weights())));
  return identity;
}

io::CheckpointManifest checkpoint_identity(const Context& context, const SplitRatings& own,
                                           const CompleteOptions& options) {
  const Comm& comm = context.comm();
  auto identity = identity_of(comm, "complete", own.train, options);
  if (comm.all_reduce(own.test.num_nonzeros()) > 0) {
    const auto tested = tensor_fingerprint(comm, own.test, FingerprintOf::cells_in_any_order);
    identity.options.emplace_back("fingerprint of the ratings that choose the epoch",
                                  fmt::format("{:016x}", tested));
  }
  return identity;
}

}  // namespace polyad::tasks
