#include "polyad/dense/contract_tensors.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "polyad/base/error.hpp"
#include "polyad/dense/distribution_text.hpp"
#include "polyad/kernels/dense/block_copy.hpp"
#include "polyad/kernels/dense/local_contraction.hpp"

namespace polyad::dense {
namespace {

kernels::LabelledShape labelled_shape(const IndexNames& indices, const std::vector<CyclicRange>& share,
                                      const std::map<std::string, Index>& all) {
  kernels::LabelledShape shape{extents_of(share), {}};
  for (const auto& index : indices) shape.labels.push_back(int(std::distance(all.begin(), all.find(index))));
  return shape;
}

// An input where it is multiplied: the tensor itself when nothing has to be done for it.
template <class Real>
class PreparedInput {
 public:
  PreparedInput(const DenseTensor<Real>& given, const IndexNames& indices, const InputPlan& plan,
                const std::vector<int>& modes, const std::map<std::string, Index>& all, DenseTally& tally)
      : given_(given), tally_(tally) {
    if (plan.indices.size() != indices.size()) sum_locally(indices, plan, all);
    shape_ = labelled_shape(plan.indices, tensor().share(), all);
    if (!plan.prep.steps.empty()) move(plan, modes, all);
  }
  ~PreparedInput() {
    if (sums_) tally_.let_go(std::ssize(sums_->local()));
    if (moved_) tally_.let_go(std::ssize(*moved_));
  }
  PreparedInput(const PreparedInput&) = delete;
  PreparedInput& operator=(const PreparedInput&) = delete;

  kernels::LabelledArray<const Real> array() const { return {elements().data(), shape_}; }
  bool is_empty() const { return elements().empty(); }

 private:
  const DenseTensor<Real>& tensor() const { return sums_ ? *sums_ : given_; }
  std::span<const Real> elements() const {
    return moved_ ? std::span<const Real>(*moved_) : tensor().local();
  }

  // A product with the number one, over what this tensor alone has.
  void sum_locally(const IndexNames& indices, const InputPlan& plan,
                   const std::map<std::string, Index>& all) {
    sums_.emplace(given_.grid(), plan.prep.extents, plan.prep.from);
    tally_.hold(std::ssize(sums_->local()));
    std::ranges::fill(sums_->local(), Real(0));
    const Real one = 1;
    if (!given_.local().empty())
      kernels::contract<Real>({sums_->local().data(), labelled_shape(plan.indices, sums_->share(), all)},
                              {given_.local().data(), labelled_shape(indices, given_.share(), all)},
                              {&one, {}});
  }

  // To where it is multiplied, in the order in which that is done.
  void move(const InputPlan& plan, const std::vector<int>& modes, const std::map<std::string, Index>& all) {
    moved_ = can_reorder(plan.prep) ? redistribute_reordered(tensor(), plan.prep, modes, tally_)
                                    : redistribute(tensor(), plan.prep, tally_).take_local();
    const auto& grid = given_.grid();
    const auto share = share_of({grid.shape(), plan.prep.extents, plan.prep.to}, grid.comm().rank());
    shape_ = reordered(labelled_shape(plan.indices, share, all), modes);
    if (sums_) tally_.let_go(std::ssize(sums_->local()));
    sums_.reset();
  }

  const DenseTensor<Real>& given_;
  DenseTally& tally_;
  std::optional<DenseTensor<Real>> sums_;
  std::optional<Array<Real>> moved_;
  kernels::LabelledShape shape_;
};

// Both inputs where they are multiplied, for as long as that takes.
template <class Real>
class PreparedProduct {
 public:
  PreparedProduct(const DenseTensor<Real>& a, const DenseTensor<Real>& b, const ContractionPlan& plan,
                  DenseTally& tally)
      : problem_(plan.problem),
        tally_(tally),
        layout_(product_layout(plan)),
        left_(a, problem_.expression.a, plan.a, layout_.a, problem_.extents, tally),
        right_(b, problem_.expression.b, plan.b, layout_.b, problem_.extents, tally) {}

