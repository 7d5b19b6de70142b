#include "polyad/hypergraph/models.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "polyad/base/error.hpp"
#include "polyad/base/parallel.hpp"
#include "polyad/tensor/compact.hpp"
#include "polyad/tensor/sort.hpp"

namespace polyad::hypergraph {

namespace {

// The nonzeros of each slice of a mode, ascending, added to the lists.
void append_slices(const SparseTensor<double, LocalIndex>& x, int mode, NumberLists& lists) {
  const auto indices = x.indices(mode);
  const Index first = lists.num_lists(), base = std::ssize(lists.items);
  lists.begin.resize(lists.begin.size() + std::size_t(x.extent(mode)), 0);
  Index* begin = lists.begin.data() + first;
  for (const auto i : indices) ++begin[i + 1];
  for (Index i = 0; i < x.extent(mode); ++i) begin[i + 1] += begin[i];
  lists.items.resize(std::size_t(base) + indices.size());
  std::vector<Index> next(begin, begin + x.extent(mode));
  for (std::size_t z = 0; z < indices.size(); ++z) lists.items[next[indices[z]]++] = LocalIndex(z);
}

NumberLists all_slices(const SparseTensor<double, LocalIndex>& x) {
  NumberLists lists;
  for (int mode = 0; mode < x.order(); ++mode) append_slices(x, mode, lists);
  return lists;
}

// Without empty slices; the values are the nonzeros' places.
SparseTensor<double, LocalIndex> numbered(const SparseTensor<double>& x, std::span<const RowNumbers> rows) {
  std::vector<Index> extents;
  std::vector<Array<LocalIndex>> indices;
  for (int m = 0; m < x.order(); ++m) {
    extents.push_back(rows[m].num_rows);
    indices.push_back(number_nonzeros(x.indices(m), x.extent(m), rows[m]));
  }
  Array<double> places(std::size_t(x.num_nonzeros()));
  parallel_for(x.num_nonzeros(), [&](Index z) { places[z] = double(z); });
  return {std::move(extents), std::move(indices), std::move(places)};
}

bool is_same_cell(const SparseTensor<double, LocalIndex>& x, Index a, Index b) {
  for (int m = 0; m < x.order(); ++m)
    if (x.indices(m)[a] != x.indices(m)[b]) return false;
  return true;
}

struct DistinctCells {
  SparseTensor<double, LocalIndex> cells;  // sorted
  Array<LocalIndex> cell_of;               // [nonzero]
};

DistinctCells distinct_cells(const SparseTensor<double>& x, std::span<const RowNumbers> rows) {
  auto cells = numbered(x, rows);
  sort_nonzeros(cells, natural_mode_order(x.order()));
  Array<LocalIndex> cell_of(std::size_t(x.num_nonzeros()));
  Index count = 0;
  for (Index z = 0; z < cells.num_nonzeros(); ++z) {
    if (z == 0 || !is_same_cell(cells, z, count - 1)) {
      for (int m = 0; m < cells.order(); ++m) cells.indices(m)[count] = cells.indices(m)[z];
      ++count;
    }
    cell_of[Index(cells.values()[z])] = LocalIndex(count - 1);
  }
  cells.resize(count);
  return {std::move(cells), std::move(cell_of)};
}

// Collects, without repeating any, the vertices that the nonzeros of a slice touch in one mode.
class SliceNeighbours {
 public:
  explicit SliceNeighbours(Index num_vertices) : last_(std::size_t(num_vertices), -1) {}

  void append(std::span<const LocalIndex> nonzeros, std::span<const LocalIndex> indices, Index first_vertex,
              Index net, Array<LocalIndex>& pins) {
    for (const auto z : nonzeros) {
      const Index vertex = first_vertex + indices[z];
      if (std::exchange(last_[vertex], net) != net) pins.push_back(LocalIndex(vertex));
    }
  }

