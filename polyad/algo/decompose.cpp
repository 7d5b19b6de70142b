#include "polyad/algo/decompose.hpp"

#include <fmt/format.h>

#include "polyad/base/error.hpp"
#include "polyad/base/parallel.hpp"
#include "polyad/kernels/factor.hpp"

namespace polyad {
namespace {

[[noreturn]] void refuse(const std::vector<FormatOption>& options, const DecomposeOptions& wanted) {
  throw Error(Errc::resource,
              fmt::format("the decomposition does not fit into {} in format {}; predicted are\n{}",
                          with_prefix(double(wanted.max_bytes), "B"), wanted.format, format_table(options)));
}

}  // namespace

template <class Real>
PreparedTensor<Real> prepare(const Comm& comm, SparseTensor<double> x, const DecomposeOptions& options,
                             Progress& progress) {
  Timings timings;
  auto compacted = timings.measure(
      "compress", [&] { return progress.during("sorting", [&] { return compact<Real>(std::move(x)); }); });
  const auto shape = timings.measure(
      "choose", [&] { return progress.during("counting fibers", [&] { return shape_of(compacted); }); });
  const Index n = padded_components(options.als.num_components);
  const AlsCost cost(shape, {n, sizeof(Real), num_threads()});
  auto formats =
      list_formats(cost, options.mode_order.empty() ? choose_mode_order(shape, n) : options.mode_order);
  for (auto& format : formats) format.work_bytes += options.extra_bytes;
  const auto chosen = choose_format(formats, options.format, options.max_bytes);
  if (!chosen) refuse(formats, options);

  const double norm = squared_norm<Real>(compacted.tensor.values());
  const Index num_nonzeros = compacted.tensor.num_nonzeros();
  auto local = timings.measure("compress", [&] {
    return progress.during("building " + chosen->name, [&] {
      return build_format(std::move(compacted.tensor), chosen->format, chosen->plan.trees);
    });
  });
  return {DistTensor<Real>(comm, std::move(compacted.global_extents), std::move(compacted.rows),
                           std::move(local), norm, compacted.value_scale),
          *chosen,
          std::move(formats),
          num_nonzeros,
          compacted.num_duplicates,
          std::move(timings)};
}

std::string format_table(const std::vector<FormatOption>& options) {
  std::string text = fmt::format("  {:<8} {:>16} {:>12} {:>12}", "format", "per iteration", "tensor", "peak");
  for (const auto& option : options)
    text += fmt::format("\n  {:<8} {:>13.4g} ms {:>12} {:>12}", option.name, 1e3 * option.seconds,
                        with_prefix(double(option.format_bytes), "B"),
                        with_prefix(double(option.peak_bytes()), "B"));
  return text;
}

template PreparedTensor<float> prepare(const Comm&, SparseTensor<double>, const DecomposeOptions&, Progress&);

template PreparedTensor<double> prepare(const Comm&, SparseTensor<double>, const DecomposeOptions&,
                                        Progress&);

}  // namespace polyad
