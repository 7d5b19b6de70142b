#include "polyad/kernels/cp/csf_root.hpp"

namespace polyad::kernels {

template void root_mttkrp(const CutTree<double>&, std::span<const Matrix<double>>, Matrix<double>&, Index,
                          Array<double>*);
template RowSums update_root(const CutTree<double>&, std::span<Matrix<double>>, const RowSystem&,
                             PartialRows<double>*);

}  // namespace polyad::kernels
