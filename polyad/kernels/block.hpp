#pragma once

#include <algorithm>
#include <bit>
#include <type_traits>

#include "polyad/base/types.hpp"

namespace polyad {

// What the kernels do to rows of factors, in vectors of the machine that the compiler was told of. GCC's
// and Clang's vector types are the same on x86-64 and ARM64.
#if defined(__AVX512F__)
inline constexpr int vector_bytes = 64;
#elif defined(__AVX__)
inline constexpr int vector_bytes = 32;
#else
inline constexpr int vector_bytes = 16;
#endif
template <class Real>
inline constexpr int vector_lanes = vector_bytes / int(sizeof(Real));

// Width consecutive components (a power of two), held in registers: two halves, down to one vector. An
// array of vectors would say the same, but compilers keep arrays in memory.
template <class Real, int Width, bool FitsVector = (Width <= vector_lanes<Real>)>
class Block {
  using Half = Block<Real, Width / 2>;

 public:
  [[gnu::always_inline]] Block() = default;
  [[gnu::always_inline]] static Block load(const Real* from) {
    return Block(Half::load(from), Half::load(from + Width / 2));
  }
  [[gnu::always_inline]] void store(Real* to) const {
    low_.store(to);
    high_.store(to + Width / 2);
  }
  // this += x * row
  [[gnu::always_inline]] void add_scaled(Real x, const Block& row) {
    low_.add_scaled(x, row.low_);
    high_.add_scaled(x, row.high_);
  }
  // this += a * b, componentwise
  [[gnu::always_inline]] void add_product(const Block& a, const Block& b) {
    low_.add_product(a.low_, b.low_);
    high_.add_product(a.high_, b.high_);
  }
  [[gnu::always_inline]] void operator*=(const Block& b) {
    low_ *= b.low_;
    high_ *= b.high_;
  }

  // The same from rows in memory, each cache line of which is followed by asking for the same line of a
  // row that will be needed soon. Some processors drop the second of two requests in a row: so there is
  // work between them.
  [[gnu::always_inline]] void add_scaled(Real x, const Real* row, const Real* soon) {
    if constexpr (is_one_line) {
      add_scaled(x, load(row));
      __builtin_prefetch(soon);
    } else {
      low_.add_scaled(x, row, soon);
      high_.add_scaled(x, row + Width / 2, soon + Width / 2);
    }
  }
  [[gnu::always_inline]] void add_product(const Block& a, const Real* row, const Real* soon) {
    if constexpr (is_one_line) {
      add_product(a, load(row));
      __builtin_prefetch(soon);
    } else {
      low_.add_product(a.low_, row, soon);
      high_.add_product(a.high_, row + Width / 2, soon + Width / 2);
    }
  }
  // row += x * this, and row += a * this, likewise.
  [[gnu::always_inline]] void add_scaled_to(Real* row, Real x, const Real* soon) const {
    if constexpr (is_one_line) {
      auto sum = load(row);
      sum.add_scaled(x, *this);
      sum.store(row);
      __builtin_prefetch(soon, 1);
    } else {
      low_.add_scaled_to(row, x, soon);
      high_.add_scaled_to(row + Width / 2, x, soon + Width / 2);
    }
  }
  [[gnu::always_inline]] void add_product_to(Real* row, const Block& a, const Real* soon) const {
    if constexpr (is_one_line) {
      auto sum = load(row);
      sum.add_product(a, *this);
      sum.store(row);
      __builtin_prefetch(soon, 1);
    } else {
      low_.add_product_to(row, a.low_, soon);
      high_.add_product_to(row + Width / 2, a.high_, soon + Width / 2);
    }
  }

