#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "polyad/base/array.hpp"
#include "polyad/comm/comm.hpp"

namespace polyad {

// Whether processes of one machine may read each other's SharedPages: unless POLYAD_SHARED_MEMORY is 0.
bool may_share_memory();

// Memory of this process that the other processes of its machine can read. It belongs to no file and vanishes
// with the last process that has it, however that ends.
class SharedPages {
 public:
  SharedPages() = default;
  // `bytes` may differ between processes. Collective; without an error where memory cannot be shared.
  SharedPages(const Comm& comm, std::size_t bytes);
  SharedPages(const SharedPages&) = delete;
  SharedPages& operator=(const SharedPages&) = delete;
  SharedPages(SharedPages&& other) noexcept;
  SharedPages& operator=(SharedPages&& other) noexcept;
  ~SharedPages();

  std::byte* mine() { return mine_; }
  // The memory of another process, by its rank; null if that is on another machine or cannot be read.
  const std::byte* of(int rank) const;
  // The memory of all other processes that can be read.
  std::vector<std::span<const std::byte>> of_others() const;

 private:
  struct Mapping {
    int rank;
    std::byte* begin;
    std::size_t bytes;
  };
  void share(const Comm& comm, const Comm& neighbours, std::size_t bytes);
  void unmap() noexcept;

  std::byte* mine_ = nullptr;
  Array<std::byte> private_;       // mine, where it is not shared
  std::vector<Mapping> mappings_;  // of all processes on this machine, ordered by rank; empty: not shared
};

// An array of numbers in shared pages.
template <Shippable T>
class SharedArray {
 public:
  SharedArray() = default;
  SharedArray(const Comm& comm, Index size)
      : pages_(comm, std::size_t(size) * sizeof(T)),
        mine_(reinterpret_cast<T*>(pages_.mine()), std::size_t(size)) {}
  // Memory of somebody else, which only this process has.
  explicit SharedArray(std::span<T> unshared) : mine_(unshared) {}

  std::span<T> mine() { return mine_; }
  const T* of(int rank) const { return reinterpret_cast<const T*>(pages_.of(rank)); }
  std::vector<std::span<const std::byte>> of_others() const { return pages_.of_others(); }

 private:
  SharedPages pages_;
  std::span<T> mine_;
};

}  // namespace polyad
