#include "polyad/io/tensors/binary/binary_tensor.hpp"

#include <fmt/format.h>

#include <cmath>

#include "polyad/base/error.hpp"

namespace polyad::io {

FileHead with_header(FileHead head, const std::vector<Index>& dims, Index nonzeros) {
  head.order = int(dims.size());
  head.dims = dims;
  head.nonzeros = nonzeros;
  head.index_base = 0;
  return head;
}

Slab binary_slab(FileHead head, Index count) {
  Slab slab;
  slab.indices.resize(std::size_t(head.order));
  for (auto& column : slab.indices) column.resize(std::size_t(count));
  slab.values.resize(std::size_t(count));
  slab.facts.num_nonzeros = slab.facts.data_lines = count;
  for (std::size_t m = 0; m < std::size_t(head.order); ++m) {
    slab.facts.min_index[m] = 0;  // the header states the dims; the exact extremes are not needed
    slab.facts.max_index[m] = head.dims[m] - 1;
  }
  slab.head = std::move(head);
  return slab;
}

void check_size(const InputFile& file, __int128 expected) {
  if (expected == file.size()) return;
  const std::string size =
      expected > std::numeric_limits<Index>::max() ? "more than 2^63" : fmt::format("{}", Index(expected));
  throw Error(
      Errc::bad_input,
      fmt::format("{}: by its header it has {} bytes, found {}",
                  expected > file.size() ? "is truncated" : "has bytes after its end", size, file.size()),
      {file.path().string(), 0});
}

void check_header(const InputFile& file, Index order, std::span<const Index> dims, Index nonzeros) {
  const auto fail = [&](const std::string& why) {
    throw Error(Errc::bad_input, why, {file.path().string(), 0});
  };
  if (order < min_order || order > max_order)
    fail(fmt::format("a tensor of order {}: Polyad takes orders {} to {}", order, min_order, max_order));
  for (std::size_t m = 0; m < dims.size(); ++m)
    if (dims[m] < 1) fail(fmt::format("dimension {} is {}: not from 1 to 2^63 - 1", m + 1, dims[m]));
  if (nonzeros < 0) fail("the number of nonzeros is beyond 2^63 - 1");
}

void fail_foreign(const InputFile& file) {
  throw Error(Errc::bad_input,
              "was written on a machine of the other byte order; write it as text there and convert that",
              {file.path().string(), 0});
}

void fail_at(const InputFile& file, Index nonzero, const std::string& why) {
  throw Error(Errc::bad_input, fmt::format("nonzero {}: {}", nonzero + 1, why), {file.path().string(), 0});
}

Index checked_index(const InputFile& file, Index nonzero, int mode, std::uint64_t index, Index dim) {
  if (index >= std::uint64_t(dim)) [[unlikely]]
    fail_at(file, nonzero,
            fmt::format("index {} (from 0) of mode {} is beyond the dimension {}", index, mode + 1, dim));
  return Index(index);
}

double checked_value(const InputFile& file, Index nonzero, double value) {
  if (!std::isfinite(value)) [[unlikely]]
    fail_at(file, nonzero, fmt::format("value '{}' is not finite", value));
  return value;
}

}  // namespace polyad::io
