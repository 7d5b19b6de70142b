#pragma once

#include <array>
#include <vector>

#include "polyad/base/parallel.hpp"
#include "polyad/base/random.hpp"
#include "polyad/comm/comm.hpp"
#include "polyad/distributed/cp/distribution.hpp"
#include "polyad/distributed/cp/grid_choice.hpp"
#include "polyad/distributed/virtual_topology.hpp"
#include "polyad/tensor/sparse_tensor.hpp"

namespace polyad::test {

// The part-th of `parts` consecutive shares of a tensor, as it would be read from a file.
inline SparseTensor<double> share_of(const SparseTensor<double>& whole, int part, int parts) {
  SparseTensor<double> share(whole.extents());
  std::vector<Index> at(whole.extents().size());
  for (Index z = part_begin(whole.num_nonzeros(), part, parts);
       z < part_begin(whole.num_nonzeros(), part + 1, parts); ++z) {
    for (int m = 0; m < whole.order(); ++m) at[m] = whole.indices(m)[z];
    share.append(at, whole.values()[z]);
  }
  return share;
}
inline SparseTensor<double> share_of(const SparseTensor<double>& whole, const Comm& comm) {
  return share_of(whole, comm.rank(), comm.size());
}

// The n-th combination of a grid, a policy and a rule for owners; now and then the grid leaves a part out.
inline Distribution medium_distribution(const Distributor& distributor, int num_parts, int n) {
  const int num_cells = n % 5 == 4 && num_parts > 2 ? num_parts - 1 : num_parts;
  const auto grids = all_grids(int(distributor.profiles().size()), num_cells);
  const auto policies = all_policies();
  constexpr std::array rules{RowRule::even, RowRule::greedy, RowRule::balanced};
  return distributor.medium(grids[std::size_t(n / int(rules.size())) % grids.size()],
                            policies[std::size_t(n) % policies.size()], rules[std::size_t(n) % rules.size()]);
}

inline Distribution plain_distribution(const Distributor& distributor, int num_parts, int n) {
  const auto with_rule = [](Distribution result, RowRule rule) {
    result.row_rule = rule;
    return result;
  };
  switch (n % 9) {
    case 0:
      return distributor.coarse_block();
    case 1:
      return distributor.coarse_random();
    case 2:
      return distributor.fine_block();
    case 3:
      return distributor.fine_random();
    case 4:
      return with_rule(distributor.fine_random(), RowRule::random);
    case 5:
      return with_rule(distributor.fine_random(), RowRule::balanced);
    default:
      return medium_distribution(distributor, num_parts, n / 9 * 3 + n % 9 - 6);
  }
}

// The n-th of many ways to distribute: all schemes, partitions and policies, over all grids; with some modes
// replicated now and then.
inline Distribution some_distribution(const Distributor& distributor, int num_parts, int n) {
  auto result = plain_distribution(distributor, num_parts, n);
  if (result.scheme != Scheme::coarse && n % 3 == 0)
    for (std::size_t m = 0; m < distributor.profiles().size(); ++m)
      result.is_replicated.push_back((std::size_t(n) + m) % 2 == 0);
  return result;
}

// The same, with rows that go in stages in some modes where there are enough parts, between ranks of machines
// that are made up.
inline Distribution some_routed_distribution(const Distributor& distributor, int num_parts, int n) {
  auto result = some_distribution(distributor, num_parts, n);
  for (std::size_t m = 0; m < distributor.profiles().size(); ++m)
    result.num_stages.push_back(1 + (n + int(m)) % max_stages(num_parts));
  if (n % 2 == 0)
    for (int rank = 0; rank < num_parts; ++rank) result.machines.push_back(rank * (1 + n % 3) / 4);
  return result;
}

// Owners at random, listed for every slice, as they are read from a file. Not of coarse grain.
inline std::vector<RowOwners> listed_owners(const std::vector<Index>& extents, int num_parts,
                                            std::uint64_t seed) {
  std::vector<RowOwners> owners;
  for (const Index extent : extents) {
    ListedRows listed;
    const Random random(seed, owners.size());
    for (Index i = 0; i < extent; ++i)
      listed.part.push_back(int(random.below(std::uint64_t(num_parts), std::uint64_t(i))));
    owners.emplace_back(std::move(listed));
  }
  return owners;
}

// The distribution with such owners; in coarse grain as it is.
inline Distribution with_listed_owners(const Distributor& distributor, Distribution distribution,
                                       const std::vector<Index>& extents, int n) {
  if (distribution.scheme == Scheme::coarse) return distribution;
  auto with_list = distributor;
  with_list.set_listed_owners(listed_owners(extents, distribution.num_parts, std::uint64_t(n)));
  return with_list.with_owners(std::move(distribution), RowRule::file);
}

}  // namespace polyad::test
