// GenTen's binary: "sptn" | uint32 order | uint32 value bits | uint64 dims[] | uint64 index bits[] |
// uint64 nonzeros | records of an index per mode and a value, unpadded, from 0.

#include <fmt/format.h>

#include "polyad/base/error.hpp"
#include "polyad/io/bytes/stored_numbers.hpp"
#include "polyad/io/tensors/binary/binary_tensor.hpp"

namespace polyad::io {
namespace {

struct GentenHead {
  Index order = 0, value_width = 0, nonzeros = 0, data_begin = 0, record_bytes = 0;
  std::vector<Index> dims, index_widths;
};

GentenHead read_genten_head(const InputFile& file) {
  GentenHead head;
  FieldReader fields(file, 4);
  const auto fail = [&](const std::string& why) {
    throw Error(Errc::bad_input, why, {file.path().string(), 0});
  };
  const auto order = fields.next<std::uint32_t>();
  if (order > max_order && __builtin_bswap32(order) <= max_order) fail_foreign(file);
  head.order = order;
  check_header(file, head.order, {}, 0);
  head.value_width = Index(fields.next<std::uint32_t>()) / 8;
  if (head.value_width != 4 && head.value_width != 8)
    fail(fmt::format("values of {} bits, expected 32 or 64", head.value_width * 8));
  for (Index m = 0; m < head.order; ++m) head.dims.push_back(Index(fields.next<std::uint64_t>()));
  head.record_bytes = head.value_width;
  for (Index m = 0; m < head.order; ++m) {
    const auto bits = fields.next<std::uint64_t>();
    if (bits != 8 && bits != 16 && bits != 32 && bits != 64)
      fail(fmt::format("indices of {} bits in mode {}, expected 8, 16, 32 or 64", bits, m + 1));
    head.index_widths.push_back(Index(bits) / 8);
    head.record_bytes += Index(bits) / 8;
  }
  head.nonzeros = Index(fields.next<std::uint64_t>());
  check_header(file, head.order, head.dims, head.nonzeros);
  head.data_begin = fields.position();
  check_size(file, head.data_begin + static_cast<__int128>(head.nonzeros) * head.record_bytes);
  return head;
}

template <class T>
T load(const char*& p) {
  T value;
  std::memcpy(&value, p, sizeof value);
  p += sizeof value;
  return value;
}

}  // namespace

Slab read_genten(const InputFile& file, const FileHead& head, const ReadOptions& options) {
  const GentenHead genten = read_genten_head(file);
  const Index first = part_begin(genten.nonzeros, options.share.part, options.share.parts);
  const Index count = part_begin(genten.nonzeros, options.share.part + 1, options.share.parts) - first;
  Slab slab = binary_slab(with_header(head, genten.dims, genten.nonzeros), count);
  constexpr Index step = 4096;
  parallel_parts(count, [&](Index begin, Index end, int) {
    std::string records;
    for (Index from = begin; from < end; from += step) {
      const Index to = std::min(from + step, end);
      records.resize(std::size_t((to - from) * genten.record_bytes));
      file.read(genten.data_begin + (first + from) * genten.record_bytes, records);
      const char* p = records.data();
      for (Index z = from; z < to; ++z) {
        for (int m = 0; m < int(genten.order); ++m) {
          const auto k = std::size_t(m);
          const auto index =
              with_index_type(genten.index_widths[k], [&]<class T>(T) { return std::uint64_t(load<T>(p)); });
          slab.indices[k][z] = checked_index(file, first + z, m, index, genten.dims[k]);
        }
        const double value = genten.value_width == 4 ? double(load<float>(p)) : load<double>(p);
        slab.values[z] = checked_value(file, first + z, value);
      }
    }
  });
  return slab;
}

void write_genten(OutputFile& out, const SparseTensor<double>& x) {
  std::string bytes = "sptn";
  append_bytes(bytes, std::uint32_t(x.order()));
  append_bytes(bytes, std::uint32_t(64));
  for (const Index dim : x.extents()) append_bytes(bytes, std::uint64_t(dim));
  for (const Index dim : x.extents()) append_bytes(bytes, std::uint64_t(index_width(dim) * 8));
  append_bytes(bytes, std::uint64_t(x.num_nonzeros()));
  for (Index z = 0; z < x.num_nonzeros(); ++z) {
    for (int m = 0; m < x.order(); ++m)
      with_index_type(index_width(x.extent(m)), [&]<class T>(T) { append_bytes(bytes, T(x.indices(m)[z])); });
    append_bytes(bytes, x.values()[z]);
    if (bytes.size() >= (1 << 16)) {
      out.write(bytes);
      bytes.clear();
    }
  }
  out.write(bytes);
}

}  // namespace polyad::io