  void add_to(DenseTensor<Real>& c) const {
    if (left_.is_empty() || right_.is_empty() || c.local().empty()) return;
    const auto shape = labelled_shape(problem_.expression.c, c.share(), problem_.extents);
    const Index workspace = contraction_workspace(shape, left_.array().shape, right_.array().shape);
    tally_.hold(workspace);
    contract<Real>({c.local().data(), shape}, left_.array(), right_.array());
    tally_.let_go(workspace);
  }

 private:
  const ContractionProblem& problem_;
  DenseTally& tally_;
  ProductLayout layout_;
  PreparedInput<Real> left_, right_;
};

template <class Real>
void add(const DenseTensor<Real>& from, DenseTensor<Real>& to) {
  copy_block({{std::ssize(to.local()), 1, 1}}, from.local().data(), to.local().data(),
             kernels::CopyMode::add);
}

// T = A B, from zero. The inputs are there before T is, and gone when it is returned.
template <class Real>
DenseTensor<Real> partial_product(const DenseTensor<Real>& c, const DenseTensor<Real>& a,
                                  const DenseTensor<Real>& b, const ContractionPlan& plan,
                                  DenseTally& tally) {
  const PreparedProduct<Real> product(a, b, plan, tally);
  DenseTensor<Real> t(c.grid(), c.extents(), plan.product);
  tally.hold(std::ssize(t.local()));
  std::ranges::fill(t.local(), Real(0));
  product.add_to(t);
  return t;
}

// One block: the product, its sums, the way to C, and the addition.
template <class Real>
void contract_whole(DenseTensor<Real>& c, const DenseTensor<Real>& a, const DenseTensor<Real>& b,
                    const ContractionPlan& plan, DenseTally& tally) {
  if (plan.goes_straight_to_c()) return PreparedProduct<Real>(a, b, plan, tally).add_to(c);
  const auto move_on = [&](DenseTensor<Real> from, const RedistributionPlan& way) {
    if (way.steps.empty()) return from;
    auto to = redistribute(from, way, tally);
    tally.let_go(std::ssize(from.local()));
    return to;
  };
  const auto moved = move_on(move_on(partial_product(c, a, b, plan, tally), plan.reduce), plan.finish);
  add(moved, c);
  tally.let_go(std::ssize(moved.local()));
}

// The indices from `begin` on of one mode of a tensor: which of the local array's elements these are.
struct Slice {
  std::vector<Index> extents;  // of the part that is cut out
  Index offset = 0;
  std::vector<kernels::CopyLoop> loops;  // from the tensor to the part
};

template <class Real>
Slice slice_of(const DenseTensor<Real>& x, const DenseTensor<Real>& part, std::size_t mode, Index begin) {
  Slice slice;
  const auto share = x.share();
  const auto strides = kernels::column_major_strides(extents_of(share));
  slice.extents = extents_of(part.share());
  const auto part_strides = kernels::column_major_strides(slice.extents);
  for (std::size_t m = 0; m < strides.size(); ++m)
    slice.loops.push_back({slice.extents[m], strides[m], part_strides[m]});
  slice.offset = begin / share[mode].step * strides[mode];
  return slice;
}

std::optional<std::size_t> mode_of(const IndexNames& indices, const std::string& index) {
  const auto found = std::ranges::find(indices, index);
  if (found == indices.end()) return std::nullopt;
  return std::size_t(found - indices.begin());
}

// A block of a tensor: a copy of the elements there, or the tensor itself when it does not have the index.
template <class Real>
class BlockOf {
 public:
  BlockOf(const DenseTensor<Real>& x, const IndexNames& indices, const BlockedContraction& blocked,
          Index block, DenseTally& tally)
      : x_(x),
        tally_(tally),
        mode_(mode_of(indices, blocked.block_index)),
        begin_(block * blocked.block_extent) {
    if (!mode_) return;
    auto extents = x.extents();
    extents[*mode_] = std::min(blocked.block_extent, extents[*mode_] - begin_);
    part_.emplace(x.grid(), extents, x.distribution());
    tally_.hold(std::ssize(part_->local()));
  }
  ~BlockOf() {
    if (part_) tally_.let_go(std::ssize(part_->local()));
  }
  BlockOf(const BlockOf&) = delete;
  BlockOf& operator=(const BlockOf&) = delete;

