#include "polyad/base/error.hpp"
#include "polyad/gpu/als_passes.hpp"
#include "polyad/gpu/cell_passes.hpp"
#include "polyad/gpu/device.hpp"
#include "polyad/gpu/measure_gpu.hpp"

// For builds without CUDA.
namespace polyad::gpu {
namespace {

constexpr const char* no_cuda = "this program was built without CUDA, by which it would use a GPU";

}  // namespace

GpuList list_devices() {
  return {{}, no_cuda};
}

Index free_bytes(int /*index*/) {
  throw Error(Errc::bad_option, no_cuda);
}

Index block_memory_bytes(int /*index*/) {
  throw Error(Errc::bad_option, no_cuda);
}

bool has_kernels_for(int /*index*/) {
  return false;
}

GpuModel measure_gpu(int /*device*/, Index /*divisor*/) {
  throw Error(Errc::bad_option, no_cuda);
}

void check_passes(int /*device*/, std::span<const ModeCounts> /*modes*/, Index /*num_components*/,
                  Index /*value_bytes*/, const ExchangeRoom& /*room*/) {
  throw Error(Errc::bad_option, no_cuda);
}

void check_cell_passes(int /*device*/, std::span<const Index> /*num_rows*/, Index /*num_cells*/,
                       Index /*num_factors*/, Index /*num_biases*/, Index /*value_bytes*/) {
  throw Error(Errc::bad_option, no_cuda);
}

template <class Real>
std::unique_ptr<AlsPasses<Real>> make_passes(int /*device*/, std::span<const ModeNonzeros<Real>> /*modes*/,
                                             Index /*num_components*/, const ExchangeRoom& /*room*/) {
  throw Error(Errc::bad_option, no_cuda);
}

template <class Real>
std::unique_ptr<CellPasses<Real>> make_cell_passes(int /*device*/,
                                                   std::span<const kernels::RowSystems<Real>> /*modes*/,
                                                   std::span<const Matrix<Real>> /*factors*/) {
  throw Error(Errc::bad_option, no_cuda);
}

template std::unique_ptr<AlsPasses<float>> make_passes(int, std::span<const ModeNonzeros<float>>, Index,
                                                       const ExchangeRoom&);
template std::unique_ptr<AlsPasses<double>> make_passes(int, std::span<const ModeNonzeros<double>>, Index,
                                                        const ExchangeRoom&);
template std::unique_ptr<CellPasses<float>> make_cell_passes(int, std::span<const kernels::RowSystems<float>>,
                                                             std::span<const Matrix<float>>);
template std::unique_ptr<CellPasses<double>> make_cell_passes(int,
                                                              std::span<const kernels::RowSystems<double>>,
                                                              std::span<const Matrix<double>>);

}  // namespace polyad::gpu
