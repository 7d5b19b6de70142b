#include "polyad/kernels/cp/csf_root.hpp"

namespace polyad::kernels {

template void root_mttkrp(const CutTree<float>&, std::span<const Matrix<float>>, Matrix<float>&, Index,
                          Array<float>*);
template RowSums update_root(const CutTree<float>&, std::span<Matrix<float>>, const RowSystem&,
                             PartialRows<float>*);

}  // namespace polyad::kernels
