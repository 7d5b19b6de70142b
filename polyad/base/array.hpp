#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace polyad {

// Allocates memory for large arrays, aligned to cache lines, and from one megabyte on
// to huge pages, which the kernel is asked to use: random gathers are otherwise limited
// by address translation. Throws Error{resource} if there is not enough memory.
void* allocate_pages(std::size_t bytes);
void free_pages(void* memory, std::size_t bytes) noexcept;

// Allocator that leaves numbers uninitialised, so that memory is placed near the thread that first writes it.
// It may be given a place in memory of somebody else, for one vector that is never larger; copies of that
// vector are elsewhere.
template <class T>
struct PageAllocator {
  using value_type = T;
  using propagate_on_container_move_assignment = std::true_type;
  using propagate_on_container_swap = std::true_type;

  PageAllocator() = default;
  explicit PageAllocator(std::span<T> place) noexcept : place_(place) {}
  template <class U>
  PageAllocator(const PageAllocator<U>&) noexcept {}  // NOLINT(*-explicit-*): allocators convert

  T* allocate(std::size_t n) {
    return n <= place_.size() ? place_.data() : static_cast<T*>(allocate_pages(n * sizeof(T)));
  }
  void deallocate(T* p, std::size_t n) noexcept {
    if (p != place_.data()) free_pages(p, n * sizeof(T));
  }
  PageAllocator select_on_container_copy_construction() const { return {}; }

  template <class U>
  void construct(U* p) noexcept {
    ::new (static_cast<void*>(p)) U;
  }
  template <class U, class... Args>
  void construct(U* p, Args&&... args) {
    ::new (static_cast<void*>(p)) U(std::forward<Args>(args)...);
  }

  friend bool operator==(const PageAllocator& a, const PageAllocator& b) {
    return a.place_.data() == b.place_.data();
  }

 private:
  std::span<T> place_;
};

// A vector for bulk data. Array<T>(n) is uninitialised; Array<T>(n, T{}) is zero.
template <class T>
using Array = std::vector<T, PageAllocator<T>>;

}  // namespace polyad
