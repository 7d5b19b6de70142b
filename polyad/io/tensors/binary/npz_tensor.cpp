// Sparse arrays as scipy.sparse.save_npz and sparse.save_npz of pydata write them: an archive of NumPy
// arrays. `format` names which; it is missing in old files of pydata.
//   coo          row, col, or coords (order by nonzeros); data
//   csr, csc     indptr, indices, data
//   gcxs         the same, rows and columns being several modes each; compressed_axes are those of the rows
//   bsr          as csr with blocks: data is blocks by rows by columns
//   dia          offsets, data (diagonals by columns)

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "polyad/base/error.hpp"
#include "polyad/base/parallel.hpp"
#include "polyad/io/arrays/npy_member.hpp"
#include "polyad/io/tensors/binary/array_tensor.hpp"
#include "polyad/io/tensors/binary/binary_tensor.hpp"
#include "polyad/io/tensors/recognition/recognise.hpp"
#include "polyad/io/tensors/slab_blocks.hpp"
#include "polyad/io/text/number_text.hpp"

namespace polyad::io {
namespace {

// Some modes of an array that together count the rows, or the columns, of a matrix: the last is the fastest.
struct MatrixSide {
  std::vector<int> modes;
  Index extent = 1;  // product of theirs
};

class SparseArchive {
 public:
  SparseArchive(const InputFile& file, const FileHead& head, const ReadOptions& options)
      : file_(file), head_(head), share_(options.share), members_(read_zip_directory(file)) {}

  Slab read() {
    const std::string form = form_name();
    dims_ = array("shape").indices();
    check_header(file_, std::ssize(dims_), dims_, 0);
    check_fill();
    if (form == "coo") return read_coo();
    if (form == "csr") return read_compressed({0});
    if (form == "csc") return read_compressed({1});
    if (form == "gcxs") return read_compressed(compressed_modes());
    if (form == "bsr") return read_bsr();
    if (form == "dia") return read_dia();
    fail(fmt::format("has the format {}; expected coo, csr, csc, bsr, dia or gcxs", in_quotes(form)));
  }

  StoredArray describe() const {
    const std::string form = form_name();
    return {"", array("shape").indices(), npy_type_name(array("data").head()) + ", " + form};
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    throw Error(Errc::bad_input, why, {file_.path().string(), 0});
  }

  const ZipMember* find(const std::string& name) const {
    const auto found = std::ranges::find(members_, name + ".npy", &ZipMember::name);
    return found == members_.end() ? nullptr : &*found;
  }
  NpyMember array(const std::string& name, NpyElements elements = NpyElements::numbers) const {
    const auto* const member = find(name);
    if (member == nullptr) fail(fmt::format("the array {} of a sparse matrix or array is missing", name));
    return {file_, *member, name, elements};
  }
  static void require_dimensions(const NpyMember& array, std::size_t expected) {
    if (array.shape().size() != expected)
      array.fail(fmt::format("has {} dimensions, expected {}", array.shape().size(), expected));
  }

  std::string form_name() const {
    if (find("format") != nullptr) return array("format", NpyElements::texts).text();
    return find("compressed_axes") != nullptr ? "gcxs" : "coo";
  }

  // What is not stored: zeros, or missing cells.
  void check_fill() const {
    if (find("fill_value") == nullptr) return;
    auto fill = array("fill_value");
    if (fill.size() != 1) fill.fail("is no single number");
    fill.for_each_real([&](Index, std::span<const double> value) {
      if (value[0] != 0 && !std::isnan(value[0]))
        fill.fail(fmt::format("is {}: all cells that are not stored have this value; expected 0", value[0]));
    });
  }

