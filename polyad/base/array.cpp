#include "polyad/base/array.hpp"

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "polyad/base/error.hpp"
#include "polyad/base/memory.hpp"
#include "polyad/base/progress.hpp"

namespace polyad {
namespace {

constexpr std::size_t cache_line = 64;
constexpr std::size_t huge_page = std::size_t(2) << 20;

bool worth_huge_pages(std::size_t bytes) {
  return bytes >= huge_page / 2;
}

std::size_t rounded_up(std::size_t bytes, std::size_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

// Fresh pages, never a piece of the heap that was used before in small pages. Null when there is none.
void* map_huge(std::size_t bytes) {
  const std::size_t more = bytes + huge_page;  // to cut an aligned piece from
  void* mapped = mmap(nullptr, more, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  auto* begin = static_cast<std::byte*>(mapped);
  const std::size_t before = (huge_page - reinterpret_cast<std::uintptr_t>(begin) % huge_page) % huge_page;
  if (before > 0) munmap(begin, before);
  if (before < huge_page) munmap(begin + before + bytes, huge_page - before);
  madvise(begin + before, bytes, MADV_HUGEPAGE);  // a wish; refusal is harmless
  return begin + before;
}

}  // namespace

void* allocate_pages(std::size_t bytes) {
  void* memory = worth_huge_pages(bytes) ? map_huge(rounded_up(bytes, huge_page))
                                         : std::aligned_alloc(cache_line, rounded_up(bytes, cache_line));
  if (memory == nullptr)
    throw Error(Errc::resource, "out of memory: " + with_prefix(double(bytes), "B") +
                                    " were asked for, and about " +
                                    with_prefix(double(free_memory_bytes()), "B") + " are free");
  return memory;
}

void free_pages(void* memory, std::size_t bytes) noexcept {
  if (worth_huge_pages(bytes))
    munmap(memory, rounded_up(bytes, huge_page));
  else
    std::free(memory);
}

}  // namespace polyad
