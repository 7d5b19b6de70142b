#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "polyad/tasks/contract.hpp"
#include "python/src/arrays.hpp"
#include "python/src/host.hpp"

namespace polyad::python {
namespace {

// An array in the order of the library's tensors, in which the first index varies fastest.
template <class Real>
using FortranArray = nb::ndarray<const Real, nb::f_contig, nb::device::cpu>;

template <class Real>
DenseTensor<Real> dense_of(const Context& context, const FortranArray<Real>& array) {
  std::vector<Index> dims;
  for (std::size_t mode = 0; mode < array.ndim(); ++mode) dims.push_back(Index(array.shape(mode)));
  auto x = make_dense<Real>(context, std::move(dims));
  std::copy(array.data(), array.data() + array.size(), x.local().begin());
  return x;
}

// The elements belong to the array.
template <class Real>
nb::ndarray<nb::numpy, Real> as_fortran_array(Array<Real> elements, const std::vector<Index>& dims) {
  auto* const kept = new Array<Real>(std::move(elements));
  const auto owner = owner_of(kept);
  std::vector<std::size_t> shape;
  std::vector<std::int64_t> strides;
  std::int64_t stride = 1;
  for (const Index extent : dims) {
    shape.push_back(std::size_t(extent));
    strides.push_back(stride);
    stride *= extent;
  }
  return nb::ndarray<nb::numpy, Real>(kept->data(), shape.size(), shape.data(), owner, strides.data());
}

// The result, and how it was derived.
template <class Real>
std::pair<nb::ndarray<nb::numpy, Real>, std::string> contract_arrays(const Host& host,
                                                                     const std::string& expression,
                                                                     const FortranArray<Real>& a,
                                                                     const FortranArray<Real>& b,
                                                                     Index max_memory_bytes) {
  struct Result {
    Array<Real> elements;
    std::vector<Index> dims;
    ContractionReport report;
  };
  auto result = run(host, [&](const Context& context) {
    ContractOptions options;
    options.max_memory_bytes = max_memory_bytes;
    const auto first = dense_of(context, a), second = dense_of(context, b);
    auto found = contract(context, expression, first, second, options);
    auto dims = found.tensor.extents();
    return Result{found.tensor.take_local(), std::move(dims), found.report};
  });
  return {as_fortran_array(std::move(result.elements), result.dims), result.report.derivation()};
}

}  // namespace

void bind_contract(nb::module_& module) {
  module.def("contract_double", contract_arrays<double>, nb::arg("host"), nb::arg("expression"),
             nb::arg("a").noconvert(), nb::arg("b").noconvert(), nb::arg("max_memory_bytes"));
  module.def("contract_single", contract_arrays<float>, nb::arg("host"), nb::arg("expression"),
             nb::arg("a").noconvert(), nb::arg("b").noconvert(), nb::arg("max_memory_bytes"));
}

}  // namespace polyad::python