  // A slab for the share of so many nonzeros.
  Slab begin_slab(Index num_nonzeros) {
    begin_ = part_begin(num_nonzeros, share_.part, share_.parts);
    end_ = part_begin(num_nonzeros, share_.part + 1, share_.parts);
    return binary_slab(with_header(head_, dims_, num_nonzeros), end_ - begin_);
  }
  // The part of a chunk of numbers that belongs to the share: fn(nonzero of the slab, number).
  template <class Number, class Fn>
  void for_mine(Index first, std::span<const Number> numbers, Fn fn) const {
    const Index from = std::max(first, begin_), to = std::min(first + std::ssize(numbers), end_);
    for (Index z = from; z < to; ++z) fn(z - begin_, numbers[std::size_t(z - first)]);
  }

  Index checked(Index nonzero, int mode, Index index, Index extent) const {
    if (index < 0 || index >= extent) [[unlikely]]
      fail_at(file_, nonzero,
              fmt::format("index {} (from 0) of mode {} is outside of the dimension {}", index, mode + 1,
                          extent));
    return index;
  }

  void read_values(NpyMember& data, Slab& slab) const {
    data.for_each_real([&](Index first, std::span<const double> values) {
      for_mine(first, values, [&](Index z, double value) {
        slab.values[std::size_t(z)] = checked_value(file_, begin_ + z, value);
      });
    });
  }

  void read_column(NpyMember& column, int mode, Slab& slab) const {
    auto& indices = slab.indices[std::size_t(mode)];
    column.for_each_index([&](Index first, std::span<const Index> numbers) {
      for_mine(first, numbers, [&](Index z, Index index) {
        indices[std::size_t(z)] = checked(begin_ + z, mode, index, dims_[std::size_t(mode)]);
      });
    });
  }

  Slab read_coo() {
    auto data = array("data");
    require_dimensions(data, 1);
    const auto expect = [&](const NpyMember& indices, Index found) {
      if (found != data.size())
        indices.fail(fmt::format("has indices of {}, data has {}", counted(found, "nonzero"),
                                 counted(Index(data.size()), "value")));
    };
    Slab slab = begin_slab(data.size());
    if (find("coords") == nullptr) {
      if (dims_.size() != 2) fail("the array coords of a sparse array is missing");
      const char* const names[] = {"row", "col"};
      for (int m = 0; m < 2; ++m) {
        auto column = array(names[m]);
        require_dimensions(column, 1);
        expect(column, column.size());
        read_column(column, m, slab);
      }
    } else {
      auto coords = array("coords");
      require_dimensions(coords, 2);
      if (coords.shape()[0] != std::ssize(dims_))
        coords.fail(fmt::format("has indices of {} modes, shape has {}", coords.shape()[0], dims_.size()));
      expect(coords, coords.shape()[1]);
      read_coords(coords, slab);
    }
    read_values(data, slab);
    return slab;
  }

  void read_coords(NpyMember& coords, Slab& slab) const {
    const Index order = coords.shape()[0], count = coords.shape()[1];
    Index mode = 0, z = 0;
    coords.for_each_index([&](Index, std::span<const Index> numbers) {
      for (const Index index : numbers) {
        if (z >= begin_ && z < end_)
          slab.indices[std::size_t(mode)][std::size_t(z - begin_)] =
              checked(z, int(mode), index, dims_[std::size_t(mode)]);
        auto &fast = coords.by_columns() ? mode : z, &slow = coords.by_columns() ? z : mode;
        if (++fast < (coords.by_columns() ? order : count)) continue;
        fast = 0;
        ++slow;
      }
    });
  }

  std::vector<int> compressed_modes() const {
    auto axes = array("compressed_axes");
    require_dimensions(axes, 1);
    std::vector<int> modes;
    for (const Index mode : axes.indices()) {
      if (mode < 0 || mode >= std::ssize(dims_) || std::ranges::count(modes, int(mode)) != 0)
        axes.fail(fmt::format("names the mode {} (from 0) of an array with {}, or names it twice", mode,
                              dims_.size()));
      modes.push_back(int(mode));
    }
    if (modes.empty()) axes.fail("names no mode");
    return modes;
  }

