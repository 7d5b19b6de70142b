#pragma once

#include <gtest/gtest.h>
#include <omp.h>

#include <string>
#include <vector>

#include "polyad/base/error.hpp"
#include "polyad/tensor/sparse_tensor.hpp"

namespace polyad::test {

// Sets the number of threads for one test.
class Threads {
 public:
  explicit Threads(int count) : before_(omp_get_max_threads()) { omp_set_num_threads(count); }
  ~Threads() { omp_set_num_threads(before_); }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

 private:
  int before_;
};

template <class Make>
auto with_threads(int count, Make make) {
  const Threads threads(count);
  return make();
}

inline std::vector<Index> coordinates(const SparseTensor<double>& x, Index z) {
  std::vector<Index> at(x.order());
  for (int m = 0; m < x.order(); ++m) at[m] = x.indices(m)[z];
  return at;
}

inline void expect_sorted_distinct_in_range(const SparseTensor<double>& x) {
  for (Index z = 0; z < x.num_nonzeros(); ++z) {
    const auto at = coordinates(x, z);
    for (int m = 0; m < x.order(); ++m) ASSERT_TRUE(at[m] >= 0 && at[m] < x.extent(m));
    if (z > 0) {
      ASSERT_LT(coordinates(x, z - 1), at);
    }
  }
}

template <class Make>
std::string refusal_by(Make make) {
  try {
    make();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Errc::bad_option);
    return e.what();
  }
  return "no error";
}

}  // namespace polyad::test
