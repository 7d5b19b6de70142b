// Letters: C(m,n) += A(m,k) B(k,n), each of them a group of labels, for every element of a group of batch
// labels.

#include "polyad/kernels/dense/local_contraction.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "polyad/base/array.hpp"
#include "polyad/base/parallel.hpp"
#include "polyad/kernels/dense/blas_memory.hpp"
#include "polyad/kernels/dense/block_copy.hpp"
#include "polyad/kernels/dense/matrix_product.hpp"
#include "polyad/kernels/dense/product_plan.hpp"

namespace polyad::kernels {
namespace {

using namespace product;  // NOLINT(google-build-using-namespace): its letters

constexpr Index small_product = Index(1) << 12;  // multiplications; BLAS takes longer to begin
constexpr Index small_matrix = Index(1) << 8;    // of each product in a batch
constexpr Index worth_all_threads = Index(1) << 22;

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
    check_blas_memory(num_threads());
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

// The labels of an array in the order in which a copy lays them; those of one element come last.
std::vector<int> labels_in_order(const std::vector<CopyLoop>& copy, const LabelledShape& shape) {
  const auto strides = column_major_strides(shape.extents);
  std::vector<int> labels;
  for (const auto& loop : copy)
    for (std::size_t m = 0; m < strides.size(); ++m)
      if (shape.extents[m] > 1 && strides[m] == loop.from_stride) labels.push_back(shape.labels[m]);
  for (std::size_t m = 0; m < strides.size(); ++m)
    if (shape.extents[m] == 1) labels.push_back(shape.labels[m]);
  return labels;
}

// Small, or a batch of inner products: every element is used once, and BLAS has nothing to gain.
bool suits_plain_loops(const Loops& loops) {
  Index in_one_product = 1, in_result = 1;
  for (const auto& loop : loops) {
    if (loop.is_in(a) && loop.is_in(b) && loop.is_in(c)) continue;
    in_one_product *= loop.extent;
    if (loop.is_in(c)) in_result *= loop.extent;
  }
  return steps_of(loops) < small_product || in_one_product < small_matrix || in_result == 1;
}

}  // namespace

LabelledShape reordered(const LabelledShape& shape, const std::vector<int>& modes) {
  LabelledShape result;
  for (const int m : modes) {
    result.labels.push_back(shape.labels[std::size_t(m)]);
    result.extents.push_back(shape.extents[std::size_t(m)]);
  }
  return result;
}

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
  if (suits_plain_loops(loops))
    contract_plainly(std::move(loops), sources[a], sources[b], to.elements);
  else
    contract_matrices(plan_product(loops), sources[a], sources[b], to.elements);
}
template void contract(const LabelledArray<float>&, const LabelledArray<const float>&,
                       const LabelledArray<const float>&);
template void contract(const LabelledArray<double>&, const LabelledArray<const double>&,
                       const LabelledArray<const double>&);

InputOrders orders_for_product(const LabelledShape& to, const LabelledShape& left,
                               const LabelledShape& right) {
  InputOrders orders{left.labels, right.labels};
  if (is_empty(to) || is_empty(left) || is_empty(right)) return orders;
  const auto loops = loops_of(left, right, to);
  if (suits_plain_loops(loops) || any_alone(loops, a) || any_alone(loops, b)) return orders;
  auto plan = plan_product(loops);
  for (const int array : {a, b}) {
    if (!plan.permutes[array]) continue;
    const auto& shape = array == a ? left : right;
    auto& order = array == a ? orders.a : orders.b;
    order = labels_in_order(restride(plan, array), shape);
  }
  return orders;
}

Index contraction_workspace(const LabelledShape& to, const LabelledShape& left, const LabelledShape& right) {
  if (is_empty(to) || is_empty(left) || is_empty(right)) return 0;
  auto loops = loops_of(left, right, to);
  if (steps_of(loops) < small_product) return 0;
  Index elements = 0;
  for (const int array : {a, b})
    if (any_alone(loops, array)) elements += num_sums(take_sums(loops, array));
  if (suits_plain_loops(loops)) return elements;
  const auto plan = plan_product(loops);
  for (int array = 0; array < 3; ++array)
    if (plan.permutes[array]) elements += plan.size(array);
  return elements;
}

}  // namespace polyad::kernels
