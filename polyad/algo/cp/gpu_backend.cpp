#include <algorithm>
#include <cassert>

#include "polyad/algo/cp/als_backend.hpp"
#include "polyad/gpu/als_passes.hpp"

namespace polyad {
namespace {

template <class Real>
class GpuBackend final : public AlsBackend<Real> {
 public:
  GpuBackend(const AlsData<Real>& data, int device) : data_(data) {
    std::vector<gpu::ModeNonzeros<Real>> modes(std::size_t(x().order()));
    for (const auto& step : data.plan.steps) {
      assert(step.kind == AlsStep::Kind::root);
      modes[step.mode] = {&data.tree(step), x().num_rows(step.mode)};
    }
    passes_ = data.timings.measure(
        "upload", [&] { return gpu::make_passes<Real>(device, modes, data.num_components()); });
  }

  void begin(const AlsStep& step, int mode) override {
    if (summed_ != &step) passes_->start_sums(mode);
    summed_ = nullptr;
  }

  void sum_shared(const AlsStep& /*step*/, int mode) override {
    data_.timings.measure("mttkrp", [&] { passes_->get_sums(data_.partial, data_.first_partial[mode]); });
  }

  // On one process nothing changes the new rows: while their sums are waited for, the next pass reads them.
  kernels::RowSums update_complete(const AlsStep& step, int mode, const kernels::RowSystem& system) override {
    return data_.timings.measure("mttkrp", [&] {
      passes_->start_update(mode, system, 0, x().num_complete(mode));
      if (x().comm().size() == 1) {
        summed_ = &next(step);
        passes_->start_sums(summed_->mode);
      }
      return passes_->finish_update();
    });
  }

  kernels::RowSums update_shared(int mode, const kernels::RowSystem& system) override {
    return data_.timings.measure("solve", [&] {
      passes_->put_sums(data_.partial, data_.first_partial[mode]);
      passes_->start_update(mode, system, x().num_complete(mode), x().num_solved(mode));
      return passes_->finish_update();
    });
  }

  void fetch_rows(int mode) override {
    data_.timings.measure("download",
                          [&] { passes_->get_rows(mode, data_.factors[mode], x().num_solved(mode)); });
  }
  void put_rows(int mode) override {
    data_.timings.measure("upload", [&] { passes_->put_rows(mode, data_.factors[mode]); });
    summed_ = nullptr;
  }

 private:
  const DistTensor<Real>& x() const { return data_.x; }
  const AlsStep& next(const AlsStep& step) const {
    const auto index = std::size_t(&step - data_.plan.steps.data());
    return data_.plan.steps[(index + 1) % data_.plan.steps.size()];
  }

  AlsData<Real> data_;
  std::unique_ptr<gpu::AlsPasses<Real>> passes_;
  const AlsStep* summed_ = nullptr;  // whose sums were begun
};

}  // namespace

template <class Real>
std::unique_ptr<AlsBackend<Real>> make_gpu_backend(const AlsData<Real>& data, int device) {
  return std::make_unique<GpuBackend<Real>>(data, device);
}

template std::unique_ptr<AlsBackend<float>> make_gpu_backend(const AlsData<float>&, int);
template std::unique_ptr<AlsBackend<double>> make_gpu_backend(const AlsData<double>&, int);

}  // namespace polyad
