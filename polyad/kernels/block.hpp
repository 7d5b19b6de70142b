#pragma once

#include <algorithm>
#include <bit>
#include <type_traits>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "polyad/base/types.hpp"

namespace polyad::kernels {

// Vector operations on rows of factors, for the instruction set that the compiler
// targets. The vector types of GCC and Clang are the same on x86-64 and ARM64.
#if defined(__AVX512F__)
inline constexpr int vector_bytes = 64;
#elif defined(__AVX__)
inline constexpr int vector_bytes = 32;
#else
inline constexpr int vector_bytes = 16;
#endif
template <class Real>
inline constexpr int vector_lanes = vector_bytes / int(sizeof(Real));

template <class Real, int Width>
inline constexpr bool is_one_vector = std::has_single_bit(unsigned(Width)) && Width <= vector_lanes<Real>;

// Width consecutive components in registers: recursively two halves, the lower a power of two, down
// to one vector. An array of vectors would be equivalent, but compilers keep arrays in memory.
template <class Real, int Width, bool FitsVector = is_one_vector<Real, Width>>
class Block {
  static constexpr int low_width = int(std::bit_floor(unsigned(Width - 1)));
  using Low = Block<Real, low_width>;
  using High = Block<Real, Width - low_width>;

 public:
  [[gnu::always_inline]] Block() = default;
  [[gnu::always_inline]] static Block load(const Real* from) {
    return Block(Low::load(from), High::load(from + low_width));
  }
  [[gnu::always_inline]] void store(Real* to) const {
    low_.store(to);
    high_.store(to + low_width);
  }
  // The same, bypassing the caches, to the start of a cache line: see past_caches.
  [[gnu::always_inline]] void store_past_caches(Real* to) const {
    low_.store_past_caches(to);
    high_.store_past_caches(to + low_width);
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

  [[gnu::always_inline]] void operator+=(const Block& b) {
    low_ += b.low_;
    high_ += b.high_;
  }
  [[gnu::always_inline]] void scale(Real x) {
    low_.scale(x);
    high_.scale(x);
  }
  template <int I>
  [[gnu::always_inline]] Real component() const {
    if constexpr (I < low_width)
      return low_.template component<I>();
    else
      return high_.template component<I - low_width>();
  }
  // Sums the components in a fixed order, with as many partial sums as there are vectors in a half.
  [[gnu::always_inline]] Real sum() const {
    if constexpr (std::is_same_v<Low, High>) {
      auto halves = low_;
      halves += high_;
      return halves.sum();
    } else {
      return low_.sum() + high_.sum();
    }
  }
  // Compilers may fuse either product of a sum of two products, which rounds differently; here there is one.
  [[gnu::always_inline]] static Real dot(const Block& a, const Block& b) {
    if constexpr (std::is_same_v<Low, High>) {
      Low products;
      products.add_product(a.low_, b.low_);
      products.add_product(a.high_, b.high_);
      return products.sum();
    } else {
      return Low::dot(a.low_, b.low_) + High::dot(a.high_, b.high_);
    }
  }

  // The same from rows in memory; after each cache line, the same line of a
  // row that is needed soon is prefetched. Some processors drop the second
  // of two consecutive prefetches, so there is arithmetic between them.
  [[gnu::always_inline]] void add_scaled(Real x, const Real* row, const Real* soon) {
    if constexpr (is_one_line) {
      add_scaled(x, load(row));
      __builtin_prefetch(soon);
    } else {
      low_.add_scaled(x, row, soon);
      high_.add_scaled(x, row + low_width, soon + low_width);
    }
  }
  [[gnu::always_inline]] void add_product(const Block& a, const Real* row, const Real* soon) {
    if constexpr (is_one_line) {
      add_product(a, load(row));
      __builtin_prefetch(soon);
    } else {
      low_.add_product(a.low_, row, soon);
      high_.add_product(a.high_, row + low_width, soon + low_width);
    }
  }
  // row += x * this, and row += a * this, with prefetching as above.
  [[gnu::always_inline]] void add_scaled_to(Real* row, Real x, const Real* soon) const {
    if constexpr (is_one_line) {
      auto sum = load(row);
      sum.add_scaled(x, *this);
      sum.store(row);
      __builtin_prefetch(soon, 1);
    } else {
      low_.add_scaled_to(row, x, soon);
      high_.add_scaled_to(row + low_width, x, soon + low_width);
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
      high_.add_product_to(row + low_width, a.high_, soon + low_width);
    }
  }

 private:
  static constexpr bool is_one_line = Width * sizeof(Real) <= 64;
  [[gnu::always_inline]] Block(const Low& low, const High& high) : low_(low), high_(high) {}
  Low low_;
  High high_;
};

// Stores of whole cache lines without first reading them, as x86-64 otherwise would. Other threads see
// them after the storing thread has called settle(). Ordinary stores on ARM64, where stnp gained nothing.
namespace past_caches {
// Minimum size of a table whose rows have left the caches before they are read again in the next pass.
inline constexpr std::size_t min_bytes = std::size_t(128) << 20;

template <class Vector>
[[gnu::always_inline]] inline void store(void* to, const Vector& v) {
#if defined(__AVX512F__)
  _mm512_stream_si512(static_cast<__m512i*>(to), reinterpret_cast<__m512i>(v));
#elif defined(__AVX__)
  _mm256_stream_si256(static_cast<__m256i*>(to), reinterpret_cast<__m256i>(v));
#elif defined(__x86_64__)
  _mm_stream_si128(static_cast<__m128i*>(to), reinterpret_cast<__m128i>(v));
#else
  *static_cast<Vector*>(to) = v;
#endif
}
inline void settle() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}
}  // namespace past_caches

// A vector in a register, and its type in memory. A vector may alias its components and nothing else:
// with may_alias, each store would force compilers to reload all pointers. One component needs no vector.
template <class Real, int Width>
struct OneVector {
  using Register [[gnu::vector_size(Width * sizeof(Real))]] = Real;
  using InMemory [[gnu::vector_size(Width * sizeof(Real)), gnu::aligned(alignof(Real))]] = Real;
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
  [[gnu::always_inline]] void store_past_caches(Real* to) const {
    if constexpr (sizeof(Vector) == vector_bytes)
      past_caches::store(to, v_);
    else
      store(to);
  }
  [[gnu::always_inline]] void add_scaled(Real x, const Block& row) { v_ += x * row.v_; }
  [[gnu::always_inline]] void add_product(const Block& a, const Block& b) { v_ += a.v_ * b.v_; }
  [[gnu::always_inline]] void operator*=(const Block& b) { v_ *= b.v_; }
  [[gnu::always_inline]] void operator+=(const Block& b) { v_ += b.v_; }
  [[gnu::always_inline]] void scale(Real x) { v_ *= x; }
  template <int I>
  [[gnu::always_inline]] Real component() const {
    if constexpr (Width == 1)
      return v_;
    else
      return v_[I];
  }
  [[gnu::always_inline]] Real sum() const {
    if constexpr (Width == 1) {
      return v_;
    } else {
      using Half = Block<Real, Width / 2>;
      auto halves = Half::load(reinterpret_cast<const Real*>(&v_));
      halves += Half::load(reinterpret_cast<const Real*>(&v_) + Width / 2);
      return halves.sum();
    }
  }
  [[gnu::always_inline]] static Real dot(const Block& a, const Block& b) { return Block(a.v_ * b.v_).sum(); }
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

// Calls fn(first component, width) for blocks that cover n components, where width is a
// compile-time constant. Width > 0: n is this constant; 0: n is known at run time only.
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

// The widths that kernels are compiled for, and 0, which stands for all others. Sanitizer builds have few of
// them, because each takes a minute to compile.
#ifdef POLYAD_FEW_WIDTHS
#define POLYAD_FOR_WIDTHS(Do) Do(16) Do(0)
#else
#define POLYAD_FOR_WIDTHS(Do) Do(16) Do(8) Do(24) Do(32) Do(48) Do(64) Do(0)
#endif

// Calls fn(width) with a compile-time constant: n if kernels are compiled for this width, otherwise 0.
template <class Fn>
void with_width(Index n, Fn fn) {
#define POLYAD_CALL_WITH(Width) \
  if ((Width) == 0 || n == (Width)) return fn(std::integral_constant<int, Width>{});
  POLYAD_FOR_WIDTHS(POLYAD_CALL_WITH)
#undef POLYAD_CALL_WITH
}

}  // namespace polyad::kernels
