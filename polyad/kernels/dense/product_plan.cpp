#include "polyad/kernels/dense/product_plan.hpp"

#include <limits>

namespace polyad::kernels::product {
namespace {

// In the order of an array's memory.
Loops in_order_of(Loops loops, int array) {
  std::ranges::sort(loops, {}, [&](const Loop& loop) { return loop.strides[array]; });
  return loops;
}

// The stride of loops that are one loop in this array; 0 for none of them; nothing when they are not.
std::optional<Index> joint_stride(const Loops& group, int array) {
  for (std::size_t i = 1; i < group.size(); ++i)
    if (group[i].strides[array] != group[i - 1].strides[array] * group[i - 1].extent) return std::nullopt;
  return group.empty() ? 0 : group[0].strides[array];
}

Index min_stride(const Loops& group, int array) {
  Index minimum = std::numeric_limits<Index>::max();
  for (const auto& loop : group) minimum = std::min(minimum, loop.strides[array]);
  return minimum;
}

}  // namespace

Index steps_of(const Loops& loops) {
  Index steps = 1;
  for (const auto& loop : loops) steps *= loop.extent;
  return steps;
}

Loops loops_of(const LabelledShape& shape_a, const LabelledShape& shape_b, const LabelledShape& shape_c) {
  Loops loops;
  std::vector<int> labels;
  const std::array<const LabelledShape*, 3> shapes{&shape_a, &shape_b, &shape_c};
  for (int array = 0; array < 3; ++array) {
    const auto strides = column_major_strides(shapes[array]->extents);
    for (std::size_t m = 0; m < strides.size(); ++m) {
      if (shapes[array]->extents[m] == 1) continue;
      const auto known = std::ranges::find(labels, shapes[array]->labels[m]) - labels.begin();
      if (known == std::ssize(labels)) {
        labels.push_back(shapes[array]->labels[m]);
        loops.push_back({shapes[array]->extents[m]});
      }
      loops[std::size_t(known)].strides[array] = strides[m];
    }
  }
  return loops;
}

std::optional<MatrixShape> as_matrix(const Loops& rows, const Loops& cols, int array) {
  const auto row_stride = joint_stride(rows, array), col_stride = joint_stride(cols, array);
  if (!row_stride || !col_stride) return std::nullopt;
  const Index m = steps_of(rows), n = steps_of(cols);
  constexpr Index maximum = std::numeric_limits<int>::max();
  if ((rows.empty() || *row_stride == 1) && (cols.empty() || (*col_stride >= m && *col_stride <= maximum)))
    return MatrixShape{cols.empty() ? std::max(m, Index(1)) : *col_stride, false};
  if ((cols.empty() || *col_stride == 1) && (rows.empty() || (*row_stride >= n && *row_stride <= maximum)))
    return MatrixShape{rows.empty() ? std::max(n, Index(1)) : *row_stride, true};
  return std::nullopt;
}

MatrixPlan plan_product(const Loops& loops) {
  MatrixPlan groups;
  groups.batch =
      in_order_of(take_if(loops, [](const Loop& l) { return l.is_in(a) && l.is_in(b) && l.is_in(c); }), c);
  const auto m = take_if(loops, [](const Loop& l) { return l.is_in(a) && !l.is_in(b) && l.is_in(c); });
  const auto n = take_if(loops, [](const Loop& l) { return !l.is_in(a) && l.is_in(b) && l.is_in(c); });
  const auto k = take_if(loops, [](const Loop& l) { return l.is_in(a) && l.is_in(b) && !l.is_in(c); });
  std::optional<MatrixPlan> best;
  for (const int m_order : {c, a})
    for (const int n_order : {c, b})
      for (const int k_order : {a, b}) {
        MatrixPlan plan{in_order_of(m, m_order), in_order_of(n, n_order), in_order_of(k, k_order),
                        groups.batch};
        for (int array = 0; array < 3; ++array)
          plan.permutes[array] = !as_matrix(plan.rows(array), plan.cols(array), array);
        if (!best || plan.copied() < best->copied()) best = plan;
      }
  return *best;
}

std::vector<CopyLoop> restride(MatrixPlan& plan, int array) {
  std::vector<CopyLoop> copy;
  Index stride = 1;
  auto *first = array == b ? &plan.k : &plan.m, *second = array == a ? &plan.k : &plan.n;
  if (min_stride(*second, array) < min_stride(*first, array)) std::swap(first, second);
  for (auto* group : {first, second, &plan.batch})
    for (auto& loop : *group) {
      copy.push_back({loop.extent, loop.strides[array], stride});
      loop.strides[array] = stride;
      stride *= loop.extent;
    }
  return copy;
}

}  // namespace polyad::kernels::product
