#include "polyad/comm/shared_pages.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <utility>

namespace polyad {
namespace {

Index length_of(int rank) {
  return rank == 1 ? 0 : 1000 * (rank + 1);
}

// Every process fills its own array, and reads those of all others.
void expect_readable(const Comm& comm, SharedArray<int>& array) {
  std::ranges::fill(array.mine(), comm.rank() + 1);
  comm.barrier();
  for (int rank = 0; rank < comm.size(); ++rank) {
    if (rank == comm.rank()) continue;
    const int* const theirs = array.of(rank);
    ASSERT_NE(theirs, nullptr);
    EXPECT_EQ(std::count(theirs, theirs + length_of(rank), rank + 1), length_of(rank));
  }
  comm.barrier();
}

std::ptrdiff_t num_descriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
}

TEST(SharedPages, processes_of_a_machine_read_the_arrays_of_each_other) {
  setenv("POLYAD_SHARED_MEMORY", "1", 1);
  const Comm comm = Comm::world();
  const auto before = num_descriptors();
  SharedArray<int> array(comm, length_of(comm.rank()));
  EXPECT_EQ(num_descriptors(), before);  // none stays open
  ASSERT_EQ(std::ssize(array.mine()), length_of(comm.rank()));
  expect_readable(comm, array);
  SharedArray<int> moved(std::move(array));
  expect_readable(comm, moved);
  array = SharedArray<int>(comm, length_of(comm.rank()));
  expect_readable(comm, array);
}

TEST(SharedPages, belong_to_their_process_alone_where_that_is_asked_for) {
  const Comm comm = Comm::world();
  setenv("POLYAD_SHARED_MEMORY", comm.rank() == 0 ? "0" : "1", 1);  // by one for all
  SharedArray<double> array(comm, 100);
  std::ranges::fill(array.mine(), 1.5);
  for (int rank = 0; rank < comm.size(); ++rank) EXPECT_EQ(array.of(rank), nullptr);
  EXPECT_EQ(std::ranges::count(array.mine(), 1.5), 100);
  comm.barrier();
}

TEST(SharedPages, of_parts_of_a_communicator_are_known_by_the_ranks_there) {
  setenv("POLYAD_SHARED_MEMORY", "1", 1);
  const Comm comm = Comm::world();
  const Comm half = comm.split(comm.rank() % 2, -comm.rank());  // in reverse
  SharedArray<int> array(half, 5);
  std::ranges::fill(array.mine(), 100 * (comm.rank() % 2) + half.rank());
  half.barrier();
  for (int rank = 0; rank < half.size(); ++rank)
    if (rank != half.rank()) {
      ASSERT_NE(array.of(rank), nullptr);
      EXPECT_EQ(array.of(rank)[4], 100 * (comm.rank() % 2) + rank);
    }
  comm.barrier();
}

}  // namespace
}  // namespace polyad
