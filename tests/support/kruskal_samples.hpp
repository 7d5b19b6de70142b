#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <filesystem>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "polyad/base/error.hpp"
#include "polyad/io/models/kruskal.hpp"

namespace polyad::test {

using io::read_kruskal;

inline Matrix<double> matrix(Index rows, const std::vector<double>& values) {
  Matrix<double> result(rows, Index(values.size()) / rows);
  std::ranges::copy(values, result.flat().begin());
  return result;
}

// Values that print in few and in many digits, and the extremes of what a double holds.
inline Kruskal<double> sample(const std::vector<Index>& dims, Index num_components) {
  const std::vector<double> values{0.1,
                                   -0.0,
                                   1e-308,
                                   1e308,
                                   5e-324,
                                   -2.5e-320,
                                   1.0 / 3,
                                   1e15,
                                   -123456789,
                                   0.0,
                                   0.3333333333333,
                                   1e22,
                                   -7,
                                   2.5e-8,
                                   1.7976931348623157e308};
  std::size_t next = 0;
  const auto value = [&] { return values[next++ % values.size()]; };
  Kruskal<double> k;
  for (Index r = 0; r < num_components; ++r) k.weights.push_back(value());
  for (const Index dim : dims) {
    k.factors.emplace_back(dim, num_components);
    for (double& x : k.factors.back().flat()) x = value();
  }
  return k;
}

// Also distinguishes 0 and -0, which == does not.
inline bool same_bits(std::span<const double> a, std::span<const double> b) {
  return std::ranges::equal(a, b, {}, std::bit_cast<std::uint64_t, double>,
                            std::bit_cast<std::uint64_t, double>);
}
inline bool same_bits(const Kruskal<double>& a, const Kruskal<double>& b) {
  return same_bits(std::span(a.weights), std::span(b.weights)) && a == b &&
         std::ranges::equal(a.factors, b.factors,
                            [](const auto& x, const auto& y) { return same_bits(x.flat(), y.flat()); });
}

// The sentence with which reading fails, without the folder's name.
inline std::string fault(const std::filesystem::path& path) {
  try {
    read_kruskal(path);
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Errc::bad_input);
    const std::string folder = path.parent_path().string() + "/", what = e.what();
    return what.starts_with(folder) ? what.substr(folder.size()) : what;
  }
  return "no fault";
}

}  // namespace polyad::test