 private:
  static constexpr bool is_one_line = Width * sizeof(Real) <= 64;
  [[gnu::always_inline]] Block(const Half& low, const Half& high) : low_(low), high_(high) {}
  Half low_, high_;
};

// A vector in a register, and as it lies in memory. A single component needs no vector.
template <class Real, int Width>
struct OneVector {
  using Register [[gnu::vector_size(Width * sizeof(Real))]] = Real;
  using InMemory [[gnu::vector_size(Width * sizeof(Real)), gnu::aligned(alignof(Real)), gnu::may_alias]] =
      Real;
};
template <class Real>
struct OneVector<Real, 1> {
  using Register = Real;
  using InMemory = Real;
};

template <class Real, int Width>
class Block<Real, Width, true> {
  using Vector = typename OneVector<Real, Width>::Register;
  using InMemory = typename OneVector<Real, Width>::InMemory;

 public:
  [[gnu::always_inline]] Block() = default;
  [[gnu::always_inline]] static Block load(const Real* from) {
    return Block(*reinterpret_cast<const InMemory*>(from));
  }
  [[gnu::always_inline]] void store(Real* to) const { *reinterpret_cast<InMemory*>(to) = v_; }
  [[gnu::always_inline]] void add_scaled(Real x, const Block& row) { v_ += x * row.v_; }
  [[gnu::always_inline]] void add_product(const Block& a, const Block& b) { v_ += a.v_ * b.v_; }
  [[gnu::always_inline]] void operator*=(const Block& b) { v_ *= b.v_; }
  [[gnu::always_inline]] void add_scaled(Real x, const Real* row, const Real* soon) {
    add_scaled(x, load(row));
    __builtin_prefetch(soon);
  }
  [[gnu::always_inline]] void add_product(const Block& a, const Real* row, const Real* soon) {
    add_product(a, load(row));
    __builtin_prefetch(soon);
  }
  [[gnu::always_inline]] void add_scaled_to(Real* row, Real x, const Real* soon) const {
    auto sum = load(row);
    sum.add_scaled(x, *this);
    sum.store(row);
    __builtin_prefetch(soon, 1);
  }
  [[gnu::always_inline]] void add_product_to(Real* row, const Block& a, const Real* soon) const {
    auto sum = load(row);
    sum.add_product(a, *this);
    sum.store(row);
    __builtin_prefetch(soon, 1);
  }

 private:
  [[gnu::always_inline]] explicit Block(Vector v) : v_(v) {}
  Vector v_{};
};

// Calls fn(first component, width) for blocks that cover n components, width being a compile-time
// constant. Width > 0 says that n is that; 0 that n is known only now.
template <class Real, int Width, int First = 0, class Fn>
[[gnu::always_inline]] inline void for_blocks(Index n, Fn fn) {
  if constexpr (Width > 0) {
    constexpr int rest = Width - First, power = 1 << (std::bit_width(unsigned(rest)) - 1);
    constexpr int widest = std::min(power, 16 * vector_lanes<Real>);  // 16 registers hold sums, 16 are left
    fn(Index(First), std::integral_constant<int, widest>{});
    if constexpr (rest > widest) for_blocks<Real, Width, First + widest>(n, fn);
  } else {
    Index c = 0;
    for (; c + 16 <= n; c += 16) fn(c, std::integral_constant<int, 16>{});
#ifndef POLYAD_FEW_WIDTHS
    if (n - c >= 8) fn(c, std::integral_constant<int, 8>{}), c += 8;
    if (n - c >= 4) fn(c, std::integral_constant<int, 4>{}), c += 4;
#endif
    for (; c < n; ++c) fn(c, std::integral_constant<int, 1>{});
  }
}

// Calls fn(width), a compile-time constant: n where there are kernels compiled for it, else 0. Builds that
// look for faults have few, since each takes compilers with sanitizers a minute.
template <class Fn>
void with_width(Index n, Fn fn) {
  if (n == 16) return fn(std::integral_constant<int, 16>{});
#ifndef POLYAD_FEW_WIDTHS
  if (n == 8) return fn(std::integral_constant<int, 8>{});
  if (n == 24) return fn(std::integral_constant<int, 24>{});
  if (n == 32) return fn(std::integral_constant<int, 32>{});
  if (n == 48) return fn(std::integral_constant<int, 48>{});
  if (n == 64) return fn(std::integral_constant<int, 64>{});
#endif
  return fn(std::integral_constant<int, 0>{});
}

}  // namespace polyad
