#include "polyad/plan/als_cost.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "polyad/kernels/cp/work_cost.hpp"
#include "polyad/tensor/coo.hpp"
#include "polyad/tensor/csf.hpp"
#include "polyad/tensor/hicoo.hpp"

namespace polyad {
namespace {

// Nanoseconds of one thread while all threads are at work, by the default machine model.
constexpr double per_sorted_nonzero = 100;
constexpr double per_index = 4, per_block_index = 10;  // of a nonzero in a list, and of a block
constexpr double update_share = 1.6;                   // reading, adding and writing a row against reading it

ModeSet set_of(std::span<const int> modes) {
  ModeSet set = 0;
  for (const int mode : modes) set |= ModeSet(1) << mode;
  return set;
}

}  // namespace

double TensorShape::num_nodes(ModeSet modes) const {
  if (std::popcount(modes) == order()) return double(num_nonzeros);
  if (std::popcount(modes) == 1) return double(rows[std::countr_zero(modes)]);
  double maximum = 1;
  for (ModeSet rest = modes; rest != 0; rest &= rest - 1) maximum *= double(rows[std::countr_zero(rest)]);
  maximum = std::min(maximum, double(num_nonzeros));
  const auto known = distinct.find(modes);
  return known == distinct.end() ? maximum : std::min(maximum, known->second);
}

// Ratios to the defaults are exactly 1 for the default machine model, whose predictions are the built-in
// ones.
AlsCost::AlsCost(const TensorShape& shape, const CostOptions& options) : shape_(shape), options_(options) {
  const MachineModel usual, &here = options.machine;
  const double node_ratio = here.per_node / usual.per_node;
  per_streamed_byte_ = kernels::per_streamed_byte * (here.per_streamed_byte / usual.per_streamed_byte);
  per_node_ = kernels::per_node * node_ratio;
  per_index_ = per_index * node_ratio;
  per_block_index_ = per_block_index * node_ratio;
  per_sorted_nonzero_ = per_sorted_nonzero * (here.per_sorted_nonzero / usual.per_sorted_nonzero);
  near_ratio_ = here.per_near_line / usual.per_near_line;
  far_ratio_ = here.per_far_line / usual.per_far_line;
  solve_ratio_ = here.per_solved_row / usual.per_solved_row;
}

double AlsCost::line(double table_bytes) const {
  const double ratio = near_ratio_ + MachineModel::distance(table_bytes) * (far_ratio_ - near_ratio_);
  return ratio * kernels::line_nanoseconds(table_bytes);
}

double AlsCost::row_lines() const {
  return kernels::lines_of_row(options_.num_components, options_.value_bytes);
}

double AlsCost::gather(int mode) const {
  const double bytes = double(shape_.rows[mode] * options_.num_components * options_.value_bytes);
  return row_lines() * line(bytes);
}

double AlsCost::update(int mode) const {
  return double(shape_.rows[mode]) *
         (solve_ratio_ * kernels::solve_nanoseconds(options_.num_components, options_.value_bytes));
}

// A pass that sums up to the root: a row per node of every level below it.
double AlsCost::root(std::span<const int> tree) const {
  double nanoseconds = per_streamed_byte_ * double(tree_bytes(tree));
  for (std::size_t level = 1; level < tree.size(); ++level)
    nanoseconds += shape_.num_nodes(set_of(tree.first(level + 1))) * (gather(tree[level]) + per_node_);
  return nanoseconds;
}

// A pass down to a level, whose rows are added to; below it, sums.
double AlsCost::scatter(std::span<const int> tree, int mode) const {
  double nanoseconds = root(tree);
  const auto level = std::size_t(std::ranges::find(tree, mode) - tree.begin());
  nanoseconds += shape_.num_nodes(set_of(tree.first(level + 1))) * gather(mode) * (update_share - 1);
  nanoseconds += double(shape_.rows[mode]) * options_.threads * row_lines() * 2 * line(0);
  return nanoseconds + update(mode);
}

// Of slices that are not complete in the pass, the next mode takes a pass of its own, or is made of sums that
// were written to memory.
double AlsCost::root_and_next(std::span<const int> tree, bool keeps_sums) const {
  const double complete = complete_share(tree[0]);
  const double nodes = shape_.num_nodes(set_of(tree.first(2)));
  const double added = nodes * (gather(tree[1]) * update_share + row_lines() * 2 * line(0));
  const double summed = double(shape_.rows[tree[1]]) * options_.threads * row_lines() * 2 * line(0);
  const double from_sums = added + summed + update(tree[1]);
  // A line is fetched, written and read later, mostly while rows are waited for that are not next to each
  // other.
  constexpr double transfers = 1;
  const double rest =
      keeps_sums ? (1 - complete) * from_sums + double(kept_bytes(tree)) * transfers * per_streamed_byte_
                 : (1 - complete) * scatter(tree, tree[1]);
  return root(tree) + update(tree[0]) + complete * from_sums + rest;
}

Index AlsCost::kept_bytes(std::span<const int> tree) const {
  const double nodes = (1 - complete_share(tree[0])) * shape_.num_nodes(set_of(tree.first(2)));
  return Index(std::ceil(nodes)) * options_.num_components * options_.value_bytes;
}

Index AlsCost::max_kept_bytes() const {
  if (!options_.may_keep_sums || shape_.order() < 3) return 0;
  const Index nonzeros =
      coordinate_bytes(shape_.order(), shape_.num_nonzeros, options_.value_bytes, sizeof(LocalIndex));
  const Index rows = std::accumulate(shape_.rows.begin(), shape_.rows.end(), Index(0));
  const Index row_bytes = options_.num_components * options_.value_bytes;
  return std::min(2 * nonzeros + rows * row_bytes, shape_.num_nonzeros * row_bytes);
}

AlsStep AlsCost::root_and_next_step(std::span<const int> tree, int tree_index) const {
  AlsStep step{AlsStep::Kind::root_and_next, tree[0], tree_index};
  step.keeps_sums = complete_share(tree[0]) < 1 && kept_bytes(tree) <= max_kept_bytes() &&
                    root_and_next(tree, true) < root_and_next(tree, false);
  return step;
}

// Below the root, a row is read on the way up and another one added to on the way down.
double AlsCost::levels(std::span<const int> tree, int num_levels) const {
  double nanoseconds = root(tree) + update(tree[0]);
  for (int level = 1; level < num_levels; ++level) {
    const double nodes = shape_.num_nodes(set_of(tree.first(std::size_t(level) + 1)));
    nanoseconds += nodes * gather(tree[level]) * update_share + update(tree[level]);
    nanoseconds += double(shape_.rows[tree[level]]) * options_.threads * row_lines() * 2 * line(0);
  }
  return nanoseconds;
}

double AlsCost::step_seconds(const AlsPlan& plan, const AlsStep& step) const {
  const double to_seconds = 1e-9 / options_.threads;
  if (plan.trees.empty()) return 0;  // other formats have costs of their own
  const auto& tree = plan.trees[step.tree];
  switch (step.kind) {
    case AlsStep::Kind::root:
      return to_seconds * (root(tree) + update(step.mode));
    case AlsStep::Kind::root_and_next:
      return to_seconds * root_and_next(tree, step.keeps_sums);
    case AlsStep::Kind::scatter:
      return to_seconds * scatter(tree, step.mode);
    case AlsStep::Kind::levels:
      return to_seconds * levels(tree, step.num_levels);
    default:  // from the plain list: by the tree that has the mode highest
      const auto best = std::ranges::min_element(
          plan.trees, {}, [&](const auto& t) { return std::ranges::find(t, step.mode) - t.begin(); });
      return to_seconds *
             (best->front() == step.mode ? root(*best) + update(step.mode) : scatter(*best, step.mode));
  }
}

double AlsCost::seconds(const AlsPlan& plan) const {
  double sum = 0;
  for (const auto& step : plan.steps) sum += step_seconds(plan, step);
  return sum;
}

double AlsCost::coo_seconds() const {
  double nanoseconds = 0;
  for (int mode = 0; mode < shape_.order(); ++mode) {
    nanoseconds += update(mode);
    double per_nonzero = per_node_ + per_index_ * shape_.order() + row_lines() * line(0);
    for (int k = 0; k < shape_.order(); ++k)
      if (k != mode) per_nonzero += 1.5 * gather(k);  // nothing is prefetched
    nanoseconds += per_nonzero * double(shape_.num_nonzeros);
  }
  return nanoseconds * 1e-9 / options_.threads;
}

// Rows come into the cache once per block that uses them.
double AlsCost::hicoo_seconds() const {
  const double fill = double(shape_.num_nonzeros) / std::max(shape_.num_blocks, 1.0);
  const double fetched = std::min(1.0, 128 / std::max(fill, 1.0));
  double nanoseconds = 0;
  for (int mode = 0; mode < shape_.order(); ++mode) {
    nanoseconds += update(mode) + shape_.num_blocks * per_block_index_ * shape_.order();
    double per_nonzero = per_node_ + update_share * row_lines() * line(0);
    for (int k = 0; k < shape_.order(); ++k)
      if (k != mode) per_nonzero += row_lines() * line(0) + 1.5 * fetched * gather(k);
    nanoseconds += per_nonzero * double(shape_.num_nonzeros);
  }
  return nanoseconds * 1e-9 / options_.threads;
}

double AlsCost::tree_build_seconds() const {
  return double(shape_.num_nonzeros) * per_sorted_nonzero_ * 1e-9 / options_.threads;
}

Index AlsCost::tree_bytes(std::span<const int> tree) const {
  std::vector<Index> nodes;
  for (std::size_t level = 0; level < tree.size(); ++level)
    nodes.push_back(Index(shape_.num_nodes(set_of(tree.first(level + 1)))));
  return csf_bytes(nodes, options_.value_bytes);
}

Index AlsCost::csf_format_bytes(std::span<const std::vector<int>> trees) const {
  Index sum = 0;
  for (const auto& tree : trees) sum += tree_bytes(tree);
  return sum;
}

Index AlsCost::coo_format_bytes() const {
  return coo_bytes(shape_.rows, shape_.num_nonzeros, options_.value_bytes);
}

Index AlsCost::hicoo_format_bytes() const {
  return hicoo_bytes(shape_.rows, shape_.num_nonzeros, Index(shape_.num_blocks), options_.value_bytes);
}

Index AlsCost::work_bytes(const AlsPlan& plan) const {
  Index factor_rows = 0, parts = 0, whole = 0, partial = 0, start_parts = 0, kept = 0;
  std::vector<Index> level_parts(shape_.rows.size());
  for (int m = 0; m < shape_.order(); ++m) {
    factor_rows += shape_.rows[m];
    if (complete_share(m) < 1) partial = std::max(partial, shape_.rows[m]);  // on their way to others
  }
  const auto is_at_root = [&](int mode) {
    return std::ranges::any_of(plan.trees, [&](const auto& tree) { return tree.front() == mode; });
  };
  for (const auto& step : plan.steps) {
    if (step.kind == AlsStep::Kind::scatter) parts = std::max(parts, shape_.rows[step.mode]);
    if (step.kind == AlsStep::Kind::root_and_next)
      parts = std::max(parts, shape_.rows[plan.trees[step.tree][1]]);
    if (step.keeps_sums) kept = std::max(kept, kept_bytes(plan.trees[step.tree]));
    for (int level = 1; level < step.num_levels; ++level)
      level_parts[level] = std::max(level_parts[level], shape_.rows[plan.trees[step.tree][level]]);
    if (step.kind == AlsStep::Kind::mttkrp) {
      if (complete_share(step.mode) == 1) whole = std::max(whole, shape_.rows[step.mode]);
      if (!plan.trees.empty() && !is_at_root(step.mode))  // then it is scattered
        parts = std::max(parts, shape_.rows[step.mode]);
    }
    // The start of CP-OPT, before there are evaluations, multiplies by one mode after the other.
    if (step.kind == AlsStep::Kind::levels)
      for (int m = 0; m < shape_.order(); ++m)
        if (!is_at_root(m)) start_parts = std::max(start_parts, shape_.rows[m]);
  }
  const Index added_rows =
      std::max(std::reduce(level_parts.begin(), level_parts.end()) * (options_.threads - 1),
               start_parts * options_.threads);
  const Index row_bytes = options_.num_components * options_.value_bytes;
  // Gram matrices, those of each thread, and what inverting needs.
  const Index squares = shape_.order() + 2 * Index(options_.threads) + 6;
  const Index square_bytes = options_.num_components * options_.num_components * Index(sizeof(double));
  return squares * square_bytes + kept +
         (factor_rows + parts * options_.threads + added_rows + whole + partial) * row_bytes +
         factor_rows * Index(sizeof(Index));
}

Index AlsCost::build_bytes(Index format_bytes, Index num_trees) const {
  const Index nonzeros = shape_.num_nonzeros;
  const Index read = coordinate_bytes(shape_.order(), nonzeros, sizeof(double));
  const Index compact = coordinate_bytes(shape_.order(), nonzeros, options_.value_bytes, sizeof(LocalIndex));
  constexpr Index sort_bytes = 2 * 16;  // keys with positions, twice
  const Index before_last =
      format_bytes / num_trees * (num_trees - 1);  // the last takes the coordinates over
  return std::max(read + nonzeros * Index(sizeof(LocalIndex)), compact + nonzeros * sort_bytes + before_last);
}

}  // namespace polyad
