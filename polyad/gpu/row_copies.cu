#include "polyad/gpu/row_copies.hpp"

#include "polyad/gpu/cuda_check.hpp"

namespace polyad::gpu {
namespace {

constexpr unsigned copying_threads = 256;  // of a block

template <class Real>
__global__ void __launch_bounds__(copying_threads) copy_rows(const RowCopies<Real> x, RowAction action) {
  const Index entry = Index(blockIdx.x) * copying_threads + threadIdx.x;
  if (entry < x.num_entries()) copy_entry(x, action, entry);
}

}  // namespace

template <class Real>
void start_row_copies(const RowCopies<Real>& x, RowAction action) {
  const Index entries = x.num_entries();
  if (entries == 0) return;
  copy_rows<Real>
      <<<unsigned((entries + copying_threads - 1) / copying_threads), copying_threads>>>(x, action);
  check_start("copying rows");
}

template void start_row_copies(const RowCopies<float>&, RowAction);
template void start_row_copies(const RowCopies<double>&, RowAction);

}  // namespace polyad::gpu