  const DenseTensor<Real>& read() {
    if (!part_) return x_;
    auto slice = slice_of(x_, *part_, *mode_, begin_);
    copy_block(std::move(slice.loops), x_.local().data() + slice.offset, part_->local().data());
    return *part_;
  }
  // A part that starts at zero and is added to the tensor in the end.
  DenseTensor<Real>& begin_sum(DenseTensor<Real>& x) {
    if (!part_) return x;
    std::ranges::fill(part_->local(), Real(0));
    return *part_;
  }
  void end_sum(DenseTensor<Real>& x) {
    if (!part_) return;
    auto slice = slice_of(x, *part_, *mode_, begin_);
    for (auto& loop : slice.loops) std::swap(loop.from_stride, loop.to_stride);
    copy_block(std::move(slice.loops), part_->local().data(), x.local().data() + slice.offset,
               kernels::CopyMode::add);
  }

 private:
  const DenseTensor<Real>& x_;
  DenseTally& tally_;
  std::optional<std::size_t> mode_;
  Index begin_;
  std::optional<DenseTensor<Real>> part_;
};

template <class Real>
void check_distributed(const DenseTensor<Real>& x, const IndexNames& indices,
                       const TensorDistribution& planned, const ContractionProblem& problem) {
  if (x.distribution() != planned || x.extents() != problem.extents_of(indices) ||
      x.layout().grid != problem.grid)
    throw Error(Errc::internal, "a tensor " + to_string(x.distribution()) +
                                    " cannot follow a contraction that was planned for " +
                                    to_string(planned));
}

}  // namespace

template <class Real>
void contract(DenseTensor<Real>& c, const DenseTensor<Real>& a, const DenseTensor<Real>& b,
              const BlockedContraction& plan, DenseTally& tally) {
  const auto& problem = plan.problem;
  const auto& expression = problem.expression;
  check_distributed(a, expression.a, problem.a, problem);
  check_distributed(b, expression.b, problem.b, problem);
  check_distributed(c, expression.c, problem.c, problem);
  if (plan.block_index.empty()) return contract_whole(c, a, b, plan.plan, tally);
  for (Index block = 0; block < plan.num_blocks(); ++block) {
    BlockOf<Real> part_a(a, expression.a, plan, block, tally), part_b(b, expression.b, plan, block, tally),
        part_c(c, expression.c, plan, block, tally);
    contract_whole(part_c.begin_sum(c), part_a.read(), part_b.read(), plan_of_block(plan, block), tally);
    part_c.end_sum(c);
  }
}
template void contract(DenseTensor<float>&, const DenseTensor<float>&, const DenseTensor<float>&,
                       const BlockedContraction&, DenseTally&);
template void contract(DenseTensor<double>&, const DenseTensor<double>&, const DenseTensor<double>&,
                       const BlockedContraction&, DenseTally&);

template <class Real>
ContractionProblem problem_of(const IndexedResult<Real>& c, const IndexedProduct<Real>& product) {
  const auto& [a, b] = product;
  if (&a.tensor == &c.result || &b.tensor == &c.result)
    throw Error(Errc::bad_option, "the result of a contraction cannot be one of its inputs");
  const auto expression =
      parse_contraction("C[" + c.indices + "] += A[" + a.indices + "] * B[" + b.indices + "]");
  auto problem =
      canonical_problem(expression, c.result.layout().grid, a.tensor.extents(), b.tensor.extents());
  problem.a = a.tensor.distribution();
  problem.b = b.tensor.distribution();
  problem.c = c.result.distribution();
  if (problem.extents_of(expression.c) != c.result.extents())
    throw Error(Errc::bad_option, "the result does not have the extents of its indices " + c.indices);
  return problem;
}
template ContractionProblem problem_of(const IndexedResult<float>&, const IndexedProduct<float>&);
template ContractionProblem problem_of(const IndexedResult<double>&, const IndexedProduct<double>&);

template <class Real>
void IndexedResult<Real>::operator+=(const IndexedProduct<Real>& product) const {
  DenseTally ignored;
  contract(result, product.a.tensor, product.b.tensor, choose_contraction(problem_of(*this, product), {}),
           ignored);
}
template struct IndexedResult<float>;
template struct IndexedResult<double>;

}  // namespace polyad::dense
