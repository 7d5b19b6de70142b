#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "polyad/base/error.hpp"
#include "polyad/base/parallel.hpp"
#include "polyad/io/arrays/npy_file.hpp"
#include "polyad/io/arrays/npy_numbers.hpp"
#include "polyad/io/tensors/binary/array_tensor.hpp"
#include "polyad/io/tensors/binary/binary_tensor.hpp"
#include "polyad/io/tensors/slab_blocks.hpp"

namespace polyad::io {
namespace {

// The coordinates of the numbers of an array, one after the other.
class ArrayCoordinates {
 public:
  ArrayCoordinates(const NpyHead& array, Index position) : shape_(array.shape), index_(array.shape.size()) {
    const auto order = shape_.size();
    for (std::size_t k = 0; k < order; ++k) modes_.push_back(array.by_columns ? k : order - 1 - k);
    for (const auto m : modes_) {
      index_[m] = position % shape_[m];
      position /= shape_[m];
    }
  }

  const std::vector<Index>& index() const { return index_; }
  void advance() {
    for (const auto m : modes_) {
      if (++index_[m] < shape_[m]) return;
      index_[m] = 0;
    }
  }

 private:
  const std::vector<Index>& shape_;
  std::vector<std::size_t> modes_;  // the fastest first
  std::vector<Index> index_;
};

class NpyTensorReader {
 public:
  NpyTensorReader(const InputFile& file, const NpyHead& array, const ReadOptions& options)
      : file_(file), array_(array), options_(options) {}

  // Appends the nonzeros among the numbers from `begin` to `end`.
  template <class Stored>
  void read(Index begin, Index end, SlabBlock& block) const {
    constexpr Index step = Index(1 << 18) / Index(sizeof(Stored));
    std::vector<char> bytes(std::size_t(std::min(step, end - begin)) * sizeof(Stored));
    ArrayCoordinates at(array_, begin);
    for (Index from = begin; from < end; from += step) {
      const auto count = std::min(step, end - from);
      const auto part = std::span(bytes).first(std::size_t(count) * sizeof(Stored));
      file_.read(array_.begin + from * Index(sizeof(Stored)), part);
      for (std::size_t i = 0; i < std::size_t(count); ++i, at.advance())
        take(npy_real(npy_element<Stored>(bytes.data() + i * sizeof(Stored), array_.swapped)), at.index(),
             block);
      if (options_.progress != nullptr) options_.progress->advance(std::ssize(part));
    }
  }

 private:
  void take(double value, const std::vector<Index>& index, SlabBlock& block) const {
    if (std::isnan(value) || (value == 0 && !options_.keeps_dense_zeros())) return;
    if (std::isinf(value))
      throw Error(
          Errc::bad_input,
          fmt::format("has the value '{}' at [{}], which is not finite", value, fmt::join(index, ", ")),
          {file_.path().string(), 0});
    for (std::size_t m = 0; m < index.size(); ++m) block.indices[m].push_back(index[m]);
    block.values.push_back(value);
  }

  const InputFile& file_;
  const NpyHead& array_;
  const ReadOptions& options_;
};

}  // namespace

Slab read_npy_tensor(const InputFile& file, const FileHead& head, const ReadOptions& options) {
  const NpyHead array = read_npy_head(file, NpyElements::numbers);
  const auto order = int(array.shape.size());
  check_header(file, order, array.shape, 0);
  Index size = 1;
  for (const Index extent : array.shape) size *= extent;  // no overflow: the file is as long
  const Index first = part_begin(size, options.share.part, options.share.parts);
  const Index end = part_begin(size, options.share.part + 1, options.share.parts);
  std::vector<SlabBlock> parts(std::size_t(num_threads()), SlabBlock(order, 0));
  const NpyTensorReader reader(file, array, options);
  with_npy_type(array, [&]<class Stored>(Stored) {
    parallel_parts(end - first, [&](Index from, Index to, int thread) {
      reader.read<Stored>(first + from, first + to, parts[std::size_t(thread)]);
    });
  });
  Slab slab = binary_slab(with_header(head, array.shape, 0), 0);
  slab.head.nonzeros.reset();  // nobody has stated them
  SlabBlocks blocks(order);
  for (auto& part : parts) blocks.append(std::move(part));
  std::move(blocks).concatenate(slab);
  slab.facts.data_lines = slab.facts.num_nonzeros;
  for (std::size_t m = 0; m < array.shape.size(); ++m) {
    slab.facts.min_index[m] = 0;
    slab.facts.max_index[m] = array.shape[m] - 1;
  }
  return slab;
}

std::vector<StoredArray> list_arrays(const InputFile& file, TensorFormat format) {
  if (format == TensorFormat::npz) return {describe_npz(file)};
  if (format == TensorFormat::mat) return describe_mat(file);
  if (format != TensorFormat::npy) return {};
  const NpyHead head = read_npy_head(file, NpyElements::numbers);
  return {{"", head.shape, npy_type_name(head)}};
}

}  // namespace polyad::io
