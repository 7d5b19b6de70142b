#include "polyad/gpu/cell_passes.hpp"

#include <algorithm>
#include <string>

#include "polyad/base/error.hpp"
#include "polyad/gpu/cell_kernels.hpp"
#include "polyad/gpu/cell_pieces.hpp"
#include "polyad/gpu/check_device.hpp"
#include "polyad/gpu/device.hpp"

namespace polyad::gpu {
namespace {

// The cells of a mode on the GPU.
template <class Real>
struct DeviceCells {
  DeviceCells(const CsfTree<Real>& tree, std::span<const Real> of_weights)
      : DeviceCells(tree, of_weights, PiecesOfTree(tree)) {}

  std::vector<int> modes;  // [level]
  DeviceArray<Real> values, weights;
  std::vector<DeviceArray<LocalIndex>> ids;  // [level][cell]; of the root, too
  DeviceArray<LocalIndex> rows;              // [slice]
  DeviceArray<CellPiece> pieces;
  DeviceArray<CutSlice> cut_slices;
  Index num_partial;
  Array<std::uint8_t> no_singular;  // [slice]

 private:
  DeviceCells(const CsfTree<Real>& tree, std::span<const Real> of_weights, const PiecesOfTree& cut)
      : modes(tree.modes()),
        values(tree.values()),
        weights(of_weights),
        rows(tree.ids(0).first(std::size_t(tree.num_nodes(0)))),
        pieces(std::span(cut.pieces)),
        cut_slices(std::span(cut.cut_slices)),
        num_partial(cut.num_partial),
        no_singular(std::size_t(tree.num_nodes(0)), std::uint8_t(0)) {
    for (int level = 0; level < tree.order(); ++level) {
      const auto of_cells = ids_of_cells(tree, level);
      ids.emplace_back(std::span<const LocalIndex>(of_cells));
    }
  }
};

template <class Real>
class DevicePasses final : public CellPasses<Real> {
 public:
  DevicePasses(int device, std::span<const kernels::RowSystems<Real>> modes,
               std::span<const Matrix<Real>> factors)
      : device_(device), shape_{int(modes.front().num_factors)} {
    const bool has_biases = factors.front().num_cols() > modes.front().num_factors;
    shape_.num_unknowns += has_biases ? 1 : 0;
    Index max_partial = 0, max_slices = 0, max_rows = 0;
    for (const auto& mode : modes) {
      cells_.emplace_back(*mode.tree, mode.weights);
      max_partial = std::max(max_partial, cells_.back().num_partial);
      max_slices = std::max(max_slices, cells_.back().rows.size());
    }
    for (const auto& factor : factors) {
      factors_.emplace_back(factor.flat());
      max_rows = std::max(max_rows, factor.num_rows());
    }
    partial_ = DeviceArray<Real>(max_partial * shape_.size());
    background_ = DeviceArray<Real>(shape_.size());
    ridge_ = DeviceArray<Real>(max_rows);
    bias_ridge_ = DeviceArray<Real>(has_biases ? max_rows : 0);
    is_singular_ = DeviceArray<std::uint8_t>(max_slices);
    errors_ = DeviceArray<CellErrorSums>(num_error_blocks());
  }

  void put_rows(int mode, const Matrix<Real>& factor) override {
    use_device(device_);
    copy_to_device(factors_[mode].data(), factor.flat().data(), Index(factor.flat().size_bytes()));
  }

  void solve_rows(const kernels::RowSystems<Real>& systems, std::span<Matrix<Real>> factors,
                  Index num_rows) override {
    use_device(device_);
    const int mode = systems.mode();
    const auto& cells = cells_[mode];
    start(systems, factors[mode].num_cols());
    auto& factor = factors[mode];
    copy_to_host(factor.flat().data(), factors_[mode].data(),
                 num_rows * factor.num_cols() * Index(sizeof(Real)));
    if (const auto singular = singular_slices(cells, *systems.tree, num_rows); !singular.empty()) {
      kernels::solve_rows<Real>(systems, factors, singular);
      put_rows(mode, factor);
    }
  }

  kernels::CellErrors measure(const kernels::RowSystems<Real>& systems) override {
    use_device(device_);
    const int mode = systems.mode();
    const auto& cells = cells_[mode];
    start_cell_errors(ErrorsView<Real>{.cells = view(systems),
                                       .factor = factors_[mode].data(),
                                       .row_of = cells.ids[0].data(),
                                       .background = systems.loss.background,
                                       .least = systems.range.least,
                                       .largest = systems.range.largest},
                      errors_.data());
    std::vector<CellErrorSums> blocks(std::size_t(error_blocks(cells.values.size())));
    copy_to_host(blocks.data(), errors_.data(), std::ssize(blocks) * Index(sizeof(CellErrorSums)));
    CellErrorSums total{};
    for (const auto& block : blocks)
      for (int i = 0; i < CellErrorSums::count; ++i) total.x[i] += block.x[i];
    const auto& x = total.x;
    return {x[0], {x[1], x[2], Index(x[3])}, {x[4], x[5], Index(x[6])}};
  }

 private:
  static Index error_blocks(Index num_cells) { return (num_cells + cells_per_block - 1) / cells_per_block; }
  Index num_error_blocks() const {
    Index most = 0;
    for (const auto& cells : cells_) most = std::max(most, error_blocks(cells.values.size()));
    return most;
  }