  MatrixSide side_of(std::vector<int> modes) const {
    MatrixSide side{std::move(modes)};
    for (const int m : side.modes)
      if (__builtin_mul_overflow(side.extent, dims_[std::size_t(m)], &side.extent))
        fail("the array has 2^63 or more rows or columns as a matrix");
    return side;
  }
  void set_index(Slab& slab, Index z, const MatrixSide& side, Index position) const {
    for (auto m = side.modes.rbegin(); m != side.modes.rend(); ++m) {
      const Index dim = dims_[std::size_t(*m)];
      slab.indices[std::size_t(*m)][std::size_t(z)] = position % dim;
      position /= dim;
    }
  }

  // Of the rows of a compressed matrix: where the entries of each begin. Returns where the last ones end.
  Index check_pointers(Index num_rows, Index num_entries) const {
    auto pointers = array("indptr");
    require_dimensions(pointers, 1);
    if (pointers.size() != num_rows + 1)
      pointers.fail(fmt::format("has {} numbers, expected {}, one more than the shape has rows or columns",
                                pointers.size(), num_rows + 1));
    Index last = 0;
    pointers.for_each_index([&](Index first, std::span<const Index> begins) {
      for (std::size_t i = 0; i < begins.size(); ++i) {
        if (begins[i] < last || begins[i] > num_entries || (first == 0 && i == 0 && begins[i] != 0))
          pointers.fail(fmt::format("has {} at [{}], expected a number from {} to {}", begins[i],
                                    first + Index(i), last, first == 0 && i == 0 ? 0 : num_entries));
        last = begins[i];
      }
    });
    return last;
  }
  // fn(row, z) for the entries of the share.
  template <class Fn>
  void for_each_row(Fn fn) const {
    auto pointers = array("indptr");
    Index z = 0;
    pointers.for_each_index([&](Index first, std::span<const Index> ends) {
      for (std::size_t i = 0; i < ends.size(); ++i)
        for (; z < std::min(ends[i], end_); ++z)
          if (z >= begin_) fn(first + Index(i) - 1, z - begin_);
    });
  }

  Slab read_compressed(const std::vector<int>& row_modes) {
    if (std::ranges::max(row_modes) >= std::ssize(dims_)) fail("a matrix has the order 2");
    std::vector<int> others;
    for (int m = 0; m < int(dims_.size()); ++m)
      if (std::ranges::count(row_modes, m) == 0) others.push_back(m);
    const auto rows = side_of(row_modes), columns = side_of(others);
    auto data = array("data"), indices = array("indices");
    require_dimensions(data, 1);
    require_dimensions(indices, 1);
    Slab slab = begin_slab(check_pointers(rows.extent, std::min(data.size(), indices.size())));
    for_each_row([&](Index row, Index z) { set_index(slab, z, rows, row); });
    indices.for_each_index([&](Index first, std::span<const Index> numbers) {
      for_mine(first, numbers, [&](Index z, Index index) {
        const int mode = others.empty() ? 0 : others.front();
        set_index(slab, z, columns, checked(begin_ + z, mode, index, columns.extent));
      });
    });
    read_values(data, slab);
    return slab;
  }

  // A slab of what stands in `block`, whose facts are known only now.
  Slab slab_of(SlabBlock&& block) const {
    Slab slab = binary_slab(with_header(head_, dims_, 0), 0);
    slab.head.nonzeros.reset();
    SlabBlocks blocks(2);
    blocks.append(std::move(block));
    std::move(blocks).concatenate(slab);
    slab.facts.data_lines = slab.facts.num_nonzeros;
    return slab;
  }
  void require_matrix() const {
    if (dims_.size() != 2) fail(fmt::format("a matrix of order {}: expected the order 2", dims_.size()));
  }
  void append(SlabBlock& block, Index nonzero, Index row, Index column, double value) const {
    if (value == 0) return;
    block.indices[0].push_back(checked(nonzero, 0, row, dims_[0]));
    block.indices[1].push_back(checked(nonzero, 1, column, dims_[1]));
    block.values.push_back(checked_value(file_, nonzero, value));
  }

