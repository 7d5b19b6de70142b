#include "polyad/tensor/local_tensor.hpp"

namespace polyad {

template <class Real>
LocalTensor<Real> build_format(SparseTensor<Real, LocalIndex> x, Format format,
                               const std::vector<std::vector<int>>& trees) {
  switch (format) {
    case Format::coo:
      return build_coo(std::move(x));
    case Format::hicoo:
      return build_hicoo(std::move(x));
    default:
      return build_csf(std::move(x), trees);
  }
}

template <class Real>
Index bytes(const LocalTensor<Real>& x) {
  return std::visit([](const auto& format) { return format.bytes(); }, x);
}

template LocalTensor<float> build_format(SparseTensor<float, LocalIndex>, Format,
                                         const std::vector<std::vector<int>>&);
template Index bytes(const LocalTensor<float>&);

template LocalTensor<double> build_format(SparseTensor<double, LocalIndex>, Format,
                                          const std::vector<std::vector<int>>&);
template Index bytes(const LocalTensor<double>&);

}  // namespace polyad
