#include "polyad/dense/redistribute.hpp"

#include <functional>
#include <numeric>
#include <optional>
#include <utility>

#include "polyad/base/error.hpp"
#include "polyad/dense/distribution_text.hpp"
#include "polyad/dense/local_block.hpp"

namespace polyad::dense {
namespace {

// An array whose size is on the books while it lives.
template <class Real>
class Buffer {
 public:
  Buffer(Index size, DenseTally& tally) : numbers_(std::size_t(size)), tally_(tally) { tally_.hold(size); }
  ~Buffer() { tally_.let_go(std::ssize(numbers_)); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  Real* data() { return numbers_.data(); }
  std::span<Real> span() { return numbers_; }

 private:
  Array<Real> numbers_;
  DenseTally& tally_;
};

// One step, on one process: who is in it, and what each of them has and gets.
template <class Real>
class Exchange {
 public:
  // The elements of `to` are put with these modes, the fastest first.
  Exchange(const RedistributionStep& step, const DenseTensor<Real>& from, DenseTensor<Real>& to,
           const std::vector<int>& modes, DenseTally& tally)
      : step_(step),
        from_(from),
        to_(to),
        tally_(tally),
        comm_(step.move == Move::filter ? Comm::self() : from.grid().plane(step.grid_modes)),
        has_(from.share()),
        gets_(to.share()),
        strides_(gets_.size()) {
    Index stride = 1;
    for (const int m : modes) {
      strides_[std::size_t(m)] = stride;
      stride *= gets_[std::size_t(m)].count;
    }
  }

  void run() {
    switch (step_.move) {
      case Move::filter:
        return keep();
      case Move::permutation:
      case Move::all_to_all:
        return exchange();
      case Move::allgather:
        return gather(std::nullopt);
      case Move::gather:
        return gather(number_of_hyperplane(to_.distribution()));
      case Move::scatter:
        return scatter(number_of_hyperplane(from_.distribution()));
      case Move::reduce_scatter:
        return reduce_scatter();
      case Move::all_reduce:
        return all_reduce();
      case Move::broadcast:
        return broadcast(number_of_hyperplane(from_.distribution()));
    }
  }

 private:
  // Shares of the processes in the plane, by their number there. Those that hold nothing have empty ones.
  std::vector<CyclicRange> share_at(const DenseLayout& layout, int number) const {
    return share_of(layout, rank_at(number));
  }
  int rank_at(int number) const {
    return from_.grid().shape().rank_in_plane(step_.grid_modes, from_.grid().comm().rank(), number);
  }
  Index size_at(const DenseLayout& layout, int number) const { return local_size(layout, rank_at(number)); }

  int number_of_hyperplane(const TensorDistribution& distribution) const {
    const auto& grid = from_.grid().shape();
    auto coords = grid.coords(from_.grid().comm().rank());
    for (const auto& plane : distribution.held_on) coords[plane.grid_mode] = plane.coord;
    return grid.number_in_plane(step_.grid_modes, grid.rank_at(coords));
  }

  // What this process has that each of the others gets, and the other way round. A tensor of order 0 is not
  // distributed, so nothing of it is exchanged.
  std::vector<LocalBlock> blocks_to_send() const {
    std::vector<LocalBlock> blocks;
    for (int q = 0; q < comm_.size(); ++q) blocks.push_back(common_block(has_, share_at(to_.layout(), q)));
    return blocks;
  }
  std::vector<LocalBlock> blocks_to_receive() const {
    std::vector<LocalBlock> blocks;
    for (int q = 0; q < comm_.size(); ++q)
      blocks.push_back(common_block(gets_, strides_, share_at(from_.layout(), q)));
    return blocks;
  }
  static std::vector<Index> sizes(const std::vector<LocalBlock>& blocks) {
    std::vector<Index> counts;
    for (const auto& block : blocks) counts.push_back(block.size());
    return counts;
  }
  static Index sum(const std::vector<Index>& counts) {
    return std::accumulate(counts.begin(), counts.end(), Index(0));
  }
  void pack_all(const std::vector<LocalBlock>& blocks, Real* packed) const {
    for (const auto& block : blocks) {
      copy(block, from_.local().data(), packed_block(block), packed);
      packed += block.size();
    }
  }
  void unpack_all(const std::vector<LocalBlock>& blocks, const Real* packed) {
    for (const auto& block : blocks) {
      copy(packed_block(block), packed, block, to_.local().data());
      packed += block.size();
    }
  }

  void keep() {
    if (to_.local().empty()) return;
    const auto kept = common_block(has_, gets_);
    copy(kept, from_.local().data(), {0, kept.extents, strides_}, to_.local().data());
  }

  void exchange() {
    const auto outgoing = blocks_to_send(), incoming = blocks_to_receive();
    const auto send_counts = sizes(outgoing), receive_counts = sizes(incoming);
    Buffer<Real> sent(sum(send_counts), tally_), received(sum(receive_counts), tally_);
    pack_all(outgoing, sent.data());
    comm_.all_to_all<Real>(sent.span(), send_counts, received.span(), receive_counts);
    unpack_all(incoming, received.data());
    tally_.words += sum(receive_counts) - receive_counts[std::size_t(comm_.rank())];
  }

