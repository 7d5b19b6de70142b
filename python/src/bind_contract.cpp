#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "polyad/tasks/contract.hpp"
#include "polyad/tasks/option_values.hpp"
#include "python/src/arrays.hpp"
#include "python/src/host.hpp"

namespace polyad::python {
namespace {

// An array in the order of the library's tensors, in which the first index varies fastest.
template <class Real>
using FortranArray = nb::ndarray<const Real, nb::f_contig, nb::device::cpu>;

// Of an array that every process has, its own elements.
template <class Real>
DenseTensor<Real> dense_of(const Context& context, const FortranArray<Real>& array) {
  std::vector<Index> dims;
  for (std::size_t mode = 0; mode < array.ndim(); ++mode) dims.push_back(Index(array.shape(mode)));
  auto x = make_dense<Real>(context, dims);
  if (context.comm().size() == 1) {
    std::copy(array.data(), array.data() + array.size(), x.local().begin());
    return x;
  }
  fill(x, [&](std::span<const Index> index) {
    Index place = 0;
    for (std::size_t mode = dims.size(); mode-- > 0;) place = place * dims[mode] + index[mode];
    return array.data()[place];
  });
  return x;
}

// Which index of the elements varies fastest: the first on one process, the last in what was gathered.
enum class ElementOrder { fortran, c };

template <class Real>
struct Elements {
  Array<Real> values;
  ElementOrder order;
};

// All elements of a result, on every process.
template <class Real>
Elements<Real> elements_of(const Context& context, DenseTensor<Real> x) {
  if (context.comm().size() == 1) return {x.take_local(), ElementOrder::fortran};
  return {gather(context, x), ElementOrder::c};
}

// The elements belong to the array.
template <class Real>
nb::ndarray<nb::numpy, Real> array_of(Elements<Real> elements, const std::vector<Index>& dims) {
  auto* const kept = new Array<Real>(std::move(elements.values));
  const auto owner = owner_of(kept);
  const std::vector<std::size_t> shape(dims.begin(), dims.end());
  std::vector<std::int64_t> strides(dims.size());
  std::int64_t stride = 1;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const auto mode = elements.order == ElementOrder::fortran ? i : dims.size() - 1 - i;
    strides[mode] = stride;
    stride *= dims[mode];
  }
  return nb::ndarray<nb::numpy, Real>(kept->data(), shape.size(), shape.data(), owner, strides.data());
}

// The result, and how it was derived.
template <class Real>
std::pair<nb::ndarray<nb::numpy, Real>, std::string> contract_arrays(
    const Host& host, const std::string& expression, const FortranArray<Real>& a, const FortranArray<Real>& b,
    const std::vector<int>& grid, Index max_memory_bytes) {
  struct Result {
    Elements<Real> elements;
    std::vector<Index> dims;
    ContractionReport report;
  };
  auto result = run(host, [&](const Context& context) {
    ContractOptions options;
    options.grid = grid;
    options.max_memory_bytes = max_memory_bytes;
    const auto first = dense_of(context, a), second = dense_of(context, b);
    auto found = contract(context, expression, first, second, options);
    auto dims = found.tensor.extents();
    auto elements = elements_of(context, std::move(found.tensor));
    return Result{std::move(elements), std::move(dims), found.report};
  });
  return {array_of(std::move(result.elements), result.dims), result.report.derivation()};
}

}  // namespace

void bind_contract(nb::module_& module) {
  module.def(
      "parse_grid", [](const std::string& text) { return parse_grid_shape(text).dims(); }, nb::arg("text"));
  module.def("contract_double", contract_arrays<double>, nb::arg("host"), nb::arg("expression"),
             nb::arg("a").noconvert(), nb::arg("b").noconvert(), nb::arg("grid"),
             nb::arg("max_memory_bytes"));
  module.def("contract_single", contract_arrays<float>, nb::arg("host"), nb::arg("expression"),
             nb::arg("a").noconvert(), nb::arg("b").noconvert(), nb::arg("grid"),
             nb::arg("max_memory_bytes"));
}

}  // namespace polyad::python
