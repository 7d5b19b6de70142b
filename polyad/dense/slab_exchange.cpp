#include "polyad/dense/slab_exchange.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "polyad/comm/collective.hpp"
#include "polyad/dense/redistribute.hpp"

namespace polyad {
namespace {

constexpr Index slab_elements = Index(1) << 20;  // of a process in a round

// The modes of a tensor from the fastest in the file on.
std::vector<std::size_t> modes_in(FileOrder order, std::size_t count) {
  std::vector<std::size_t> modes(count);
  std::iota(modes.begin(), modes.end(), 0);
  if (order == FileOrder::last_mode_fastest) std::ranges::reverse(modes);
  return modes;
}

// The same tensor with every element on one process: off the hyperplanes where the coordinates of unused grid
// modes are 0, it is left away.
TensorDistribution with_single_owners(const DenseLayout& layout) {
  auto distribution = layout.distribution;
  const auto used = used_grid_modes(distribution);
  for (int h = 0; h < layout.grid.order(); ++h)
    if (layout.grid.dim(h) > 1 && std::ranges::find(used, h) == used.end() &&
        std::ranges::find(distribution.held_on, h, &Hyperplane::grid_mode) == distribution.held_on.end())
      distribution.held_on.push_back({h, 0});
  return distribution;
}

// Who owns the elements of a file, from any position on. A rank is a sum over the modes.
class OwnerWalk {
 public:
  OwnerWalk(const DenseLayout& layout, FileOrder order) {
    for (const auto& plane : layout.distribution.held_on)
      base_ += layout.grid.rank_in_plane(std::vector{plane.grid_mode}, 0, plane.coord);
    for (const std::size_t m : modes_in(order, layout.extents.size())) {
      const auto& mode = layout.distribution.modes[m];
      const Index parts = num_parts(mode, layout.grid);
      auto& ranks = ranks_.emplace_back();
      for (Index i = 0; i < layout.extents[m]; ++i)
        ranks.push_back(
            layout.grid.rank_in_plane(mode.grid_modes, 0, int((i - mode.alignment + parts) % parts)));
    }
  }

  std::vector<int> owners(Index first, Index count) const {
    std::vector<std::size_t> index;
    for (const auto& ranks : ranks_) {
      index.push_back(std::size_t(first % std::ssize(ranks)));
      first /= std::ssize(ranks);
    }
    std::vector<int> owners(static_cast<std::size_t>(count));
    for (int& owner : owners) {
      owner = base_;
      for (std::size_t m = 0; m < index.size(); ++m) owner += ranks_[m][index[m]];
      for (std::size_t m = 0; m < index.size() && ++index[m] == ranks_[m].size(); ++m) index[m] = 0;
    }
    return owners;
  }

 private:
  int base_ = 0;
  std::vector<std::vector<int>> ranks_;
};

// A process's own elements in the order of the file: where each stands there, and here.
class ShareWalk {
 public:
  ShareWalk(const DenseLayout& layout, int rank, FileOrder order) : left_(local_size(layout, rank)) {
    const auto share = share_of(layout, rank);
    std::vector<Index> local_strides;
    for (Index stride = 1; const auto& range : share) {
      local_strides.push_back(stride);
      stride *= range.count;
    }
    Index file_stride = 1;
    for (const std::size_t m : modes_in(order, share.size())) {
      loops_.push_back({share[m].count, 0, share[m].step * file_stride, local_strides[m]});
      position_ += share[m].first * file_stride;
      file_stride *= layout.extents[m];
    }
  }

  bool is_done() const { return left_ == 0; }
  Index position() const { return position_; }
  Index offset() const { return offset_; }
  void advance() {
    --left_;
    for (auto& loop : loops_) {
      position_ += loop.position_step;
      offset_ += loop.offset_step;
      if (++loop.at < loop.count) return;
      position_ -= loop.count * loop.position_step;
      offset_ -= loop.count * loop.offset_step;
      loop.at = 0;
    }
  }

 private:
  struct Loop {
    Index count, at, position_step, offset_step;
  };

  Index left_, position_ = 0, offset_ = 0;
  std::vector<Loop> loops_;
};

// In a round, every process has a stretch of the file, one behind the other.
class Rounds {
 public:
  Rounds(Index size, const Comm& comm)
      : size_(size), per_round_(slab_elements * comm.size()), rank_(comm.rank()) {}

  Index count() const { return (size_ + per_round_ - 1) / per_round_; }
  Index first(Index round) const { return std::min(size_, round * per_round_ + rank_ * slab_elements); }
  Index length(Index round) const { return std::min(size_ - first(round), slab_elements); }
  Index end(Index round) const { return (round + 1) * per_round_; }
  int reader(Index position) const { return int(position % per_round_ / slab_elements); }