  CellView<Real> view(const kernels::RowSystems<Real>& systems) const {
    const int mode = systems.mode();
    const auto& cells = cells_[mode];
    const bool has_biases = shape_.num_unknowns > systems.num_factors;
    CellView<Real> view;
    view.num_cells = cells.values.size();
    view.order = int(cells.modes.size());
    view.values = cells.values.data();
    view.weights = cells.weights.data();
    for (int level = 1; level < view.order; ++level) {
      view.ids[level] = cells.ids[level].data();
      view.rows[level] = factors_[cells.modes[level]].data();
    }
    view.num_factors = int(systems.num_factors);
    view.num_columns = view.num_factors + (has_biases ? view.order : 0);
    view.own_bias = has_biases ? view.num_factors + mode : -1;
    view.loss = kernels::LossOfCells<Real>(systems.loss);
    view.offset = Real(systems.offset);
    return view;
  }

  // Rows that this process does not solve for are replaced before they are used.
  void start(const kernels::RowSystems<Real>& systems, Index num_columns) {
    const auto& cells = cells_[systems.mode()];
    const bool has_biases = num_columns > systems.num_factors, has_background = systems.loss.has_background();
    put(ridge_, systems.ridge);
    if (has_biases) put(bias_ridge_, systems.bias_ridge);
    if (has_background) put<Real>(background_, background_system(systems));
    put<std::uint8_t>(is_singular_, cells.no_singular);
    start_row_systems(SystemsView<Real>{.cells = view(systems),
                                        .pieces = cells.pieces.data(),
                                        .num_pieces = cells.pieces.size(),
                                        .cut_slices = cells.cut_slices.data(),
                                        .num_cut_slices = cells.cut_slices.size(),
                                        .partial = partial_.data(),
                                        .background = has_background ? background_.data() : nullptr,
                                        .rows = cells.rows.data(),
                                        .ridge = ridge_.data(),
                                        .bias_ridge = bias_ridge_.data(),
                                        .factor = factors_[systems.mode()].data(),
                                        .is_singular = is_singular_.data()});
  }
  template <class T>
  static void put(const DeviceArray<T>& to, std::span<const T> from) {
    copy_to_device(to.data(), from.data(), Index(from.size_bytes()));
  }

  std::vector<Real> background_system(const kernels::RowSystems<Real>& systems) const {
    const auto words = kernels::background_words(systems);
    const Index n = systems.num_factors, columns = shape_.columns(), right = shape_.num_unknowns;
    std::vector<Real> system(std::size_t(shape_.size()), Real{});
    auto word = words.begin();
    for (Index i = 0; i < n; ++i)
      for (Index j = i; j < n; ++j) system[i * columns + j] = *word++;
    for (Index i = 0; i < n; ++i) system[i * columns + right] = *word++;
    if (word == words.end()) return system;
    for (Index i = 0; i <= n; ++i) system[i * columns + n] = *word++;
    system[n * columns + right] = *word;
    return system;
  }

  std::vector<Index> singular_slices(const DeviceCells<Real>& cells, const CsfTree<Real>& tree,
                                     Index num_rows) const {
    std::vector<std::uint8_t> flags(cells.no_singular.size());
    copy_to_host(flags.data(), is_singular_.data(), std::ssize(flags));
    std::vector<Index> slices;
    for (Index slice = 0; slice < std::ssize(flags); ++slice)
      if (flags[slice] != 0 && Index(tree.ids(0)[slice]) < num_rows) slices.push_back(slice);
    return slices;
  }

  int device_;
  SystemShape shape_;
  std::vector<DeviceCells<Real>> cells_;    // [mode]
  std::vector<DeviceArray<Real>> factors_;  // [mode]
  DeviceArray<Real> partial_, background_, ridge_, bias_ridge_;
  DeviceArray<std::uint8_t> is_singular_;
  DeviceArray<CellErrorSums> errors_;
};

}  // namespace

void check_cell_passes(int device, std::span<const Index> num_rows, Index num_cells, Index num_factors,
                       Index num_biases, Index value_bytes) {
  check_device(device, num_factors, value_bytes, [&](Index num_components, Index bytes_of_value) {
    return cell_passes_bytes(num_rows, num_cells, num_components + num_biases, bytes_of_value);
  });
  const Index num_unknowns = num_factors + (num_biases > 0 ? 1 : 0);
  if (block_bytes_of_system(num_unknowns, value_bytes) > block_memory_bytes(device))
    throw Error(Errc::bad_option, "the GPU, " + list_devices().gpus[device].name +
                                      ", has too little memory in a block of threads for systems of " +
                                      std::to_string(num_unknowns) +
                                      " unknowns; fewer components, or single precision, need less");
}

template <class Real>
std::unique_ptr<CellPasses<Real>> make_cell_passes(int device,
                                                   std::span<const kernels::RowSystems<Real>> modes,
                                                   std::span<const Matrix<Real>> factors) {
  std::vector<Index> num_rows;
  Index num_cells = 0;
  for (std::size_t m = 0; m < modes.size(); ++m) {
    num_rows.push_back(factors[m].num_rows());
    num_cells = std::max(num_cells, modes[m].tree->num_nonzeros());
  }
  const Index num_factors = modes.front().num_factors;
  check_cell_passes(device, num_rows, num_cells, num_factors, factors.front().num_cols() - num_factors,
                    sizeof(Real));
  use_device(device);
  return std::make_unique<DevicePasses<Real>>(device, modes, factors);
}

template std::unique_ptr<CellPasses<float>> make_cell_passes(int, std::span<const kernels::RowSystems<float>>,
                                                             std::span<const Matrix<float>>);
template std::unique_ptr<CellPasses<double>> make_cell_passes(int,
                                                              std::span<const kernels::RowSystems<double>>,
                                                              std::span<const Matrix<double>>);

}  // namespace polyad::gpu
