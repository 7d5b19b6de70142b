#include "polyad/dense/slab_exchange.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "polyad/base/error.hpp"
#include "polyad/dense/distribution_text.hpp"
#include "tests/support/random_distribution.hpp"

namespace polyad::dense {
namespace {

// Where an element stands in a file.
Index position_of(std::span<const Index> index, const std::vector<Index>& extents, FileOrder order) {
  Index position = 0;
  for (std::size_t k = index.size(); k-- > 0;) {
    const std::size_t m = order == FileOrder::first_mode_fastest ? k : index.size() - 1 - k;
    position = position * extents[m] + index[m];
  }
  return position;
}

template <class Real>
void read_and_write_back(const ProcessGrid& grid, const std::vector<Index>& extents,
                         const TensorDistribution& distribution, FileOrder order) {
  DenseTensor<Real> x(grid, extents, distribution);
  distribute_slabs<Real>(x, order, [](Index first, std::span<Real> into) {
    for (std::size_t i = 0; i < into.size(); ++i) into[i] = Real(first + Index(i));
  });
  Index wrong = 0;
  if (!x.local().empty())
    for_each_element(x.share(), [&](std::span<const Index> index, Index offset) {
      wrong += x.local()[std::size_t(offset)] != Real(position_of(index, extents, order)) ? 1 : 0;
    });
  EXPECT_EQ(wrong, 0) << to_string(distribution);

  Index written = 0;
  collect_slabs<Real>(x, order, [&](Index first, std::span<const Real> from) {
    for (std::size_t i = 0; i < from.size(); ++i) wrong += from[i] != Real(first + Index(i)) ? 1 : 0;
    written += std::ssize(from);
  });
  EXPECT_EQ(wrong, 0) << to_string(distribution);
  EXPECT_EQ(grid.comm().all_reduce(written), num_elements(extents));
}

TEST(SlabExchange, every_element_comes_from_its_place_in_the_file_and_goes_back) {
  const auto world = Comm::world();
  std::uint64_t seed = 0;
  for (const auto& shape : all_grids(2, world.size())) {
    const ProcessGrid grid(world, shape);
    for (int order = 0; order <= 4; ++order)
      for (int repetition = 0; repetition < 3; ++repetition) {
        ++seed;
        const auto extents = test::random_extents(order, seed);
        const auto file_order = seed % 2 == 0 ? FileOrder::first_mode_fastest : FileOrder::last_mode_fastest;
        read_and_write_back<double>(grid, extents, test::random_distribution(shape, order, seed), file_order);
        read_and_write_back<float>(grid, extents, canonical_distribution(order, 2), file_order);
      }
  }
}

TEST(SlabExchange, large_files_go_in_rounds) {
  const auto world = Comm::world();
  const ProcessGrid grid(world, GridShape({1, world.size()}));
  read_and_write_back<double>(grid, {1501, 2003}, canonical_distribution(2, 2), FileOrder::last_mode_fastest);
}

TEST(SlabExchange, what_goes_wrong_on_one_process_is_thrown_on_all) {
  const auto world = Comm::world();
  const ProcessGrid grid(world, GridShape({world.size()}));
  DenseTensor<double> x(grid, {50}, canonical_distribution(1, 1));
  const auto read = [&](Index, std::span<double>) {
    if (world.rank() == 0) throw Error(Errc::io, "unreadable");
  };
  EXPECT_THROW(distribute_slabs<double>(x, FileOrder::first_mode_fastest, read), Error);
}

}  // namespace
}  // namespace polyad::dense