  Slab read_bsr() {
    require_matrix();
    auto data = array("data"), indices = array("indices");
    require_dimensions(data, 3);
    require_dimensions(indices, 1);
    const Index height = data.shape()[1], width = data.shape()[2];
    if (data.by_columns()) data.fail("is in Fortran order, expected C order for blocks");
    if (height < 1 || width < 1 || dims_[0] % height != 0 || dims_[1] % width != 0)
      data.fail(fmt::format("has blocks of {} by {}, which do not divide the shape {}", height, width,
                            fmt::join(dims_, " by ")));
    const Index num_blocks = check_pointers(dims_[0] / height, std::min(data.shape()[0], indices.size()));
    begin_ = part_begin(num_blocks, share_.part, share_.parts);
    end_ = part_begin(num_blocks, share_.part + 1, share_.parts);
    std::vector<Index> rows(std::size_t(end_ - begin_)), columns(rows.size());
    for_each_row([&](Index row, Index z) { rows[std::size_t(z)] = row; });
    indices.for_each_index([&](Index first, std::span<const Index> numbers) {
      for_mine(first, numbers, [&](Index z, Index index) { columns[std::size_t(z)] = index; });
    });
    SlabBlock block(2, 0);
    const Index cells = height * width;
    data.for_each_real([&](Index first, std::span<const double> values) {
      for (Index p = std::max(first, begin_ * cells); p < std::min(first + std::ssize(values), end_ * cells);
           ++p) {
        const auto z = std::size_t(p / cells - begin_);
        const Index column = checked(p / cells, 1, columns[z], dims_[1] / width);
        append(block, p, rows[z] * height + p % cells / width, column * width + p % width,
               values[std::size_t(p - first)]);
      }
    });
    return slab_of(std::move(block));
  }

  Slab read_dia() {
    require_matrix();
    auto data = array("data");
    require_dimensions(data, 2);
    const auto offsets = array("offsets").indices();
    const Index num_diagonals = data.shape()[0], length = data.shape()[1];
    if (std::ssize(offsets) != num_diagonals)
      data.fail(fmt::format("has {} diagonals, offsets has {}", num_diagonals, offsets.size()));
    begin_ = part_begin(data.size(), share_.part, share_.parts);
    end_ = part_begin(data.size(), share_.part + 1, share_.parts);
    SlabBlock block(2, 0);
    data.for_each_real([&](Index first, std::span<const double> values) {
      for_mine(first, values, [&](Index z, double value) {
        const Index p = begin_ + z;
        const Index diagonal = data.by_columns() ? p % num_diagonals : p / length;
        const Index column = data.by_columns() ? p / num_diagonals : p % length;
        Index row = 0;
        if (__builtin_sub_overflow(column, offsets[std::size_t(diagonal)], &row)) return;
        // Beyond the matrix a diagonal has no meaning.
        if (row >= 0 && row < dims_[0] && column < dims_[1]) append(block, p, row, column, value);
      });
    });
    return slab_of(std::move(block));
  }

  const InputFile& file_;
  const FileHead& head_;
  Share share_;
  std::vector<ZipMember> members_;
  std::vector<Index> dims_;
  Index begin_ = 0, end_ = 0;  // the nonzeros of the share
};

}  // namespace

Slab read_npz_tensor(const InputFile& file, const FileHead& head, const ReadOptions& options) {
  return SparseArchive(file, head, options).read();
}

bool holds_sparse_array(const std::vector<ZipMember>& members) {
  const auto has = [&](const char* name) {
    return std::ranges::find(members, name, &ZipMember::name) != members.end();
  };
  return has("data.npy") && has("shape.npy");
}

bool holds_sparse_array(const InputFile& file) {
  try {
    return holds_sparse_array(read_zip_directory(file));
  } catch (const Error&) {
    return false;
  }
}

StoredArray describe_npz(const InputFile& file) {
  return SparseArchive(file, {}, {}).describe();
}

}  // namespace polyad::io
