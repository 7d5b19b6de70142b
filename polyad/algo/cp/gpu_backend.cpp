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
    const gpu::ExchangeRoom room{num_words(), num_listed_rows(x())};
    passes_ = data.timings.measure(
        "upload", [&] { return gpu::make_passes<Real>(device, modes, data.num_wanted, room); });
  }

  // In the memory of the GPU where MPI takes that; else in that of the machine, where messages are copied to.
  SharedArray<Real> make_message_buffer() override {
    const bool on_device = x().comm().takes_device_memory();
    const auto memory = on_device ? gpu::MessageMemory::device : gpu::MessageMemory::machine;
    for (int m = 0; m < x().order(); ++m) rows_.push_back(passes_->rows_of(m, data_.num_wanted, memory));
    if (on_device) return SharedArray<Real>(passes_->messages());
    SharedArray<Real> buffer(x().comm(), num_words());
    passes_->copy_fast(std::as_bytes(buffer.mine()), gpu::FastCopies::Access::read_and_write);
    for (const auto memory_of_other : buffer.of_others())
      passes_->copy_fast(memory_of_other, gpu::FastCopies::Access::read_only);
    return buffer;
  }
  Index device_bytes() const override { return passes_->bytes_per_iteration(); }
  RowPlace<Real>* rows(int mode) override { return rows_[mode].get(); }

  void begin(const AlsStep& step, int mode) override {
    if (summed_ != &step) passes_->start_sums(mode);
    summed_ = nullptr;
  }

  // The exchange waits for them.
  void sum_shared(const AlsStep& /*step*/, int /*mode*/) override {}

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
  Index num_words() const { return num_message_words(x(), data_.num_wanted, SentRows::copied); }
  const AlsStep& next(const AlsStep& step) const {
    const auto index = std::size_t(&step - data_.plan.steps.data());
    return data_.plan.steps[(index + 1) % data_.plan.steps.size()];
  }

  AlsData<Real> data_;
  std::unique_ptr<gpu::AlsPasses<Real>> passes_;
  std::vector<std::unique_ptr<RowPlace<Real>>> rows_;  // [mode]
  const AlsStep* summed_ = nullptr;                    // whose sums were begun
};

}  // namespace

template <class Real>
void check_gpu(const DistTensor<Real>& x, const AlsPlan& plan, Index num_components, int device) {
  std::vector<gpu::ModeCounts> modes(std::size_t(x.order()));
  for (const auto& step : plan.steps)
    modes[step.mode] = {tree_of(x, step).num_nonzeros(), x.num_rows(step.mode)};
  gpu::check_passes(device, modes, num_components, sizeof(Real),
                    {num_message_words(x, num_components, SentRows::copied), num_listed_rows(x)});
}

template <class Real>
std::unique_ptr<AlsBackend<Real>> make_gpu_backend(const AlsData<Real>& data, int device) {
  return std::make_unique<GpuBackend<Real>>(data, device);
}

template void check_gpu(const DistTensor<float>&, const AlsPlan&, Index, int);
template void check_gpu(const DistTensor<double>&, const AlsPlan&, Index, int);
template std::unique_ptr<AlsBackend<float>> make_gpu_backend(const AlsData<float>&, int);
template std::unique_ptr<AlsBackend<double>> make_gpu_backend(const AlsData<double>&, int);

}  // namespace polyad
