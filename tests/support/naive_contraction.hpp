#pragma once

#include <map>
#include <span>
#include <vector>

#include "polyad/base/random.hpp"
#include "polyad/kernels/dense/local_contraction.hpp"

namespace polyad::test {

// A whole array, first mode fastest, by its definition.
struct WholeArray {
  kernels::LabelledShape shape;
  std::vector<double> elements;

  double& at(const std::map<int, Index>& index) {
    Index offset = 0, stride = 1;
    for (std::size_t m = 0; m < shape.labels.size(); ++m) {
      offset += index.at(shape.labels[m]) * stride;
      stride *= shape.extents[m];
    }
    return elements[std::size_t(offset)];
  }
};

inline WholeArray whole_array(kernels::LabelledShape shape, std::uint64_t seed, std::uint64_t stream) {
  Index size = 1;
  for (const Index extent : shape.extents) size *= extent;
  WholeArray result{std::move(shape), std::vector<double>(std::size_t(size))};
  // Small whole numbers, so that every order of summation gives the same bits.
  for (std::size_t i = 0; i < result.elements.size(); ++i)
    result.elements[i] = double(Random(seed, stream).below(7, i)) - 3;
  return result;
}

// c += a b, one multiplication for every assignment of all labels.
inline void naive_contract(WholeArray& c, WholeArray& a, WholeArray& b) {
  std::map<int, Index> extents, index;
  for (const auto* array : {&a, &b, &c})
    for (std::size_t m = 0; m < array->shape.labels.size(); ++m)
      extents[array->shape.labels[m]] = array->shape.extents[m];
  for (const auto& [label, extent] : extents) {
    if (extent == 0) return;
    index[label] = 0;
  }
  for (;;) {
    c.at(index) += a.at(index) * b.at(index);
    auto step = index.begin();
    for (; step != index.end() && ++step->second == extents[step->first]; ++step) step->second = 0;
    if (step == index.end()) return;
  }
}

struct Contraction {
  kernels::LabelledShape a, b, c;
};

// Labels that A, B and C have, in any order: free ones, contracted, batch, and in one input only.
inline Contraction random_contraction(std::uint64_t seed, std::size_t max_modes,
                                      std::uint64_t largest_extent) {
  const Random random(seed, 11);
  std::uint64_t draw = 0;
  const auto below = [&](std::uint64_t bound) { return random.below(bound, draw++); };
  enum Group { free_a, free_b, contracted, batch, only_a, only_b };
  const std::vector<Group> likely{free_a,     free_a, free_b, free_b, contracted,
                                  contracted, batch,  only_a, only_b};
  Contraction result;
  const auto put = [&](kernels::LabelledShape& shape, int label, Index extent) {
    const auto place = std::ptrdiff_t(below(shape.labels.size() + 1));
    shape.labels.insert(shape.labels.begin() + place, label);
    shape.extents.insert(shape.extents.begin() + place, extent);
  };
  const auto count = below(8);
  for (int label = 0; label < int(count); ++label) {
    const Group group = likely[below(likely.size())];
    const auto extent = Index(1 + below(largest_extent));
    const bool in_a = group != free_b && group != only_b, in_b = group != free_a && group != only_a;
    const bool in_c = group == free_a || group == free_b || group == batch;
    if ((in_a && result.a.labels.size() == max_modes) || (in_b && result.b.labels.size() == max_modes) ||
        (in_c && result.c.labels.size() == max_modes))
      continue;
    if (in_a) put(result.a, label, extent);
    if (in_b) put(result.b, label, extent);
    if (in_c) put(result.c, label, extent);
  }
  return result;
}

}  // namespace polyad::test
