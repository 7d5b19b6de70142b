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
#include "polyad/tasks/detail/ratings/list_model.hpp"
#include "polyad/tasks/detail/ratings/prepare_ratings.hpp"
#include "polyad/tasks/detail/task_checks.hpp"

namespace polyad::tasks {
namespace {

// Below, the start of a GPU takes longer than the iterations on the processor.
constexpr Index min_nonzeros = 1'000'000;

// What a GPU would have to do.
struct GpuWork {
  Device device;               // that was asked for
  std::string hindrance = {};  // what the options would have to be for a GPU to serve them; empty: it does
  bool has_systems = false;    // whether every row has a least-squares system of its own
  Index num_components = 0;
  Precision precision = Precision::float64;
  Index max_memory_bytes = 0;

  Index value_bytes() const { return precision == Precision::float32 ? sizeof(float) : sizeof(double); }
};

std::string too_many(const char* field, Index most) {
  return fmt::format("{} at most {}", option_name(field), most);
}

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
  return options.rank > max_rank ? too_many("rank", max_rank) : "";
}

// Gradient descent runs on the processor; where nothing else was asked for, a GPU may train the model for
// lists beside it.
std::string hindrance(const CompleteOptions& options) {
  const bool may_be_divided = options.device.kind == Device::Kind::automatic && trains_lists(options);
  if (!uses_least_squares(options) && !may_be_divided)
    return fmt::format("{} als or {}", option_name("method"), option_name("implicit"));
  if (cg_steps_of(options) > 0) return option_name("solver") + " cholesky";
  constexpr Index max_factors_of_gpu = gpu::max_gpu_unknowns - 1;
  return options.factors > max_factors_of_gpu ? too_many("factors", max_factors_of_gpu) : "";
}

GpuWork work_of(const DecomposeOptions& options) {
  return {.device = options.device,
          .hindrance = hindrance(options),
          .has_systems = options.missing || options.implicit,
          .num_components = options.rank,
          .precision = options.precision,
          .max_memory_bytes = options.max_memory_bytes};
}

GpuWork work_of(const CompleteOptions& options) {
  return {.device = options.device,
          .hindrance = hindrance(options),
          .has_systems = true,
          .num_components = options.factors,
          .precision = options.precision,
          .max_memory_bytes = options.max_memory_bytes};
}

// An estimate that is too high for tensors with empty slices.
Index device_bytes(const SparseTensor<double>& x, const GpuWork& work) {
  std::vector<gpu::ModeCounts> modes;
  std::vector<Index> num_rows;
  for (int m = 0; m < x.order(); ++m) {
    num_rows.push_back(std::min(x.extent(m), x.num_nonzeros()));
    modes.push_back({x.num_nonzeros(), num_rows.back()});
  }
  if (work.has_systems)
    return gpu::cell_passes_bytes(num_rows, x.num_nonzeros(), work.num_components + x.order(),
                                  work.value_bytes());
  return gpu::passes_bytes(modes, kernels::padded_components(work.num_components), work.value_bytes());
}

// Of a block of threads; 0: few.
Index block_bytes(const GpuWork& work) {
  return work.has_systems ? gpu::block_bytes_of_system(work.num_components + 1, work.value_bytes()) : 0;
}

bool is_worth_it(const Comm& comm, const SparseTensor<double>& x, const GpuWork& work) {
  if (comm.size() > 1 || x.num_nonzeros() < min_nonzeros || x.order() > gpu::max_gpu_order) return false;
  if (!work.hindrance.empty() || work.max_memory_bytes > 0) return false;
  try {
    return !gpu::list_devices().gpus.empty() && gpu::has_kernels_for(0) &&
           device_bytes(x, work) <= gpu::free_bytes(0) && block_bytes(work) <= gpu::block_memory_bytes(0);
  } catch (const Error&) {  // one that others have to themselves, or that is broken
    return false;
  }
}

// The GPU; nothing: the processor.
std::optional<int> choose_gpu(const Comm& comm, const SparseTensor<double>& share, const GpuWork& work) {
  const auto& device = work.device;
  if (device.kind == Device::Kind::cpu) return std::nullopt;
  if (device.kind == Device::Kind::automatic)
    return is_worth_it(comm, share, work) ? std::optional(0) : std::nullopt;
  if (share.order() > gpu::max_gpu_order)
    refuse_option(fmt::format("{} {} requires at most {} modes; the tensor has {}", option_name("device"),
                              to_string(device), gpu::max_gpu_order, share.order()));
  return device.index.value_or(comm.rank() % int(gpu::list_devices().gpus.size()));
}

ChosenDevice choose(const Comm& comm, const SparseTensor<double>& share, const GpuWork& work) {
  return collectively(comm, [&] {
    const auto gpu = choose_gpu(comm, share, work);
    if (!gpu) return ChosenDevice{};
    return ChosenDevice{gpu, fmt::format("gpu {}: {}", *gpu, gpu::list_devices().gpus.at(*gpu).name)};
  });
}

void check(const GpuWork& work) {
  const auto& device = work.device;
  require_enumerator("device", device.kind, Device::Kind::gpu);
  if (device.kind != Device::Kind::gpu) return;
  const auto asked_for = option_name("device") + " " + to_string(device);
  if (!work.hindrance.empty()) refuse_option(fmt::format("{} requires {}", asked_for, work.hindrance));
  const auto list = gpu::list_devices();
  const auto count = int(list.gpus.size());
  if (count == 0) refuse_option(fmt::format("{}: {}", asked_for, list.why_none));
  if (device.index.value_or(0) >= count)
    refuse_option(
        fmt::format("{}: the GPUs of this machine are numbered from 0 to {}", asked_for, count - 1));
}

}  // namespace

void check_device(const DecomposeOptions& options) {
  check(work_of(options));
}

void check_device(const CompleteOptions& options) {
  check(work_of(options));
}

ChosenDevice choose_device(const Comm& comm, const SparseTensor<double>& share,
                           const DecomposeOptions& options) {
  return choose(comm, share, work_of(options));
}

ChosenDevice choose_device(const Comm& comm, const SparseTensor<double>& share,
                           const CompleteOptions& options) {
  return choose(comm, share, work_of(options));
}

}  // namespace polyad::tasks
