// Letters: C(m,n) += A(m,k) B(k,n), each of them a group of labels, for every element of a group of batch
// labels.

#include "polyad/kernels/local_contraction.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>

#include "polyad/base/array.hpp"
#include "polyad/base/parallel.hpp"
#include "polyad/kernels/block_copy.hpp"
#include "polyad/kernels/matrix_product.hpp"

namespace polyad {
namespace {

constexpr Index small_product = Index(1) << 12;  // multiplications; BLAS takes longer to begin
constexpr Index small_matrix = Index(1) << 8;    // of each product in a batch
constexpr Index worth_all_threads = Index(1) << 22;
constexpr int a = 0, b = 1, c = 2;  // the arrays, in this order
constexpr Index absent = -1;

// A label with its stride in each of the three arrays.
struct Loop {
  Index extent = 1;
  std::array<Index, 3> strides{absent, absent, absent};

  bool is_in(int array) const { return strides[array] != absent; }
};
using Loops = std::vector<Loop>;

Index steps_of(const Loops& loops) {
  Index steps = 1;
  for (const auto& loop : loops) steps *= loop.extent;
  return steps;
}

// All labels that run, in the order in which A, B and C name them first.
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

template <class Wanted>
Loops take_if(const Loops& loops, Wanted wanted) {
  Loops taken;
  std::ranges::copy_if(loops, std::back_inserter(taken), wanted);
  return taken;
}

// In the order of an array's memory.
Loops in_order_of(Loops loops, int array) {
  std::ranges::sort(loops, {}, [&](const Loop& loop) { return loop.strides[array]; });
  return loops;
}

// fn(offsets in A, B and C) for every element of a nest of loops.
template <class Fn>
void for_each_step(const Loops& loops, Index begin, Index end, Fn fn) {
  for (Index i = begin; i < end; ++i) {
    std::array<Index, 3> offsets{0, 0, 0};
    Index rest = i;
    for (const auto& loop : loops) {
      for (int array = 0; array < 3; ++array)
        if (loop.is_in(array)) offsets[array] += rest % loop.extent * loop.strides[array];
      rest /= loop.extent;
    }
    fn(offsets);
  }
}

// The product element by element, with the loop inside that takes the smallest steps.
template <class Real>
void contract_plainly(Loops loops, const Real* x, const Real* y, Real* z) {
  const auto total_stride = [](const Loop& loop) {
    Index sum = 0;
    for (const Index stride : loop.strides) sum += std::max(stride, Index(0));
    return sum;
  };
  std::ranges::sort(loops, {}, total_stride);
  const Loop inner = loops.empty() ? Loop{} : loops.front();
  if (!loops.empty()) loops.erase(loops.begin());
  const Index sx = std::max(inner.strides[a], Index(0)), sy = std::max(inner.strides[b], Index(0)),
              sz = std::max(inner.strides[c], Index(0));
  for_each_step(loops, 0, steps_of(loops), [&](const std::array<Index, 3>& offsets) {
    const Real *px = x + offsets[a], *py = y + offsets[b];
    Real* pz = z + offsets[c];
    if (sz == 0) {
      Real sum = 0;
      for (Index i = 0; i < inner.extent; ++i) sum += px[i * sx] * py[i * sy];
      *pz += sum;
    } else {
      for (Index i = 0; i < inner.extent; ++i) pz[i * sz] += px[i * sx] * py[i * sy];
    }
  });
}

// The stride of loops that are one loop in this array; 0 for none of them; nothing when they are not.
std::optional<Index> joint_stride(const Loops& group, int array) {
  for (std::size_t i = 1; i < group.size(); ++i)
    if (group[i].strides[array] != group[i - 1].strides[array] * group[i - 1].extent) return std::nullopt;
  return group.empty() ? 0 : group[0].strides[array];
}

struct MatrixShape {
  Index leading = 1;
  bool is_transposed = false;
};

// How an array is a matrix with these groups for rows and columns, if it is one.
std::optional<MatrixShape> as_matrix(const Loops& rows, const Loops& cols, int array) {
  const auto row_stride = joint_stride(rows, array), col_stride = joint_stride(cols, array);
  if (!row_stride || !col_stride) return std::nullopt;
  const Index m = steps_of(rows), n = steps_of(cols);
  constexpr Index most = std::numeric_limits<int>::max();
  if ((rows.empty() || *row_stride == 1) && (cols.empty() || (*col_stride >= m && *col_stride <= most)))
    return MatrixShape{cols.empty() ? std::max(m, Index(1)) : *col_stride, false};
  if ((cols.empty() || *col_stride == 1) && (rows.empty() || (*row_stride >= n && *row_stride <= most)))
    return MatrixShape{rows.empty() ? std::max(n, Index(1)) : *row_stride, true};
  return std::nullopt;
}

// How a product becomes one of matrices: the groups, each in an order, and which arrays must be permuted.
struct MatrixPlan {
  Loops m, n, k, batch;
  std::array<bool, 3> permutes{false, false, false};

