#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "polyad/base/array.hpp"
#include "polyad/base/matrix.hpp"
#include "polyad/base/types.hpp"
#include "polyad/tensor/labels.hpp"

namespace polyad::python {

namespace nb = nanobind;

template <class Value>
using Vector = nb::ndarray<nb::numpy, Value, nb::ndim<1>>;
template <class Value>
using Table = nb::ndarray<nb::numpy, Value, nb::ndim<2>>;

// An object that frees what it was given when the last array that shows it is gone.
template <class Contents>
nb::capsule owner_of(Contents* contents) {
  return nb::capsule(contents, [](void* kept) noexcept { delete static_cast<Contents*>(kept); });
}

// Arrays of NumPy that own what the library returned, without a copy.
template <class Values>
Vector<typename Values::value_type> as_array(Values values) {
  auto* const kept = new Values(std::move(values));
  const auto owner = owner_of(kept);
  return Vector<typename Values::value_type>(kept->data(), {kept->size()}, owner);
}
template <class Real>
Table<Real> as_array(Matrix<Real> matrix) {
  auto* const kept = new Matrix<Real>(std::move(matrix));
  const auto owner = owner_of(kept);
  return Table<Real>(kept->flat().data(), {std::size_t(kept->num_rows()), std::size_t(kept->num_cols())},
                     owner);
}

// An array that shows values of an object and keeps it alive; nobody may write to it.
template <class Value>
Vector<const Value> as_view(std::span<const Value> values, const nb::object& of) {
  return Vector<const Value>(values.data(), {values.size()}, of);
}

// The names of a mode's indices; nothing where they have none.
inline std::optional<std::vector<std::string>> labels_of(const std::vector<ModeLabels>& labels,
                                                         std::size_t mode) {
  if (mode >= labels.size() || labels[mode].empty()) return std::nullopt;
  return labels[mode].labels;
}

// What is passed in: contiguous, on the processor.
template <class Value>
using Input = nb::ndarray<const Value, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class Value>
Array<Value> copied(const Input<Value>& values) {
  return Array<Value>(values.data(), values.data() + values.size());
}

}  // namespace polyad::python
