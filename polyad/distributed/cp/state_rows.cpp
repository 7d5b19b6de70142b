#include "polyad/distributed/cp/state_rows.hpp"

#include <algorithm>
#include <exception>
#include <numeric>
#include <string>
#include <utility>

#include "polyad/base/error.hpp"

namespace polyad {
namespace {

constexpr Index max_block_bytes = Index(4) << 20;

// Where the entries of a row are.
template <class Real>
std::span<Real> entries_of(const StateVectors<Real>& state, std::size_t vector, int mode, Index row,
                           Index num_owned) {
  const auto all = state.vectors[vector][mode];
  const Index stride = std::ssize(all) / num_owned;  // rows may be padded
  return all.subspan(std::size_t(row * stride), std::size_t(state.num_columns));
}

// The local rows that a process owns, by their global numbers.
template <class Real>
class OwnRows {
 public:
  explicit OwnRows(const DistTensor<Real>& x) {
    for (int m = 0; m < x.order(); ++m) {
      auto& order = order_.emplace_back(std::size_t(x.num_owned(m)));
      std::iota(order.begin(), order.end(), Index(0));
      const auto global = x.rows(m);
      std::ranges::sort(order, {}, [&](Index local) { return global[local]; });
      rows_.push_back(global);
    }
  }
  // -1: another process owns it.
  Index find(int mode, Index row) const {
    const auto& order = order_[mode];
    const auto global = [&](Index local) { return rows_[mode][local]; };
    const auto at = std::ranges::lower_bound(order, row, {}, global);
    return at != order.end() && global(*at) == row ? *at : -1;
  }

 private:
  std::vector<Array<Index>> order_;           // [mode]
  std::vector<std::span<const Index>> rows_;  // [mode][local row]
};

}  // namespace

template <class Real>
void gather_state(const Comm& machine, const DistTensor<Real>& x, const StateVectors<Real>& state,
                  const std::function<void(const StateRows<Real>&)>& take) {
  const auto width = Index(state.vectors.size()) * state.num_columns;
  const Index row_bytes = Index(sizeof(Index)) + width * Index(sizeof(Real));
  const Index block_rows = std::max(Index(1), max_block_bytes / row_bytes / machine.size());
  std::exception_ptr failure;
  for (int m = 0; m < x.order(); ++m) {
    const Index num_owned = x.num_owned(m);
    const Index most = machine.all_reduce(num_owned, Reduce::max);
    for (Index begin = 0; begin < most; begin += block_rows) {
      const Index first = std::min(begin, num_owned), end = std::min(begin + block_rows, num_owned);
      std::vector<Real> values;
      values.reserve(std::size_t((end - first) * width));
      for (Index row = first; row < end; ++row)
        for (std::size_t v = 0; v < state.vectors.size(); ++v) {
          const auto entries = entries_of(state, v, m, row, num_owned);
          values.insert(values.end(), entries.begin(), entries.end());
        }
      const auto rows = x.rows(m).subspan(std::size_t(first), std::size_t(end - first));
      StateRows<Real> block{m, std::move(machine.gather_varying<Index>(rows, 0).items),
                            std::move(machine.gather_varying<Real>(values, 0).items)};
      if (machine.rank() != 0 || failure) continue;
      try {
        take(block);
      } catch (...) {
        failure = std::current_exception();  // the others still hand over their rows
      }
    }
  }
  if (failure) std::rethrow_exception(failure);
}

template <class Real>
void hand_out_state(const Comm& machine, const DistTensor<Real>& x, const StateVectors<Real>& state,
                    const std::function<std::optional<StateRows<Real>>()>& next) {
  const OwnRows<Real> own(x);
  const auto width = Index(state.vectors.size()) * state.num_columns;
  std::vector<std::vector<bool>> is_filled;
  for (int m = 0; m < x.order(); ++m) is_filled.emplace_back(std::size_t(x.num_owned(m)), false);
  bool is_twice = false;
  for (;;) {
    std::exception_ptr failure;
    std::optional<StateRows<Real>> block;
    try {
      if (machine.rank() == 0) block = next();
    } catch (...) {
      failure = std::current_exception();
    }
    const int mode = machine.broadcast(block ? block->mode : -1, 0);
    if (failure) std::rethrow_exception(failure);
    if (mode < 0) break;
    if (!block) block.emplace();
    machine.broadcast(block->rows, 0);
    machine.broadcast(block->values, 0);
    for (Index i = 0; i < std::ssize(block->rows); ++i) {
      const Index row = own.find(mode, block->rows[i]);
      if (row < 0) continue;
      is_twice = is_twice || is_filled[mode][row];
      is_filled[mode][row] = true;
      auto from = block->values.begin() + i * width;
      for (std::size_t v = 0; v < state.vectors.size(); ++v, from += state.num_columns)
        std::copy_n(from, state.num_columns, entries_of(state, v, mode, row, x.num_owned(mode)).begin());
    }
  }
  for (int m = 0; m < x.order(); ++m)
    if (const auto missing = std::ranges::find(is_filled[m], false);
        missing != is_filled[m].end() || is_twice)
      throw Error(Errc::bad_input,
                  is_twice ? std::string("a row is there twice")
                           : "row " + std::to_string(x.rows(m)[missing - is_filled[m].begin()] + 1) +
                                 " of mode " + std::to_string(m + 1) + " is missing");
}

template void gather_state(const Comm&, const DistTensor<float>&, const StateVectors<float>&,
                           const std::function<void(const StateRows<float>&)>&);
template void gather_state(const Comm&, const DistTensor<double>&, const StateVectors<double>&,
                           const std::function<void(const StateRows<double>&)>&);
template void hand_out_state(const Comm&, const DistTensor<float>&, const StateVectors<float>&,
                             const std::function<std::optional<StateRows<float>>()>&);
template void hand_out_state(const Comm&, const DistTensor<double>&, const StateVectors<double>&,
                             const std::function<std::optional<StateRows<double>>()>&);

}  // namespace polyad
