#include "polyad/dense/slab_exchange.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "polyad/base/array.hpp"
#include "polyad/comm/collective.hpp"
#include "polyad/dense/block_exchange.hpp"
#include "polyad/dense/local_block.hpp"
#include "polyad/dense/redistribute.hpp"

namespace polyad::dense {
namespace {

constexpr Index slab_elements = Index(1) << 20;  // of a process in a round

// The modes of a tensor from the fastest in the file on.
std::vector<std::size_t> modes_in(FileOrder order, std::size_t count) {
  std::vector<std::size_t> modes(count);
  std::iota(modes.begin(), modes.end(), 0);
  if (order == FileOrder::last_mode_fastest) std::ranges::reverse(modes);
  return modes;
}

// A stretch of a file that is a box of the tensor: the share of a process that has nothing else.
struct Stretch {
  Index first = 0, count = 0;
  std::vector<CyclicRange> box;
};

// How a file is cut: a stretch has all indices of the fastest modes, a range of the next, and one of each
// slower mode.
class Stretches {
 public:
  Stretches(const std::vector<Index>& extents, FileOrder order, Index max_elements) : extents_(extents) {
    Index stride = 1, remaining = max_elements;
    count_ = num_elements(extents) > 0 ? 1 : 0;
    strides_.resize(extents.size());
    for (const std::size_t m : modes_in(order, extents.size())) {
      const Index longest = std::clamp(extents[m], Index(1), remaining);
      const Index parts = (extents[m] + longest - 1) / longest;
      const Index length = parts > 1 ? (extents[m] + parts - 1) / parts : longest;
      cuts_.push_back({m, length, parts});
      remaining = parts > 1 ? 1 : remaining / length;
      count_ *= parts;
      strides_[m] = stride;
      stride *= extents[m];
    }
  }

  Index count() const { return count_; }
  // Nothing behind the last.
  Stretch at(Index number) const {
    Stretch stretch{0, 0, std::vector<CyclicRange>(extents_.size())};
    if (number >= count_) return stretch;
    stretch.count = 1;
    for (const auto& [mode, length, parts] : cuts_) {
      const Index begin = number % parts * length;
      stretch.box[mode] = {begin, 1, std::min(length, extents_[mode] - begin)};
      stretch.first += begin * strides_[mode];
      stretch.count *= stretch.box[mode].count;
      number /= parts;
    }
    return stretch;
  }
  // In the file, and in a stretch of it.
  const std::vector<Index>& strides() const { return strides_; }

 private:
  struct Cut {
    std::size_t mode;
    Index length, parts;
  };

  std::vector<Index> extents_, strides_;
  std::vector<Cut> cuts_;  // the fastest mode first
  Index count_ = 0;
};

// What goes between a process's stretch and its part of the tensor in a round, by the process at the other
// end.
struct RoundBlocks {
  std::vector<LocalBlock> of_stretch, of_part;
};

// Between the stretches of a file, one for each process in a round, and a tensor of which every element lies
// on one process. What does not leave a process is not packed.
template <class Real>
class SlabExchange {
 public:
  SlabExchange(const DenseLayout& layout, const Comm& comm, FileOrder order)
      : layout_(layout),
        comm_(comm),
        stretches_(layout.extents, order,
                   std::clamp(num_elements(layout.extents) / comm.size(), Index(1), slab_elements)) {}

  Index num_rounds() const { return (stretches_.count() + comm_.size() - 1) / comm_.size(); }
  Stretch stretch(Index round, int rank) const { return stretches_.at(round * comm_.size() + rank); }

  void to_part(Index round, const Real* stretch, Real* part) const {
    const auto blocks = blocks_of(round);
    exchange_blocks(comm_, blocks.of_stretch, stretch, blocks.of_part, part);
  }
  void to_stretch(Index round, const Real* part, Real* stretch) const {
    const auto blocks = blocks_of(round);
    exchange_blocks(comm_, blocks.of_part, part, blocks.of_stretch, stretch);
  }

 private:
  RoundBlocks blocks_of(Index round) const {
    const LocalBlock nothing{0, {0}, {0}};
    const auto mine = stretch(round, comm_.rank());
    const bool has_part = local_size(layout_, comm_.rank()) > 0;
    const auto part = share_of(layout_, comm_.rank());
    RoundBlocks blocks;
    for (int q = 0; q < comm_.size(); ++q) {
      const bool has_mine = mine.count > 0 && local_size(layout_, q) > 0;
      blocks.of_stretch.push_back(
          has_mine ? common_block(mine.box, stretches_.strides(), share_of(layout_, q)) : nothing);
      const auto other = stretch(round, q);
      blocks.of_part.push_back(has_part && other.count > 0 ? common_block(part, other.box) : nothing);
    }
    return blocks;
  }

  const DenseLayout& layout_;
  const Comm& comm_;
  Stretches stretches_;
};

template <class Real>
void distribute_to_owners(DenseTensor<Real>& x, FileOrder order, const ReadSlab<Real>& read) {
  const Comm& comm = x.grid().comm();
  const SlabExchange<Real> exchange(x.layout(), comm, order);
  for (Index round = 0; round < exchange.num_rounds(); ++round) {
    const auto stretch = exchange.stretch(round, comm.rank());
    Array<Real> slab(std::size_t(stretch.count));
    collectively(comm, [&] { read(stretch.first, slab); });
    exchange.to_part(round, slab.data(), x.local().data());
  }
}

template <class Real>
void collect_from_owners(const DenseTensor<Real>& x, FileOrder order, const WriteSlab<Real>& write) {
  const Comm& comm = x.grid().comm();
  const SlabExchange<Real> exchange(x.layout(), comm, order);
  for (Index round = 0; round < exchange.num_rounds(); ++round) {
    const auto stretch = exchange.stretch(round, comm.rank());
    Array<Real> slab(std::size_t(stretch.count));
    exchange.to_stretch(round, x.local().data(), slab.data());
    collectively(comm, [&] { write(stretch.first, slab); });
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

}  // namespace polyad::dense
