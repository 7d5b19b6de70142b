#include "polyad/comm/shared_pages.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>
#include <utility>

namespace polyad {
namespace {

// Where the others find the memory of a process: an open file without a name in any folder.
struct Offer {
  std::int64_t process = 0;
  std::int32_t descriptor = -1, rank = 0;
  std::uint64_t token = 0, bytes = 0;
};

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  int number() const { return number_; }

 private:
  int number_;
};

std::string name_of(std::uint64_t token) {
  return "polyad-" + std::to_string(token);
}

std::uint64_t draw_token() {
  std::random_device device;
  return std::uint64_t(device()) << 32 | device();
}

std::byte* map(int descriptor, std::size_t bytes, int protection) {
  void* const begin = mmap(nullptr, bytes, protection, MAP_SHARED, descriptor, 0);
  if (begin == MAP_FAILED) return nullptr;
  madvise(begin, bytes, MADV_HUGEPAGE);  // a wish; refusal is harmless
  return static_cast<std::byte*>(begin);
}

// Processes of one machine may still see different process numbers, in containers: only a file of the right
// name is opened.
std::byte* map_offer(const Offer& offer) {
  if (offer.descriptor < 0) return nullptr;
  const auto path = "/proc/" + std::to_string(offer.process) + "/fd/" + std::to_string(offer.descriptor);
  std::array<char, 128> target{};
  const auto length = readlink(path.c_str(), target.data(), target.size());
  if (length < 0 ||
      !std::string_view(target.data(), std::size_t(length)).starts_with("/memfd:" + name_of(offer.token)))
    return nullptr;
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return file.number() < 0 ? nullptr : map(file.number(), offer.bytes, PROT_READ);
}

}  // namespace

bool may_share_memory() {
  const char* const said = std::getenv("POLYAD_SHARED_MEMORY");
  return said == nullptr || std::string_view(said) != "0";
}

SharedPages::SharedPages(const Comm& comm, std::size_t bytes) {
  if (comm.size() > 1 && comm.all_reduce(int(may_share_memory()), Reduce::min) > 0)
    share(comm, comm.split_by_machine(), bytes);
  if (!mappings_.empty()) return;
  private_.resize(bytes);
  mine_ = private_.data();
}

// All processes of the machine share, or none does: a pair must agree on how its rows travel.
void SharedPages::share(const Comm& comm, const Comm& neighbours, std::size_t bytes) {
  if (neighbours.size() == 1) return;
  Offer offer{.process = getpid(), .rank = comm.rank(), .token = draw_token()};
  offer.bytes = std::max<std::size_t>(bytes, 1);  // nothing cannot be mapped
  const Descriptor file(memfd_create(name_of(offer.token).c_str(), MFD_CLOEXEC));
  std::byte* own = nullptr;
  if (file.number() >= 0 && ftruncate(file.number(), off_t(offer.bytes)) == 0)
    own = map(file.number(), offer.bytes, PROT_READ | PROT_WRITE);
  if (own != nullptr) offer.descriptor = file.number();
  for (const Offer& other : neighbours.all_gather(offer))
    mappings_.push_back(
        {other.rank, other.rank == comm.rank() ? own : map_offer(other), std::size_t(other.bytes)});
  const bool have_all = std::ranges::none_of(
      mappings_, [](const std::byte* begin) { return begin == nullptr; }, &Mapping::begin);
  if (neighbours.all_reduce(int(have_all), Reduce::min) == 0) return unmap();
  std::ranges::sort(mappings_, {}, &Mapping::rank);
  mine_ = own;
}

void SharedPages::unmap() noexcept {
  for (const auto& [rank, begin, bytes] : mappings_)
    if (begin != nullptr) munmap(begin, bytes);
  mappings_.clear();
}

SharedPages::SharedPages(SharedPages&& other) noexcept
    : mine_(std::exchange(other.mine_, nullptr)),
      private_(std::move(other.private_)),
      mappings_(std::exchange(other.mappings_, {})) {}

SharedPages& SharedPages::operator=(SharedPages&& other) noexcept {
  std::swap(mine_, other.mine_);
  std::swap(private_, other.private_);
  std::swap(mappings_, other.mappings_);
  return *this;
}

SharedPages::~SharedPages() {
  unmap();
}

const std::byte* SharedPages::of(int rank) const {
  const auto found = std::ranges::lower_bound(mappings_, rank, {}, &Mapping::rank);
  return found != mappings_.end() && found->rank == rank ? found->begin : nullptr;
}

std::vector<std::span<const std::byte>> SharedPages::of_others() const {
  std::vector<std::span<const std::byte>> memory;
  for (const auto& [rank, begin, bytes] : mappings_)
    if (begin != mine_) memory.emplace_back(begin, bytes);
  return memory;
}

}  // namespace polyad