 private:
  Index size_, per_round_;
  int rank_;
};

// Which elements this process exchanges with which other in a round: those of its slab with their owners, and
// its own with those who have the slabs that they stand in.
struct RoundPlan {
  std::vector<int> slab_owners;
  std::vector<Index> slab_counts;  // by owner
  std::vector<Index> own_offsets;  // in the order of the file
  std::vector<Index> own_counts;   // by the process that has the slab
};

RoundPlan plan_round(const Rounds& rounds, Index round, const OwnerWalk& owners, ShareWalk& share, int size) {
  RoundPlan plan{owners.owners(rounds.first(round), rounds.length(round)),
                 std::vector<Index>(std::size_t(size), 0),
                 {},
                 std::vector<Index>(std::size_t(size), 0)};
  for (const int owner : plan.slab_owners) ++plan.slab_counts[owner];
  for (; !share.is_done() && share.position() < rounds.end(round); share.advance()) {
    plan.own_offsets.push_back(share.offset());
    ++plan.own_counts[rounds.reader(share.position())];
  }
  return plan;
}

// fn(place of a slab's element in the slab, its place in a buffer sorted by owner)
template <class Fn>
void for_each_by_owner(const RoundPlan& plan, Fn fn) {
  std::vector<Index> next(plan.slab_counts.size(), 0);
  std::partial_sum(plan.slab_counts.begin(), plan.slab_counts.end() - 1, next.begin() + 1);
  for (std::size_t i = 0; i < plan.slab_owners.size(); ++i) fn(i, std::size_t(next[plan.slab_owners[i]]++));
}

// Every element of x has one owner.
template <class Real>
void distribute_to_owners(DenseTensor<Real>& x, FileOrder order, const ReadSlab<Real>& read) {
  const Comm& comm = x.grid().comm();
  const Rounds rounds(num_elements(x.extents()), comm);
  const OwnerWalk owners(x.layout(), order);
  ShareWalk share(x.layout(), comm.rank(), order);
  for (Index round = 0; round < rounds.count(); ++round) {
    Array<Real> slab(std::size_t(rounds.length(round)));
    collectively(comm, [&] { read(rounds.first(round), slab); });
    const auto plan = plan_round(rounds, round, owners, share, comm.size());
    Array<Real> sent(slab.size()), received(plan.own_offsets.size());
    for_each_by_owner(plan,
                      [&](std::size_t in_slab, std::size_t in_buffer) { sent[in_buffer] = slab[in_slab]; });
    comm.all_to_all<Real>(sent, plan.slab_counts, received, plan.own_counts);
    for (std::size_t i = 0; i < received.size(); ++i)
      x.local()[std::size_t(plan.own_offsets[i])] = received[i];
  }
}

template <class Real>
void collect_from_owners(const DenseTensor<Real>& x, FileOrder order, const WriteSlab<Real>& write) {
  const Comm& comm = x.grid().comm();
  const Rounds rounds(num_elements(x.extents()), comm);
  const OwnerWalk owners(x.layout(), order);
  ShareWalk share(x.layout(), comm.rank(), order);
  for (Index round = 0; round < rounds.count(); ++round) {
    const auto plan = plan_round(rounds, round, owners, share, comm.size());
    Array<Real> sent(plan.own_offsets.size()), received(plan.slab_owners.size()), slab(received.size());
    for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = x.local()[std::size_t(plan.own_offsets[i])];
    comm.all_to_all<Real>(sent, plan.own_counts, received, plan.slab_counts);
    for_each_by_owner(
        plan, [&](std::size_t in_slab, std::size_t in_buffer) { slab[in_slab] = received[in_buffer]; });
    collectively(comm, [&] { write(rounds.first(round), slab); });
  }
}

}  // namespace

template <class Real>
void distribute_slabs(DenseTensor<Real>& x, FileOrder order, const ReadSlab<Real>& read) {
  const auto owned = with_single_owners(x.layout());
  if (owned == x.distribution()) return distribute_to_owners(x, order, read);
  DenseTensor<Real> y(x.grid(), x.extents(), owned);
  distribute_to_owners(y, order, read);
  x = redistribute(y, x.distribution());
}
template void distribute_slabs(DenseTensor<float>&, FileOrder, const ReadSlab<float>&);
template void distribute_slabs(DenseTensor<double>&, FileOrder, const ReadSlab<double>&);

template <class Real>
void collect_slabs(const DenseTensor<Real>& x, FileOrder order, const WriteSlab<Real>& write) {
  const auto owned = with_single_owners(x.layout());
  if (owned == x.distribution()) return collect_from_owners(x, order, write);
  collect_from_owners(redistribute(x, owned), order, write);
}
template void collect_slabs(const DenseTensor<float>&, FileOrder, const WriteSlab<float>&);
template void collect_slabs(const DenseTensor<double>&, FileOrder, const WriteSlab<double>&);

}  // namespace polyad
