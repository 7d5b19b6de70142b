#include "polyad/tasks/detail/choose_device.hpp"

#include <fmt/format.h>

#include "polyad/base/error.hpp"
#include "polyad/comm/collective.hpp"
#include "polyad/gpu/cell_kernels.hpp"
#include "polyad/gpu/cell_passes.hpp"
#include "polyad/gpu/chunk_sums.hpp"
#include "polyad/gpu/chunked_nonzeros.hpp"
#include "polyad/gpu/device.hpp"
#include "polyad/kernels/cp/factor.hpp"
#include "polyad/tasks/detail/task_checks.hpp"

namespace polyad::tasks {
namespace {

// Below, the start of a GPU takes longer than the iterations on the processor.
constexpr Index min_nonzeros = 1'000'000;

// The option that a GPU cannot serve, and what it would have to be; empty: none.
std::string hindrance(const DecomposeOptions& options) {
  if (options.method != Method::als) return option_name("method") + " als";
  const bool is_observed = options.missing || options.implicit;
  if (is_observed && (options.nonnegative || !options.nonnegative_modes.empty()))
    return fmt::format("factors that may be negative with {}, without {}",
                       option_name(options.implicit ? "implicit" : "DecomposeOptions::missing"),
                       option_name("nonnegative"));
  if (options.format != StorageFormat::automatic && options.format != StorageFormat::csf_all)
    return option_name("format") + " auto or csf-all";
  const Index max_rank = is_observed ? gpu::max_gpu_unknowns - 1 : gpu::max_gpu_columns;
  if (options.rank > max_rank) return fmt::format("{} at most {}", option_name("rank"), max_rank);
  return "";
}

Index bytes_of_value(const DecomposeOptions& options) {
  return options.precision == Precision::float32 ? sizeof(float) : sizeof(double);
}

// An estimate that is too high for tensors with empty slices.
Index device_bytes(const SparseTensor<double>& x, const DecomposeOptions& options) {
  const Index value_bytes = bytes_of_value(options);
  std::vector<gpu::ModeCounts> modes;
  std::vector<Index> num_rows;
  for (int m = 0; m < x.order(); ++m) {
    num_rows.push_back(std::min(x.extent(m), x.num_nonzeros()));
    modes.push_back({x.num_nonzeros(), num_rows.back()});
  }
  if (options.missing || options.implicit)
    return gpu::cell_passes_bytes(num_rows, x.num_nonzeros(), options.rank + x.order(), value_bytes);
  return gpu::passes_bytes(modes, kernels::padded_components(options.rank), value_bytes);
}

// Of a block of threads; 0: few.
Index block_bytes(const DecomposeOptions& options) {
  if (!options.missing && !options.implicit) return 0;
  return gpu::block_bytes_of_system(options.rank + 1, bytes_of_value(options));
}

bool is_worth_it(const Comm& comm, const SparseTensor<double>& x, const DecomposeOptions& options) {
  if (comm.size() > 1 || x.num_nonzeros() < min_nonzeros || x.order() > gpu::max_gpu_order) return false;
  if (!hindrance(options).empty() || options.max_memory_bytes > 0) return false;
  try {
    return !gpu::list_devices().gpus.empty() && gpu::has_kernels_for(0) &&
           device_bytes(x, options) <= gpu::free_bytes(0) &&
           block_bytes(options) <= gpu::block_memory_bytes(0);
  } catch (const Error&) {  // one that others have to themselves, or that is broken
    return false;
  }
}

// The GPU; nothing: the processor.
std::optional<int> choose_gpu(const Comm& comm, const SparseTensor<double>& share,
                              const DecomposeOptions& options) {
  const auto& device = options.device;
  if (device.kind == Device::Kind::cpu) return std::nullopt;
  if (device.kind == Device::Kind::automatic)
    return is_worth_it(comm, share, options) ? std::optional(0) : std::nullopt;
  if (share.order() > gpu::max_gpu_order)
    refuse_option(fmt::format("{} {} requires at most {} modes; the tensor has {}", option_name("device"),
                              to_string(device), gpu::max_gpu_order, share.order()));
  return device.index.value_or(comm.rank() % int(gpu::list_devices().gpus.size()));
}

}  // namespace

void check_device(const DecomposeOptions& options) {
  const auto& device = options.device;
  require_enumerator("device", device.kind, Device::Kind::gpu);
  if (device.kind != Device::Kind::gpu) return;
  const auto asked_for = option_name("device") + " " + to_string(device);
  if (const auto missing = hindrance(options); !missing.empty())
    refuse_option(fmt::format("{} requires {}", asked_for, missing));
  const auto list = gpu::list_devices();
  const auto count = int(list.gpus.size());
  if (count == 0) refuse_option(fmt::format("{}: {}", asked_for, list.why_none));
  if (device.index.value_or(0) >= count)
    refuse_option(
        fmt::format("{}: the GPUs of this machine are numbered from 0 to {}", asked_for, count - 1));
}

ChosenDevice choose_device(const Comm& comm, const SparseTensor<double>& share,
                           const DecomposeOptions& options) {
  return collectively(comm, [&] {
    const auto gpu = choose_gpu(comm, share, options);
    if (!gpu) return ChosenDevice{};
    return ChosenDevice{gpu, fmt::format("gpu {}: {}", *gpu, gpu::list_devices().gpus.at(*gpu).name)};
  });
}

}  // namespace polyad::tasks
