#include "polyad/distributed/state_rows.hpp"

#include <algorithm>
#include <exception>
#include <numeric>
#include <string>
#include <utility>

#include "polyad/base/error.hpp"

namespace polyad {
namespace {

constexpr Index max_block_bytes = Index(4) << 20;

// Finds own rows by their global numbers.
class OwnRowFinder {
 public:
  explicit OwnRowFinder(const std::vector<std::span<const Index>>& numbers) : numbers_(numbers) {
    for (const auto& of_kind : numbers) {
      auto& order = order_.emplace_back(of_kind.size());
      std::iota(order.begin(), order.end(), Index(0));
      std::ranges::sort(order, {}, [&](Index own) { return of_kind[std::size_t(own)]; });
    }
  }
  // -1: another process owns it.
  Index find(int kind, Index row) const {
    const auto& order = order_[kind];
    const auto global = [&](Index own) { return numbers_[kind][std::size_t(own)]; };
    const auto at = std::ranges::lower_bound(order, row, {}, global);
    return at != order.end() && global(*at) == row ? *at : -1;
  }

 private:
  std::vector<Array<Index>> order_;  // [kind]
  std::vector<std::span<const Index>> numbers_;
};

// Which own rows have been filled.
class FilledRows {
 public:
  explicit FilledRows(const std::vector<std::span<const Index>>& numbers) : numbers_(numbers) {
    for (const auto& of_kind : numbers) is_filled_.emplace_back(of_kind.size(), false);
  }
  void mark(int kind, Index row) {
    is_twice_ = is_twice_ || is_filled_[kind][std::size_t(row)];
    is_filled_[kind][std::size_t(row)] = true;
  }
  void require_all() const {
    if (is_twice_) throw Error(Errc::bad_input, "a row is there twice");
    for (std::size_t kind = 0; kind < is_filled_.size(); ++kind) {
      const auto missing = std::ranges::find(is_filled_[kind], false);
      if (missing == is_filled_[kind].end()) continue;
      const Index row = numbers_[kind][std::size_t(missing - is_filled_[kind].begin())];
      throw Error(Errc::bad_input,
                  "row " + std::to_string(row + 1) + " of mode " + std::to_string(kind + 1) + " is missing");
    }
  }

 private:
  std::vector<std::span<const Index>> numbers_;
  std::vector<std::vector<bool>> is_filled_;  // [kind][own row]
  bool is_twice_ = false;
};

}  // namespace

template <class Real>
void gather_state(const Comm& machine, const OwnRows<Real>& own,
                  const std::function<void(const StateRows<Real>&)>& take) {
  const Index row_bytes = Index(sizeof(Index)) + own.width * Index(sizeof(Real));
  const Index block_rows = std::max(Index(1), max_block_bytes / row_bytes / machine.size());
  std::exception_ptr failure;
  for (int kind = 0; kind < own.num_kinds(); ++kind) {
    const auto numbers = own.numbers[kind];
    const Index num_owned = std::ssize(numbers);
    const Index most = machine.all_reduce(num_owned, Reduce::max);
    for (Index begin = 0; begin < most; begin += block_rows) {
      const Index first = std::min(begin, num_owned), end = std::min(begin + block_rows, num_owned);
      std::vector<Real> values(std::size_t((end - first) * own.width));
      for (Index row = first; row < end; ++row)
        own.read(kind, row, values.data() + (row - first) * own.width);
      const auto rows = numbers.subspan(std::size_t(first), std::size_t(end - first));
      StateRows<Real> block{kind, std::move(machine.gather_varying<Index>(rows, 0).items),
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
void hand_out_state(const Comm& machine, const OwnRows<Real>& own,
                    const std::function<std::optional<StateRows<Real>>()>& next) {
  const OwnRowFinder numbers(own.numbers);
  FilledRows filled(own.numbers);
  for (;;) {
    std::exception_ptr failure;
    std::optional<StateRows<Real>> block;
    try {
      if (machine.rank() == 0) block = next();
    } catch (...) {
      failure = std::current_exception();
    }
    const int kind = machine.broadcast(block ? block->kind : -1, 0);
    if (failure) std::rethrow_exception(failure);
    if (kind < 0) break;
    if (!block) block.emplace();
    machine.broadcast(block->rows, 0);
    machine.broadcast(block->values, 0);
    for (Index i = 0; i < std::ssize(block->rows); ++i) {
      const Index row = numbers.find(kind, block->rows[i]);
      if (row < 0) continue;
      filled.mark(kind, row);
      own.write(kind, row, block->values.data() + i * own.width);
    }
  }
  filled.require_all();
}

template void gather_state(const Comm&, const OwnRows<float>&,
                           const std::function<void(const StateRows<float>&)>&);
template void gather_state(const Comm&, const OwnRows<double>&,
                           const std::function<void(const StateRows<double>&)>&);
template void hand_out_state(const Comm&, const OwnRows<float>&,
                             const std::function<std::optional<StateRows<float>>()>&);
template void hand_out_state(const Comm&, const OwnRows<double>&,
                             const std::function<std::optional<StateRows<double>>()>&);

}  // namespace polyad