  // To one of the processes, or to all.
  void gather(std::optional<int> root) {
    std::vector<Index> counts;
    for (int q = 0; q < comm_.size(); ++q) counts.push_back(size_at(from_.layout(), q));
    const bool receives = !root || *root == comm_.rank();
    Buffer<Real> received(receives ? sum(counts) : 0, tally_);
    if (root)
      comm_.gather_varying<Real>(from_.local(), counts, received.span(), *root);
    else
      comm_.all_gather_varying<Real>(from_.local(), counts, received.span());
    if (!receives || received.span().empty()) return;
    unpack_all(blocks_to_receive(), received.data());
    tally_.words += sum(counts) - counts[std::size_t(comm_.rank())];
  }

  void scatter(int root) {
    std::vector<Index> counts;
    for (int q = 0; q < comm_.size(); ++q) counts.push_back(size_at(to_.layout(), q));
    // If the whole plane is outside the hyperplane, no process has elements.
    const bool sends = root == comm_.rank() && !from_.local().empty();
    Buffer<Real> sent(sends ? sum(counts) : 0, tally_);
    if (sends) pack_all(blocks_to_send(), sent.data());
    comm_.scatter_varying<Real>(sent.span(), counts, to_.local(), root);
    if (root != comm_.rank()) tally_.words += std::ssize(to_.local());
  }

  void reduce_scatter() {
    const auto blocks = blocks_to_send();
    const auto counts = sizes(blocks);
    Buffer<Real> sent(sum(counts), tally_);
    pack_all(blocks, sent.data());
    comm_.reduce_scatter<Real>(sent.span(), counts, to_.local());
    tally_.words += sum(counts) - counts[std::size_t(comm_.rank())];
  }

  void all_reduce() {
    std::ranges::copy(from_.local(), to_.local().begin());
    comm_.all_reduce(to_.local());
    tally_.words += 2 * (std::ssize(to_.local()) * (comm_.size() - 1) / comm_.size());
  }

  void broadcast(int root) {
    if (root == comm_.rank()) std::ranges::copy(from_.local(), to_.local().begin());
    comm_.broadcast(to_.local(), root);
    if (root != comm_.rank()) tally_.words += std::ssize(to_.local());
  }

  const RedistributionStep& step_;
  const DenseTensor<Real>& from_;
  DenseTensor<Real>& to_;
  DenseTally& tally_;
  Comm comm_;
  std::vector<CyclicRange> has_, gets_;
  std::vector<Index> strides_;  // of what is got
};

std::vector<int> first_mode_fastest(int order) {
  std::vector<int> modes(static_cast<std::size_t>(order));
  std::iota(modes.begin(), modes.end(), 0);
  return modes;
}

// All steps; the last of them puts the modes in this order.
template <class Real>
Array<Real> execute(const DenseTensor<Real>& x, const RedistributionPlan& plan, const std::vector<int>& modes,
                    DenseTally& tally) {
  if (x.distribution() != plan.from || x.extents() != plan.extents || x.grid().shape() != plan.grid)
    throw Error(Errc::internal, "a tensor " + to_string(x.distribution()) +
                                    " cannot follow a plan that begins with " + to_string(plan.from));
  if (plan.steps.empty()) {
    tally.hold(std::ssize(x.local()));
    return x.copy_local();
  }
  const auto between = first_mode_fastest(x.order());
  std::optional<DenseTensor<Real>> last;
  for (const auto& step : plan.steps) {
    DenseTensor<Real> next(x.grid(), x.extents(), step.to);
    tally.hold(std::ssize(next.local()));
    const bool is_last = &step == &plan.steps.back();
    Exchange<Real>(step, last ? *last : x, next, is_last ? modes : between, tally).run();
    if (last) tally.let_go(std::ssize(last->local()));
    last.emplace(std::move(next));
  }
  return last->take_local();
}

}  // namespace

template <class Real>
DenseTensor<Real> redistribute(const DenseTensor<Real>& x, const RedistributionPlan& plan,
                               DenseTally& tally) {
  return {x.grid(), x.extents(), plan.to, execute(x, plan, first_mode_fastest(x.order()), tally)};
}
template DenseTensor<float> redistribute(const DenseTensor<float>&, const RedistributionPlan&, DenseTally&);
template DenseTensor<double> redistribute(const DenseTensor<double>&, const RedistributionPlan&, DenseTally&);

template <class Real>
Array<Real> redistribute_reordered(const DenseTensor<Real>& x, const RedistributionPlan& plan,
                                   const std::vector<int>& modes, DenseTally& tally) {
  if (!can_reorder(plan)) throw Error(Errc::internal, "the last step of a plan cannot put modes in an order");
  return execute(x, plan, modes, tally);
}
template Array<float> redistribute_reordered(const DenseTensor<float>&, const RedistributionPlan&,
                                             const std::vector<int>&, DenseTally&);
template Array<double> redistribute_reordered(const DenseTensor<double>&, const RedistributionPlan&,
                                              const std::vector<int>&, DenseTally&);

template <class Real>
DenseTensor<Real> redistribute(const DenseTensor<Real>& x, const TensorDistribution& to) {
  DenseTally ignored;
  return redistribute(x, plan_redistribution(x.layout().grid, x.extents(), x.distribution(), to), ignored);
}
template DenseTensor<float> redistribute(const DenseTensor<float>&, const TensorDistribution&);
template DenseTensor<double> redistribute(const DenseTensor<double>&, const TensorDistribution&);

}  // namespace polyad::dense
