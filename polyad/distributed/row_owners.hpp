#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "polyad/base/array.hpp"
#include "polyad/base/types.hpp"

namespace polyad {

// Contiguous blocks of rows: rows [begin[b], begin[b + 1])
// belong to part[b]. `begin` ascends; blocks may be empty.
struct RowBlocks {
  std::vector<Index> begin;
  std::vector<int> part;

  int operator()(Index row) const;
  std::vector<int> of_ascending(std::span<const Index> rows) const;
  friend bool operator==(const RowBlocks&, const RowBlocks&) = default;
};

// Items 0, 1, ..., count - 1 in random order, distributed evenly: the sizes
// of parts differ by at most one. Computed by a bijection, without a table.
class ShuffledParts {
 public:
  ShuffledParts(Index count, int num_parts, std::uint64_t seed);

  int operator()(Index i) const;
  friend bool operator==(const ShuffledParts&, const ShuffledParts&) = default;

 private:
  Index shuffled(Index i) const;

  Index count_;
  int num_parts_;
  std::uint64_t seed_;
  int half_bits_;  // half the number of bits of a permuted number
};

// Rows in ascending order with the part of each; or all rows, if `rows` is empty.
struct ListedRows {
  Array<Index> rows;
  std::vector<int> part;

  int operator()(Index row) const;
  friend bool operator==(const ListedRows&, const ListedRows&) = default;
};

// The part that owns each row of a mode (mu in docs/algorithms.md). Needs no memory per row, except for
// listed rows, which copies share.
class RowOwners {
 public:
  RowOwners() = default;
  RowOwners(RowBlocks blocks) : how_(std::move(blocks)) {}  // NOLINT(*-explicit-*): one of these
  RowOwners(ShuffledParts shuffled) : how_(shuffled) {}     // NOLINT(*-explicit-*)
  RowOwners(ListedRows listed)                              // NOLINT(*-explicit-*)
      : how_(Shared{std::make_shared<const ListedRows>(std::move(listed))}) {}

  int operator()(Index row) const {
    return std::visit([&](const auto& how) { return how(row); }, how_);
  }
  // The same for rows that ascend, which takes less time.
  std::vector<int> of_ascending(std::span<const Index> rows) const;
  friend bool operator==(const RowOwners&, const RowOwners&) = default;

 private:
  struct Shared {
    std::shared_ptr<const ListedRows> rows;

    int operator()(Index row) const { return (*rows)(row); }
    friend bool operator==(const Shared& a, const Shared& b) { return *a.rows == *b.rows; }
  };
  std::variant<RowBlocks, ShuffledParts, Shared> how_;
};

}  // namespace polyad