 private:
  std::vector<Index> last_;  // [vertex]: the net that has it
};

std::vector<Array<Index>> slice_weights(const NumberLists& slices, std::span<const Index> first,
                                        SliceWeights weights) {
  const auto order = first.size() - 1;
  std::vector<Array<Index>> result(weights == SliceWeights::together ? 1 : order,
                                   Array<Index>(std::size_t(slices.num_lists()), 0));
  for (std::size_t m = 0; m < order; ++m)
    for (Index v = first[m]; v < first[m + 1]; ++v)
      result[weights == SliceWeights::together ? 0 : m][v] = slices.length(v);
  return result;
}

std::vector<Array<Index>> slices_of(std::vector<RowNumbers> rows) {
  std::vector<Array<Index>> slices;
  for (auto& mode : rows) slices.push_back(std::move(mode.slices));
  return slices;
}

}  // namespace

FineModel fine_model(const SparseTensor<double>& x) {
  check_countable(x.num_nonzeros(), "vertices");
  auto [cells, cell_of] = distinct_cells(x, number_rows(x));
  FineModel model;
  model.h = Hypergraph(cells.num_nonzeros(), all_slices(cells));
  model.cells = std::move(cells);
  model.vertex_of = std::move(cell_of);
  return model;
}

Hypergraph with_row_vertices(const FineModel& model) {
  const Index num_cells = model.h.num_vertices(), num_rows = model.h.num_nets();
  NumberLists pins;
  for (Index net = 0; net < num_rows; ++net) {
    const auto cells = model.h.pins(net);
    pins.items.insert(pins.items.end(), cells.begin(), cells.end());
    pins.items.push_back(LocalIndex(num_cells + net));
    pins.begin.push_back(std::ssize(pins.items));
  }
  std::vector<Array<Index>> weights(std::size_t(model.cells.order()) + 1,
                                    Array<Index>(std::size_t(num_cells + num_rows), 0));
  std::fill_n(weights[0].begin(), num_cells, 1);
  Index vertex = num_cells;
  for (int m = 0; m < model.cells.order(); ++m)
    for (Index i = 0; i < model.cells.extent(m); ++i) weights[std::size_t(m) + 1][vertex++] = 1;
  return {num_cells + num_rows, std::move(pins), {}, std::move(weights)};
}

SliceModel coarse_model(const SparseTensor<double>& x, SliceWeights weights) {
  check_countable(x.num_nonzeros(), "vertices");
  auto rows = number_rows(x);
  const auto cells = distinct_cells(x, rows).cells;
  const auto slices = all_slices(cells);
  std::vector<Index> first{0};  // [mode]: its first vertex
  for (int m = 0; m < cells.order(); ++m) first.push_back(first.back() + cells.extent(m));

  NumberLists pins;
  SliceNeighbours neighbours(slices.num_lists());
  for (int mode = 0; mode < cells.order(); ++mode)
    for (Index net = first[mode]; net < first[mode + 1]; ++net) {
      for (int m = 0; m < cells.order(); ++m)
        if (m != mode) neighbours.append(slices[net], cells.indices(m), first[m], net, pins.items);
      pins.items.push_back(LocalIndex(net));
      std::sort(pins.items.begin() + pins.begin.back(), pins.items.end());
      pins.begin.push_back(std::ssize(pins.items));
    }
  auto weight_of = slice_weights(slices, first, weights);
  return {Hypergraph(slices.num_lists(), std::move(pins), {}, std::move(weight_of)),
          slices_of(std::move(rows))};
}

SliceModel row_model(const SparseTensor<double>& x, int mode) {
  if (x.order() != 2)
    throw Error(Errc::bad_input, "the row-wise model is one of matrices, the tensor has " +
                                     std::to_string(x.order()) + " modes");
  check_countable(x.num_nonzeros(), "vertices");
  auto rows = number_rows(x);
  const auto cells = numbered(x, rows);
  NumberLists columns, pins;
  append_slices(cells, 1 - mode, columns);
  Array<Index> weights(std::size_t(cells.extent(mode)), 0);
  for (const auto i : cells.indices(mode)) ++weights[i];
  SliceNeighbours neighbours(cells.extent(mode));
  for (Index net = 0; net < columns.num_lists(); ++net) {
    neighbours.append(columns[net], cells.indices(mode), 0, net, pins.items);
    std::sort(pins.items.begin() + pins.begin.back(), pins.items.end());
    pins.begin.push_back(std::ssize(pins.items));
  }
  auto slices = slices_of(std::move(rows));
  if (mode == 1) std::swap(slices[0], slices[1]);
  return {Hypergraph(cells.extent(mode), std::move(pins), {}, {std::move(weights)}), std::move(slices)};
}

}  // namespace polyad::hypergraph
