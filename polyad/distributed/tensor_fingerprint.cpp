#include "polyad/distributed/tensor_fingerprint.hpp"

#include <bit>
#include <numeric>

#include "polyad/distributed/repeated_nonzeros.hpp"

namespace polyad {
namespace {

constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;

std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 31)) * odd;
  return x ^ (x >> 29);
}

// How many nonzeros the processes before this one have.
Index first_of_share(const Comm& comm, const SparseTensor<double>& share) {
  const auto counts = comm.all_gather(share.num_nonzeros());
  return std::accumulate(counts.begin(), counts.begin() + comm.rank(), Index(0));
}

}  // namespace

std::uint64_t tensor_fingerprint(const Comm& comm, const SparseTensor<double>& share, FingerprintOf what) {
  const Index first = first_of_share(comm, share);
  std::uint64_t sum = 0;
  for (Index z = 0; z < share.num_nonzeros(); ++z) {
    const auto place = what == FingerprintOf::cells_in_any_order ? 1 : std::uint64_t(first + z + 1);
    auto term = mixed(coordinate_hash(share, z) + odd * place);
    if (what != FingerprintOf::coordinates)
      term = mixed(term + std::bit_cast<std::uint64_t>(share.values()[z]));
    sum += term;
  }
  sum = comm.all_reduce(sum);
  for (const Index extent : share.extents()) sum = mixed(sum ^ std::uint64_t(extent));
  return sum;
}

std::uint64_t extend_fingerprint(std::uint64_t fingerprint, std::uint64_t number) {
  return mixed(fingerprint + number);
}

}  // namespace polyad
