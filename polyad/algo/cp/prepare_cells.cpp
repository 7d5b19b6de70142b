#include "polyad/algo/cp/prepare_cells.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "polyad/algo/cp/observed_als.hpp"
#include "polyad/base/error.hpp"
#include "polyad/base/parallel.hpp"
#include "polyad/base/random.hpp"
#include "polyad/comm/collective.hpp"
#include "polyad/kernels/cp/row_systems.hpp"

namespace polyad {
namespace {

// Marks, 1 or -1, in the order of the cells of each mode. Those of duplicates, which were added up,
// count once.
template <class Real>
std::vector<Array<Real>> marks_by_mode(const DistTensor<Real>& marks) {
  std::vector<Array<Real>> weights;
  const ObservedTensor<Real> cells{marks};
  for (int m = 0; m < marks.order(); ++m) {
    const auto of_mode = kernels::cell_values(cells.cells(m));
    auto& signs = weights.emplace_back(of_mode.size());
    std::ranges::transform(of_mode, signs.begin(), [](Real mark) { return mark > 0 ? Real(1) : Real(-1); });
  }
  return weights;
}

// Weights in this order.
template <class Real>
std::vector<Array<Real>> weights_by_mode(const DistTensor<Real>& tensor) {
  std::vector<Array<Real>> weights;
  const ObservedTensor<Real> cells{tensor};
  const auto scale = Real(tensor.value_scale());
  for (int m = 0; m < tensor.order(); ++m) {
    const auto of_mode = kernels::cell_values(cells.cells(m));
    auto& here = weights.emplace_back(of_mode.size());
    std::ranges::transform(of_mode, here.begin(), [&](Real weight) { return weight * scale; });
  }
  return weights;
}

template <class Real>
bool have_same_cells(const CsfTensor<Real>& a, const CsfTensor<Real>& b) {
  const auto are_same = [](const CsfTree<Real>& left, const CsfTree<Real>& right) {
    if (left.modes() != right.modes()) return false;
    for (int level = 0; level < left.order(); ++level) {
      if (!std::ranges::equal(left.ids(level), right.ids(level))) return false;
      if (level < left.last_level() && !std::ranges::equal(left.first_child(level), right.first_child(level)))
        return false;
    }
    return true;
  };
  return std::ranges::equal(a.trees, b.trees, are_same);
}
template <class Real>
bool have_same_cells(const CooTensor<Real>& a, const CooTensor<Real>& b) {
  for (int m = 0; m < a.order(); ++m)
    if (!std::ranges::equal(a.tensor.indices(m), b.tensor.indices(m))) return false;
  return true;
}
template <class Real>
bool have_same_cells(const HicooTensor<Real>& a, const HicooTensor<Real>& b) {
  return std::ranges::equal(a.first, b.first) && std::ranges::equal(a.places, b.places, std::ranges::equal) &&
         std::ranges::equal(a.offsets, b.offsets, std::ranges::equal);
}

// Whether two tensors have the same cells on this process.
template <class Real>
bool have_same_cells(const DistTensor<Real>& a, const DistTensor<Real>& b) {
  for (int m = 0; m < a.order(); ++m) {
    if (!std::ranges::equal(a.rows(m), b.rows(m))) return false;
    const bool are_same = std::visit(
        [&](const auto& format) {
          const auto* other = std::get_if<std::decay_t<decltype(format)>>(&b.local(m));
          return other != nullptr && have_same_cells(format, *other);
        },
        a.local(m));
    if (!are_same) return false;
  }
  return true;
}

// Trees rooted at each mode, unless another format is asked for. In coarse grain, csf is that.
std::string format_of_cells(const std::string& asked_for, const Distribution& distribution,
                            int num_processes) {
  if (asked_for != "auto" && asked_for != "csf") return asked_for;
  return num_processes > 1 && distribution.scheme == Scheme::coarse ? "csf" : "csf-all";
}

template <class Real>
PreparedTensor<Real> prepare_both(const Comm& comm, SparseTensor<double> values, SparseTensor<double> marks,
                                  CpRunOptions options, Progress& progress,
                                  const Distribution& distribution) {
  options.format = format_of_cells(options.format, distribution, comm.size());
  std::vector<Array<Real>> weights;
  if (marks.order() > 0)
    weights = marks_by_mode(prepare<Real>(comm, std::move(marks), options, progress, distribution).tensor);
  auto prepared = prepare<Real>(comm, std::move(values), options, progress, distribution);
  prepared.weights = std::move(weights);
  return prepared;
}

// Divides weights by their mean. Collective.
void divide_by_mean(const Comm& comm, std::span<double> weights) {
  double sum = 0;
  for (const double weight : weights) sum += weight;
  const auto count = double(comm.all_reduce(std::ssize(weights)));
  sum = comm.all_reduce(sum);
  if (sum == 0) throw Error(Errc::bad_input, "has only weights of 0");
  for (double& weight : weights) weight *= count / sum;
}

// Throws Error{bad_input} where none has a positive sign, that is, all are held out. Collective.
void require_known_cells(const Comm& comm, std::span<const double> signs) {
  const auto is_known = std::ranges::any_of(signs, [](double sign) { return sign > 0; });
  if (comm.all_reduce(std::int32_t(is_known), Reduce::max) == 0)
    throw Error(Errc::bad_input, option_name("test") + " leaves no cell to learn from");
}

template <class Real>
PreparedTensor<Real> prepare_weighted(const Comm& comm, SparseTensor<double> values,
                                      SparseTensor<double> weights, CpRunOptions options, Progress& progress,
                                      const Distribution& distribution) {
  options.format = format_of_cells(options.format, distribution, comm.size());
  const auto of_cells = prepare<Real>(comm, std::move(weights), options, progress, distribution);
  auto prepared = prepare<Real>(comm, std::move(values), options, progress, distribution);
  if (prepared.num_duplicates + of_cells.num_duplicates > 0)
    throw Error(Errc::bad_input,
                fmt::format("has several entries of a cell, and weights cannot be combined; {} "
                            "says what becomes of them",
                            option_name("duplicates")));
  const bool are_same = have_same_cells(prepared.tensor, of_cells.tensor);
  if (comm.all_reduce(std::int32_t(are_same), Reduce::min) == 0)
    throw Error(Errc::bad_input, "has other cells than the tensor; expected a weight for each of its cells");
  prepared.weights = weights_by_mode(of_cells.tensor);
  return prepared;
}

}  // namespace

Array<double> draw_held_out(const SparseTensor<double>& share, double held_out, std::uint64_t seed) {
  constexpr std::uint64_t stream = 0x6f6273;  // apart from those of starts
  Array<double> weights(std::size_t(share.num_nonzeros()));
  parallel_for(share.num_nonzeros(), [&](Index z) {
    std::uint64_t place = 0;
    for (int m = 0; m < share.order(); ++m)
      place = Random(place, stream).bits(std::uint64_t(share.indices(m)[z]))[0];
    weights[z] = Random(seed, stream).uniform(place) < held_out ? -1 : 1;
  });
  return weights;
}

template <class Real>
PreparedTensor<Real> prepare_cells(const Comm& comm, SparseTensor<double> values,
                                   SparseTensor<double> weights, Progress& progress,
                                   const Distribution& distribution, Index num_components) {
  CpRunOptions options;
  options.als.num_components = num_components;
  return prepare_both<Real>(comm, std::move(values), std::move(weights), options, progress, distribution);
}

template <class Real>
PreparedTensor<Real> prepare_observed(const Comm& comm, SparseTensor<double> share,
                                      const CpRunOptions& options, Progress& progress,
                                      const Distribution& distribution, SparseTensor<double> weights) {
  if (weights.order() > 0) {
    collectively(comm, [&] {
      if (weights.extents() != share.extents())
        throw Error(Errc::bad_input,
                    "has other dims than the tensor; expected a weight for each of its cells");
      const auto wrong = std::ranges::find_if(weights.values(), [](double weight) { return !(weight >= 0); });
      if (wrong != weights.values().end())
        throw Error(Errc::bad_input, fmt::format("has the weight {}; expected 0 or more", *wrong));
    });
    divide_by_mean(comm, weights.values());
    const auto signs = draw_held_out(weights, options.observed->held_out, options.als.seed);
    require_known_cells(comm, signs);
    for (Index z = 0; z < weights.num_nonzeros(); ++z) weights.values()[z] *= signs[z];
    return prepare_weighted<Real>(comm, std::move(share), std::move(weights), options, progress,
                                  distribution);
  }
  SparseTensor<double> marks;
  if (options.observed->held_out > 0) {
    marks = share;
    std::ranges::copy(draw_held_out(share, options.observed->held_out, options.als.seed),
                      marks.values().begin());
    require_known_cells(comm, marks.values());
  }
  return prepare_both<Real>(comm, std::move(share), std::move(marks), options, progress, distribution);
}

template PreparedTensor<float> prepare_cells(const Comm&, SparseTensor<double>, SparseTensor<double>,
                                             Progress&, const Distribution&, Index);
template PreparedTensor<double> prepare_cells(const Comm&, SparseTensor<double>, SparseTensor<double>,
                                              Progress&, const Distribution&, Index);
template PreparedTensor<float> prepare_observed(const Comm&, SparseTensor<double>, const CpRunOptions&,
                                                Progress&, const Distribution&, SparseTensor<double>);
template PreparedTensor<double> prepare_observed(const Comm&, SparseTensor<double>, const CpRunOptions&,
                                                 Progress&, const Distribution&, SparseTensor<double>);

}  // namespace polyad
