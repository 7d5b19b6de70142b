#include "polyad/io/tensors/dense_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "polyad/base/error.hpp"
#include "polyad/base/parallel.hpp"
#include "polyad/io/bytes/byte_stream.hpp"
#include "polyad/io/tensors/recognition/recognise.hpp"
#include "polyad/io/tensors/slab_blocks.hpp"
#include "polyad/io/text/number_text.hpp"

namespace polyad::io {
namespace {

Index num_entries(const FileHead& head) {
  Index product = 1;
  for (const Index dim : head.dims)
    if (__builtin_mul_overflow(product, dim, &product))
      throw Error(Errc::bad_input, "announces more than 2^63 - 1 values", {head.path.string(), 0});
  return product;
}

// The coordinates of the entry at a place: first index fastest for tensors, last for matrices.
std::array<Index, max_order> coordinates(const FileHead& head, Index place) {
  std::array<Index, max_order> result{};
  for (int k = 0; k < head.order; ++k) {
    const auto m = std::size_t(head.format == TensorFormat::dense_tensor ? k : head.order - 1 - k);
    result[m] = place % head.dims[m];
    place /= head.dims[m];
  }
  return result;
}

class DenseReader {
 public:
  DenseReader(const InputFile& file, const FileHead& head, const ReadOptions& options)
      : file_(file), head_(head), options_(options), num_entries_(num_entries(head)), block_(head.order, 0) {}

  void read() {
    LineReader lines(file_);
    std::string_view line;
    while (lines.next(line)) {
      const auto words = split_blanks(line);
      if (lines.line_begin() < head_.data_begin || words.empty() || is_comment(words[0])) continue;
      for (const auto word : words) take(word, lines.line_number());
    }
    if (place_ != num_entries_)
      report(0, fmt::format("the header announces {} values, the file has {}", num_entries_, place_));
  }

  Slab slab() && {
    Slab slab;
    slab.head = head_;
    slab.head.index_base = 0;
    SlabBlocks blocks(head_.order);
    for (std::size_t m = 0; m < block_.indices.size() && !block_.values.empty(); ++m) {
      const auto [minimum, maximum] = std::ranges::minmax(block_.indices[m]);
      slab.facts.min_index[m] = minimum;
      slab.facts.max_index[m] = maximum;
    }
    blocks.append(std::move(block_));
    std::move(blocks).concatenate(slab);
    return slab;
  }

 private:
  void take(std::string_view word, Index line) {
    const auto value = parse_real(word);
    if (!value || !std::isfinite(*value)) {
      report(line, fmt::format("value {} is not {}", in_quotes(word), value ? "finite" : "a number"));
    } else if (place_ == num_entries_) {
      report(line, fmt::format("the header announces {} values, here is one more", num_entries_));
      return;
    } else if (is_kept(*value) && is_mine()) {
      const auto index = coordinates(head_, place_);
      for (std::size_t m = 0; m < block_.indices.size(); ++m) block_.indices[m].push_back(index[m]);
      block_.values.push_back(*value);
    }
    ++place_;
  }

  bool is_kept(double value) const { return value != 0 || options_.keeps_dense_zeros(); }

  bool is_mine() const {
    const auto [part, parts] = options_.share;
    return place_ >= part_begin(num_entries_, part, parts) &&
           place_ < part_begin(num_entries_, part + 1, parts);
  }

  void report(Index line, std::string why) {
    if (options_.problems == nullptr) throw Error(Errc::bad_input, why, {file_.path().string(), line});
    options_.problems->push_back({line, std::move(why)});
  }

  const InputFile& file_;
  const FileHead& head_;
  const ReadOptions& options_;
  Index num_entries_, place_ = 0;
  SlabBlock block_;
};

}  // namespace

Slab read_dense_text(const InputFile& file, const FileHead& head, const ReadOptions& options) {
  DenseReader reader(file, head, options);
  reader.read();
  return std::move(reader).slab();
}

}  // namespace polyad::io
