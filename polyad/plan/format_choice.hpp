#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "polyad/plan/als_cost.hpp"
#include "polyad/plan/plan_als.hpp"
#include "polyad/tensor/local_tensor.hpp"

namespace polyad {

// One way to hold a tensor and iterate over it, with what it is predicted to take.
struct FormatOption {
  std::string name;  // as --format calls it
  Format format = Format::csf;
  AlsPlan plan;
  double seconds = 0;        // of an iteration
  double build_seconds = 0;  // once
  Index format_bytes = 0, work_bytes = 0, build_bytes = 0;

  // The most memory at any time, the program itself included.
  Index peak_bytes() const;
};

// The distinct tuples of indices that the planner wants to know of, [mode set]: mergeable, so that those of
// several processes give those of the whole tensor. `all_rows`: how many rows the whole tensor has, by mode;
// `rows`: see sketch_distinct.
using FiberSketches = std::map<ModeSet, DistinctSketch>;
template <class Real>
FiberSketches sketch_fibers(const SparseTensor<Real, LocalIndex>& x,
                            std::span<const std::span<const Index>> rows, std::span<const Index> all_rows);

// What the planner wants to know of a tensor, so far as these sketches tell.
TensorShape shape_of(std::vector<Index> rows, Index num_nonzeros, const FiberSketches& sketches);

// The order in which modes are updated when nobody says: that of the fastest iteration, for a nominal
// machine, so that it depends on the tensor and the number of components only, and with it the
// trajectory: not on the format, the precision, the threads or the memory at hand.
std::vector<int> choose_mode_order(const TensorShape& shape, Index num_components);

// All that can be chosen, by name: csf (the trees that the planner wants), csf-one, csf-two, csf-all, coo,
// hicoo.
const std::vector<std::string>& format_names();
std::vector<FormatOption> list_formats(const AlsCost& cost, const std::vector<int>& mode_order);

// The same for a tensor per mode, each for the rows of that mode only: a tree rooted there, or a list.
// costs: [mode].
std::vector<FormatOption> list_coarse_formats(std::span<const AlsCost> costs,
                                              const std::vector<int>& mode_order);

// The one of those with this name ("auto": of all) that fit that takes the least time to build and iterate
// a usual number of times. max_bytes 0: any fits. Nothing when none fits.
std::optional<FormatOption> choose_format(const std::vector<FormatOption>& options, const std::string& name,
                                          Index max_bytes);

}  // namespace polyad
