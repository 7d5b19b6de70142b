// SPLATT's binary: int32 0 | uint64 index width | uint64 value width | order | dims | nonzeros |
// all indices of mode 0 | ... | values, unpadded, in the byte order of the machine that wrote it.

#include <fmt/format.h>

#include <algorithm>

#include "polyad/base/error.hpp"
#include "polyad/io/bytes/stored_numbers.hpp"
#include "polyad/io/tensors/binary/binary_tensor.hpp"

namespace polyad::io {
namespace {

struct SplattHead {
  Index index_width = 0, value_width = 0, order = 0, nonzeros = 0, data_begin = 0;
  std::vector<Index> dims;
};

SplattHead read_splatt_head(const InputFile& file) {
  SplattHead head;
  FieldReader fields(file, 0);
  fields.next<std::int32_t>();
  head.index_width = Index(fields.next<std::uint64_t>());
  head.value_width = Index(fields.next<std::uint64_t>());
  const auto is_width = [](Index width) { return width == 4 || width == 8; };
  const auto fail = [&](const std::string& why) {
    throw Error(Errc::bad_input, why, {file.path().string(), 0});
  };
  if (is_width(Index(__builtin_bswap64(std::uint64_t(head.index_width))))) fail_foreign(file);
  if (!is_width(head.index_width) || !is_width(head.value_width))
    fail(fmt::format("widths of {} and {} bytes, expected 4 or 8", head.index_width, head.value_width));
  const auto next = [&] {
    return head.index_width == 4 ? Index(fields.next<std::uint32_t>()) : Index(fields.next<std::uint64_t>());
  };
  head.order = next();
  check_header(file, head.order, {}, 0);
  for (Index m = 0; m < head.order; ++m) head.dims.push_back(next());
  head.nonzeros = next();
  check_header(file, head.order, head.dims, head.nonzeros);
  head.data_begin = fields.position();
  check_size(file, head.data_begin + static_cast<__int128>(head.nonzeros) *
                                         (head.order * head.index_width + head.value_width));
  return head;
}

}  // namespace

Slab read_splatt(const InputFile& file, const FileHead& head, const ReadOptions& options) {
  const SplattHead splatt = read_splatt_head(file);
  const Index first = part_begin(splatt.nonzeros, options.share.part, options.share.parts);
  const Index count = part_begin(splatt.nonzeros, options.share.part + 1, options.share.parts) - first;
  Slab slab = binary_slab(with_header(head, splatt.dims, splatt.nonzeros), count);
  Index section = splatt.data_begin;
  for (int m = 0; m < int(splatt.order); ++m) {
    auto& column = slab.indices[m];
    const Index dim = splatt.dims[m];
    with_index_type(splatt.index_width, [&]<class Stored>(Stored) {
      read_numbers<Stored>(file, section + first * Index(sizeof(Stored)), count, [&](Index z, Stored index) {
        column[z] = checked_index(file, first + z, m, index, dim);
      });
    });
    section += splatt.nonzeros * splatt.index_width;
  }
  const auto read_values = [&]<class Stored>(Stored) {
    read_numbers<Stored>(file, section + first * Index(sizeof(Stored)), count, [&](Index z, Stored value) {
      slab.values[z] = checked_value(file, first + z, value);
    });
  };
  if (splatt.value_width == 4)
    read_values(float());
  else
    read_values(double());
  return slab;
}

void write_splatt(OutputFile& out, const SparseTensor<double>& x) {
  const bool narrow = std::ranges::max(x.extents()) <= 0xFFFFFFFF && x.num_nonzeros() <= 0xFFFFFFFF;
  std::string head;
  append_bytes(head, std::int32_t(0));
  append_bytes(head, std::uint64_t(narrow ? 4 : 8));
  append_bytes(head, std::uint64_t(8));
  const auto append_number = [&](std::string& to, Index number) {
    if (narrow)
      append_bytes(to, std::uint32_t(number));
    else
      append_bytes(to, std::uint64_t(number));
  };
  append_number(head, x.order());
  for (const Index dim : x.extents()) append_number(head, dim);
  append_number(head, x.num_nonzeros());
  out.write(head);
  std::string bytes;
  const auto flush = [&](std::size_t at_least) {
    if (bytes.size() < at_least) return;
    out.write(bytes);
    bytes.clear();
  };
  for (int m = 0; m < x.order(); ++m)
    for (const Index index : x.indices(m)) {
      append_number(bytes, index);
      flush(1 << 16);
    }
  flush(0);
  out.write({reinterpret_cast<const char*>(x.values().data()), x.values().size_bytes()});
}

}  // namespace polyad::io
