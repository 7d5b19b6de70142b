#include "polyad/base/parallel.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "polyad/base/timings.hpp"

namespace polyad {
namespace {

TEST(Parallel, parts_cover_everything_once_and_differ_by_one_at_most) {
  for (const Index n : {0, 1, 5, 64, 1000})
    for (const Index parts : {1, 2, 3, 7, 64}) {
      EXPECT_EQ(part_begin(n, 0, parts), 0);
      EXPECT_EQ(part_begin(n, parts, parts), n);
      for (Index p = 0; p < parts; ++p) {
        const Index size = part_begin(n, p + 1, parts) - part_begin(n, p, parts);
        EXPECT_TRUE(size == n / parts || size == n / parts + 1);
      }
    }
  const Index huge = Index(1) << 62;
  EXPECT_EQ(part_begin(huge, 4096, 4096), huge);
}

TEST(Parallel, every_index_is_visited_once) {
  for (const int threads : {1, 2, 5}) {
    omp_set_num_threads(threads);
    std::vector<int> visits(1003, 0);
    parallel_for(1003, [&](Index i) { ++visits[i]; });
    EXPECT_EQ(visits, std::vector<int>(1003, 1));
  }
}

TEST(Parallel, the_error_of_the_first_part_comes_out) {
  omp_set_num_threads(4);
  for (int repeat = 0; repeat < 20; ++repeat) {
    std::string what;
    try {
      parallel_for(100, [](Index i) {
        if (i % 30 == 17) throw std::runtime_error(std::to_string(i));
      });
    } catch (const std::runtime_error& e) {
      what = e.what();
    }
    EXPECT_EQ(what, "17");
  }
}

TEST(Timings, add_up_by_phase_in_the_order_of_their_first_use) {
  Timings timings;
  timings.add("load", 1.5);
  timings.add("solve", 2);
  timings.add("load", 0.5);
  EXPECT_EQ(timings.measure("count", [] { return 7; }), 7);

  EXPECT_EQ(timings.seconds("load"), 2);
  EXPECT_EQ(timings.phases()[0].first, "load");
  EXPECT_EQ(timings.phases()[2].first, "count");
  EXPECT_EQ(timings.seconds("none"), 0);
}

}  // namespace
}  // namespace polyad
