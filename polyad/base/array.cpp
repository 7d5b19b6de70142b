#include "polyad/base/array.hpp"

#include <sys/mman.h>

#include <cstdlib>
#include <string>

#include "polyad/base/error.hpp"

namespace polyad {
namespace {

constexpr std::size_t cache_line = 64;
constexpr std::size_t huge_page = std::size_t(2) << 20;

bool worth_huge_pages(std::size_t bytes) {
  return bytes >= 2 * huge_page;
}

std::size_t rounded_up(std::size_t bytes, std::size_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

}  // namespace

void* allocate_pages(std::size_t bytes) {
  const std::size_t alignment = worth_huge_pages(bytes) ? huge_page : cache_line;
  void* memory = std::aligned_alloc(alignment, rounded_up(bytes, alignment));
  if (memory == nullptr)
    throw Error(Errc::resource, "out of memory: " + std::to_string(bytes) + " bytes were asked for");
  if (worth_huge_pages(bytes)) madvise(memory, bytes, MADV_HUGEPAGE);  // a wish; refusal is harmless
  return memory;
}

void free_pages(void* memory, std::size_t) noexcept {
  std::free(memory);
}

}  // namespace polyad
