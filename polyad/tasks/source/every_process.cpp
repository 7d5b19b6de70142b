#include "polyad/tasks/every_process.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <utility>

#include "polyad/comm/collective.hpp"
#include "polyad/tasks/detail/gathered_model.hpp"
#include "polyad/tasks/detail/ratings/completion_state.hpp"
#include "polyad/tasks/detail/task_scope.hpp"

namespace polyad {
namespace {

// A number that differs where tensors do, but for a chance of 1 in 2^64.
class TensorDigest {
 public:
  void add(std::uint64_t x) {
    constexpr std::uint64_t odd = 0x9e3779b97f4a7c15, other = 0xbf58476d1ce4e5b9;
    state_ = (state_ ^ x) * odd;
    state_ ^= state_ >> 29;
    state_ *= other;
    state_ ^= state_ >> 32;
  }
  void add_entries(const Tensor& x) {
    for (int m = 0; m < x.tensor.order(); ++m)
      for (const Index index : x.tensor.indices(m)) add(std::uint64_t(index));
    for (const double value : x.tensor.values()) add(std::bit_cast<std::uint64_t>(value));
  }
  void add_frame(const Tensor& x) {
    add(std::uint64_t(x.tensor.order()));
    for (const Index extent : x.tensor.extents()) add(std::uint64_t(extent));
    for (const auto& mode : x.labels) {
      add(mode.labels.size());
      for (const auto& label : mode.labels)
        for (const char letter : label) add(std::uint64_t(letter));
    }
  }
  std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 1;
};

// The first process whose digest is not that of process 0; 0 where there is none. Collective.
int first_other(const Comm& comm, const TensorDigest& digest) {
  const auto all = comm.all_gather(digest.value());
  const auto other = std::ranges::find_if(all, [&](std::uint64_t one) { return one != all[0]; });
  return other == all.end() ? 0 : int(other - all.begin());
}

void require_same_tensor(const Comm& comm, const Tensor& x) {
  TensorDigest digest;
  digest.add_frame(x);
  digest.add_entries(x);
  const auto counts = comm.all_gather(x.tensor.num_nonzeros());
  if (const auto r = std::size_t(first_other(comm, digest)); r != 0)
    throw Error(Errc::bad_input,
                fmt::format("process {} has another tensor than process 0 ({} and {} entries): expected the "
                            "same on all, or a part on each that is said to be one",
                            r, counts[r], counts[0]));
}

// Entries [begin, end).
SparseTensor<double> entries_of(const SparseTensor<double>& x, Index begin, Index end) {
  const auto part = [&](auto all) {
    const auto own = all.subspan(std::size_t(begin), std::size_t(end - begin));
    return Array<typename decltype(own)::value_type>(own.begin(), own.end());
  };
  std::vector<Array<Index>> indices;
  for (int m = 0; m < x.order(); ++m) indices.push_back(part(x.indices(m)));
  return {x.extents(), std::move(indices), part(x.values())};
}

}  // namespace

Tensor own_share(const Context& context, const Tensor& whole) {
  const tasks::TaskScope scope(context);
  const Comm& comm = context.comm();
  require_same_tensor(comm, whole);
  return collectively(comm, [&] {
    const Index count = whole.tensor.num_nonzeros(), size = comm.size(), rank = comm.rank();
    const auto begin_of = [&](Index r) { return count / size * r + std::min(r, count % size); };
    Tensor share{entries_of(whole.tensor, begin_of(rank), begin_of(rank + 1))};
    share.labels = whole.labels;
    share.format = whole.format;
    share.index_base = whole.index_base;
    share.path = whole.path;
    share.files = whole.files;
    share.sums_duplicates = whole.sums_duplicates;
    share.duplicate_rule = whole.duplicate_rule;
    share.transform = whole.transform;
    share.min_count = whole.min_count;
    share.is_prepared = whole.is_prepared;
    share.load_seconds = whole.load_seconds;
    share.settings = whole.settings;
    return share;
  });
}

void check_shares(const Context& context, const Tensor& share) {
  TensorDigest digest;
  digest.add_frame(share);
  if (const int r = first_other(context.comm(), digest); r != 0)
    throw Error(Errc::bad_input,
                fmt::format("the part of process {} has other dims or labels than that of process "
                            "0: expected those of the whole tensor",
                            r));
}

CpModel on_every_process(const CpModel& model) {
  return CpModel(std::make_shared<tasks::GatheredModel>(model));
}

CompletionModel on_every_process(const CompletionModel& model) {
  return CompletionModel(model.state().on_every_process());
}

}  // namespace polyad