  const Loops& rows(int array) const { return array == b ? k : m; }
  const Loops& cols(int array) const { return array == a ? k : n; }
  Index size(int array) const { return steps_of(rows(array)) * steps_of(cols(array)) * steps_of(batch); }
  // The elements that are copied: C is added to in the end, which reads it too.
  Index copied() const {
    Index sum = 0;
    for (int array = 0; array < 3; ++array)
      if (permutes[array]) sum += (array == c ? 2 : 1) * size(array);
    return sum;
  }
};

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

// Gives an array new strides: rows, columns and batch, one behind the other. Returns the loops of the copy
// from the old places to the new ones.
std::vector<CopyLoop> restride(MatrixPlan& plan, int array) {
  std::vector<CopyLoop> copy;
  Index stride = 1;
  for (auto* group : {array == b ? &plan.k : &plan.m, array == a ? &plan.k : &plan.n, &plan.batch})
    for (auto& loop : *group) {
      copy.push_back({loop.extent, loop.strides[array], stride});
      loop.strides[array] = stride;
      stride *= loop.extent;
    }
  return copy;
}

template <class Real>
void multiply_batch(const MatrixPlan& plan, const Real* x, const Real* y, Real* z) {
  const Index m = steps_of(plan.m), n = steps_of(plan.n), k = steps_of(plan.k), batch = steps_of(plan.batch);
  const auto shape_a = *as_matrix(plan.m, plan.k, a), shape_b = *as_matrix(plan.k, plan.n, b),
             shape_c = *as_matrix(plan.m, plan.n, c);
  const auto multiply = [&](const std::array<Index, 3>& offsets) {
    multiply_add<Real>({x + offsets[a], m, k, shape_a.leading, shape_a.is_transposed},
                       {y + offsets[b], k, n, shape_b.leading, shape_b.is_transposed},
                       {z + offsets[c], m, n, shape_c.leading, shape_c.is_transposed});
  };
  if (batch >= num_threads() && num_threads() > 1 && m * n * k < worth_all_threads) {
    const BlasThreads one(1);
    parallel_parts(batch,
                   [&](Index begin, Index end, int) { for_each_step(plan.batch, begin, end, multiply); });
  } else {
    const BlasThreads all(num_threads());
    for_each_step(plan.batch, 0, batch, multiply);
  }
}

template <class Real>
void contract_matrices(MatrixPlan plan, const Real* x, const Real* y, Real* z) {
  std::array<Array<Real>, 2> inputs;
  std::array<const Real*, 2> sources{x, y};
  for (const int array : {a, b}) {
    if (!plan.permutes[array]) continue;
    inputs[array].resize(std::size_t(plan.size(array)));
    copy_block(restride(plan, array), sources[array], inputs[array].data());
    sources[array] = inputs[array].data();
  }
  if (!plan.permutes[c]) return multiply_batch(plan, sources[a], sources[b], z);

  Array<Real> product(std::size_t(plan.size(c)), Real(0));
  auto back = restride(plan, c);
  multiply_batch<Real>(plan, sources[a], sources[b], product.data());
  for (auto& loop : back) std::swap(loop.from_stride, loop.to_stride);
  copy_block(std::move(back), product.data(), z, CopyMode::add);
}

// Whether A or B alone has a label: it is summed before anything is multiplied.
bool is_alone(const Loop& loop, int array) {
  return loop.is_in(array) && !loop.is_in(a + b - array) && !loop.is_in(c);
}

// The loops that sum an input over the labels that it alone has: its own strides for A, those of the sums for
// C, as a product with a B that is not there. The rest of the loops get the strides of the sums.
Loops take_sums(Loops& loops, int array) {
  Loops walk;
  for (const auto& loop : loops)
    if (is_alone(loop, array)) walk.push_back({loop.extent, {loop.strides[array], absent, absent}});
  std::erase_if(loops, [&](const Loop& loop) { return is_alone(loop, array); });
  std::vector<Loop*> kept;
  for (auto& loop : loops)
    if (loop.is_in(array)) kept.push_back(&loop);
  std::ranges::sort(kept, {}, [&](const Loop* loop) { return loop->strides[array]; });
  Index stride = 1;
  for (Loop* loop : kept) {
    walk.push_back({loop->extent, {loop->strides[array], absent, stride}});
    loop->strides[array] = stride;
    stride *= loop->extent;
  }
  return walk;
}

Index num_sums(const Loops& walk) {
  return steps_of(take_if(walk, [](const Loop& loop) { return loop.is_in(c); }));
}

template <class Real>
Array<Real> sum_out(Loops& loops, int array, const Real* from) {
  const auto walk = take_sums(loops, array);
  Array<Real> sums(std::size_t(num_sums(walk)), Real(0));
  const Real one = 1;
  contract_plainly(walk, from, &one, sums.data());
  return sums;
}

bool any_alone(const Loops& loops, int array) {
  return std::ranges::any_of(loops, [&](const Loop& loop) { return is_alone(loop, array); });
}

bool is_empty(const LabelledShape& shape) {
  return std::ranges::find(shape.extents, 0) != shape.extents.end();
}

bool is_small(const Loops& loops) {
  Index in_one_product = 1;
  for (const auto& loop : loops)
    if (!(loop.is_in(a) && loop.is_in(b) && loop.is_in(c))) in_one_product *= loop.extent;
  return steps_of(loops) < small_product || in_one_product < small_matrix;
}

}  // namespace

template <class Real>
void contract(const LabelledArray<Real>& to, const LabelledArray<const Real>& left,
              const LabelledArray<const Real>& right) {
  if (is_empty(to.shape) || is_empty(left.shape) || is_empty(right.shape)) return;
  auto loops = loops_of(left.shape, right.shape, to.shape);
  std::array<const Real*, 2> sources{left.elements, right.elements};
  if (steps_of(loops) < small_product) return contract_plainly(loops, sources[a], sources[b], to.elements);
  std::array<Array<Real>, 2> sums;
  for (const int array : {a, b})
    if (any_alone(loops, array)) {
      sums[array] = sum_out(loops, array, sources[array]);
      sources[array] = sums[array].data();
    }
  if (is_small(loops))
    contract_plainly(std::move(loops), sources[a], sources[b], to.elements);
  else
    contract_matrices(plan_product(loops), sources[a], sources[b], to.elements);
}
template void contract(const LabelledArray<float>&, const LabelledArray<const float>&,
                       const LabelledArray<const float>&);
template void contract(const LabelledArray<double>&, const LabelledArray<const double>&,
                       const LabelledArray<const double>&);

Index contraction_workspace(const LabelledShape& to, const LabelledShape& left, const LabelledShape& right) {
  if (is_empty(to) || is_empty(left) || is_empty(right)) return 0;
  auto loops = loops_of(left, right, to);
  if (steps_of(loops) < small_product) return 0;
  Index elements = 0;
  for (const int array : {a, b})
    if (any_alone(loops, array)) elements += num_sums(take_sums(loops, array));
  if (is_small(loops)) return elements;
  const auto plan = plan_product(loops);
  for (int array = 0; array < 3; ++array)
    if (plan.permutes[array]) elements += plan.size(array);
  return elements;
}

}  // namespace polyad
