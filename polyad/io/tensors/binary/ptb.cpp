// Polyad's binary, .ptb. The nonzeros are cut into chunks; chunk c of mode m (or of the values, which
// count as one more mode) is a block of bytes of its own, with a checksum. So any range of chunks is
// read and verified by itself. All numbers are in the byte order that the mark states. Version 2 has the
// checksums of ChecksumVersion::xxh64, version 1 those before it; only these differ, and version 2 is
// written.
//
//   magic[8] | uint32 byte order mark | uint32 version | uint64 order | uint64 nonzeros |
//   uint64 nonzeros per chunk | uint64 value width | uint64 compression | uint64 label bytes |
//   per mode: uint64 dim, uint64 index width |
//   per mode, then values: per chunk: uint64 stored bytes, uint64 checksum of them |
//   uint64 checksum of the labels | uint64 checksum of all of the above
//   labels (per mode: name \n, number of labels \n, labels each \n) | blocks, in the order of the table

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>

#include "polyad/base/error.hpp"
#include "polyad/base/memory.hpp"
#include "polyad/base/progress.hpp"
#include "polyad/io/bytes/checksum.hpp"
#include "polyad/io/bytes/expansion.hpp"
#include "polyad/io/bytes/stored_numbers.hpp"
#include "polyad/io/tensors/binary/binary_tensor.hpp"
#include "polyad/io/text/number_text.hpp"

namespace polyad::io {
namespace {

constexpr std::string_view magic("\x93PTB\r\n\x1a\n", 8);
constexpr std::uint32_t byte_order_mark = 0x01020304;
constexpr std::uint32_t version = 2;
constexpr Index chunk_nonzeros = Index(1) << 16;

struct Block {
  Index offset = 0, stored_bytes = 0;
  std::uint64_t checksum = 0;
};

struct PtbHead {
  Index order = 0, nonzeros = 0, per_chunk = 1, value_width = 0, label_bytes = 0, labels_begin = 0;
  BlockCompression compression = BlockCompression::none;
  ChecksumVersion checksums = ChecksumVersion::xxh64;
  std::uint64_t label_checksum = 0;
  std::vector<Index> dims, index_widths;
  std::vector<std::vector<Block>> blocks;  // [mode, or order for the values][chunk]

  Index num_chunks() const { return nonzeros / per_chunk + (nonzeros % per_chunk == 0 ? 0 : 1); }
  Index width(std::size_t section) const {
    return section < index_widths.size() ? index_widths[section] : value_width;
  }
  Index chunk_begin(Index chunk) const { return chunk < num_chunks() ? chunk * per_chunk : nonzeros; }
};

[[noreturn]] void fail(const InputFile& file, const std::string& why) {
  throw Error(Errc::bad_input, why, {file.path().string(), 0});
}

void check_fields(const InputFile& file, const PtbHead& head) {
  check_header(file, head.order, head.dims, head.nonzeros);
  const auto is_width = [](Index w) { return w == 1 || w == 2 || w == 4 || w == 8; };
  const bool fits =
      std::ranges::all_of(head.index_widths, is_width) && head.per_chunk > 0 &&
      (head.value_width == 4 || head.value_width == 8) && head.label_bytes >= 0 &&
      (head.compression == BlockCompression::none || head.compression == BlockCompression::deflate);
  if (!fits) fail(file, "its header holds impossible numbers");
}

// Reads the table of block positions, and checks that the file ends with the last block.
void read_table(const InputFile& file, FieldReader& fields, PtbHead& head) {
  const auto table_bytes = static_cast<__int128>(head.order + 1) * head.num_chunks() * 16;
  if (table_bytes > file.size()) check_size(file, table_bytes);
  head.blocks.resize(std::size_t(head.order) + 1);
  for (auto& section : head.blocks) {
    section.resize(std::size_t(head.num_chunks()));
    for (auto& block : section) {
      block.stored_bytes = Index(fields.next<std::uint64_t>());
      block.checksum = fields.next<std::uint64_t>();
      if (block.stored_bytes < 0) fail(file, "its header holds impossible numbers");
    }
  }
  head.label_checksum = fields.next<std::uint64_t>();
}

void place_blocks(const InputFile& file, PtbHead& head) {
  __int128 next = static_cast<__int128>(head.labels_begin) + head.label_bytes;
  for (auto& section : head.blocks)
    for (auto& block : section) {
      block.offset = Index(next);
      next += block.stored_bytes;
    }
  check_size(file, next);
}

// Before memory is taken for the nonzeros that the header states: whether the blocks can hold them. Deflate
// makes at most 1032 bytes of one.
void check_block_sizes(const InputFile& file, const PtbHead& head) {
  const bool deflated = head.compression == BlockCompression::deflate;
  for (std::size_t section = 0; section < head.blocks.size(); ++section)
    for (Index chunk = 0; chunk < head.num_chunks(); ++chunk) {
      const auto needed =
          static_cast<__int128>(head.chunk_begin(chunk + 1) - head.chunk_begin(chunk)) * head.width(section);
      const auto stored = static_cast<__int128>(head.blocks[section][std::size_t(chunk)].stored_bytes);
      if (deflated ? needed > max_inflated(stored) : needed != stored)
        fail(file,
             fmt::format("its header states {}, for which the block at byte {} is too {}",
                         counted(head.nonzeros, "nonzero"), head.blocks[section][std::size_t(chunk)].offset,
                         needed < stored ? "long" : "short"));
    }
}

PtbHead read_ptb_head(const InputFile& file) {
  PtbHead head;
  FieldReader fields(file, Index(magic.size()));
  const auto mark = fields.next<std::uint32_t>();
  if (mark == __builtin_bswap32(byte_order_mark)) fail_foreign(file);
  if (mark != byte_order_mark) fail(file, "its byte order mark is damaged");
  const auto found = fields.next<std::uint32_t>();
  if (found < 1 || found > version)
    fail(file,
         fmt::format("is version {} of the format; this program reads versions 1 to {}", found, version));
  head.checksums = found == 1 ? ChecksumVersion::version_1 : ChecksumVersion::xxh64;
  const auto next = [&] { return Index(fields.next<std::uint64_t>()); };
  head.order = next();
  head.nonzeros = next();
  head.per_chunk = next();
  head.value_width = next();
  head.compression = BlockCompression(next());
  head.label_bytes = next();
  check_header(file, head.order, {}, head.nonzeros);
  for (Index m = 0; m < head.order; ++m) {
    head.dims.push_back(next());
    head.index_widths.push_back(next());
  }
  check_fields(file, head);
  read_table(file, fields, head);
  std::string bytes(std::size_t(fields.position()), '\0');
  file.read(0, bytes);
  if (!has_checksum(bytes, fields.next<std::uint64_t>(), head.checksums))
    fail(file, "is damaged: the checksum of its header is wrong");
  head.labels_begin = fields.position();
  place_blocks(file, head);
  check_block_sizes(file, head);
  return head;
}

std::vector<ModeLabels> read_labels(const InputFile& file, const PtbHead& head) {
  if (head.label_bytes == 0) return {};
  std::string text(std::size_t(head.label_bytes), '\0');
  file.read(head.labels_begin, text);
  if (!has_checksum(text, head.label_checksum, head.checksums))
    fail(file, "is damaged: the checksum of its labels is wrong");
  std::string_view rest = text;
  const auto next = [&] {
    const auto end = rest.find('\n');
    if (end == std::string_view::npos) fail(file, "its labels end too early");
    const auto line = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    return std::string(line);
  };
  std::vector<ModeLabels> labels(std::size_t(head.order));
  for (std::size_t m = 0; m < labels.size(); ++m) {
    labels[m].name = next();
    const auto count = parse_index(next());
    if (!count || *count < 0 || *count > head.label_bytes) fail(file, "its labels are not counted rightly");
    for (Index i = 0; i < *count; ++i) labels[m].labels.push_back(next());
  }
  return labels;
}

// A compressed file may hold far more than its size suggests; its header says how much.
void check_memory(const InputFile& file, const PtbHead& head, Index count) {
  const Index total = memory_to_plan_with();
  const double needed = double(count) * double(head.order + 1) * sizeof(double);
  if (needed > double(total))
    throw Error(Errc::resource,
                fmt::format("its {} nonzeros take {}, and this machine has {}; more processes share them",
                            count, with_prefix(needed, "B"), with_prefix(double(total), "B")),
                {file.path().string(), 0});
}

// Reads one block, verifies and inflates it into `bytes`, which has the size that it must have.
void read_block(const InputFile& file, const PtbHead& head, const Block& block, std::string& stored,
                std::string& bytes) {
  const bool deflated = head.compression == BlockCompression::deflate;
  auto& raw = deflated ? stored : bytes;
  raw.resize(std::size_t(block.stored_bytes));
  file.read(block.offset, raw);
  if (!has_checksum(raw, block.checksum, head.checksums))
    fail(file, fmt::format("is damaged: the checksum of the block at byte {} is wrong", block.offset));
  if (!deflated) return;
  auto size = uLongf(bytes.size());
  const int status = uncompress(reinterpret_cast<Bytef*>(bytes.data()), &size,
                                reinterpret_cast<const Bytef*>(stored.data()), uLong(stored.size()));
  if (status != Z_OK || size != bytes.size()) fail(file, "a compressed block does not inflate to its size");
}

// Reads chunks [first, end) of one section, threads in parallel; fn(place in the slab, number) for each.
template <class Stored, class Fn>
void read_section(const InputFile& file, const PtbHead& head, std::size_t section, Index first, Index end,
                  Fn fn) {
  const Index slab_begin = head.chunk_begin(first);
  parallel_parts(end - first, [&](Index begin, Index stop, int) {
    std::string stored, bytes;
    for (Index chunk = first + begin; chunk < first + stop; ++chunk) {
      const Index from = head.chunk_begin(chunk), count = head.chunk_begin(chunk + 1) - from;
      bytes.resize(std::size_t(count) * sizeof(Stored));
      read_block(file, head, head.blocks[section][chunk], stored, bytes);
      const char* p = bytes.data();
      for (Index i = 0; i < count; ++i, p += sizeof(Stored)) {
        Stored number;
        std::memcpy(&number, p, sizeof number);
        fn(from + i - slab_begin, number);
      }
    }
  });
}

std::string label_text(const SparseTensor<double>& x, std::span<const ModeLabels> labels) {
  if (std::ranges::all_of(labels, [](const auto& mode) { return mode.empty() && mode.name.empty(); }))
    return {};
  std::string text;
  for (std::size_t m = 0; m < std::size_t(x.order()); ++m) {
    text += labels[m].name + '\n' + std::to_string(labels[m].labels.size()) + '\n';
    for (const auto& label : labels[m].labels) text += label + '\n';
  }
  return text;
}

bool fit_single_precision(std::span<const double> values) {
  return std::ranges::all_of(values, [](double v) {
    return std::bit_cast<std::uint64_t>(double(float(v))) == std::bit_cast<std::uint64_t>(v);
  });
}

class PtbWriter {
 public:
  PtbWriter(const SparseTensor<double>& x, BlockCompression compression)
      : x_(x), compression_(compression), value_width_(fit_single_precision(x.values()) ? 4 : 8) {}

  // Two passes over the nonzeros, so that the table can precede the blocks without storing them in memory.
  void write(OutputFile& out, std::span<const ModeLabels> labels) {
    const std::string text = label_text(x_, labels);
    std::string head(magic);
    append_bytes(head, byte_order_mark);
    append_bytes(head, version);
    for (const Index field : {Index(x_.order()), x_.num_nonzeros(), chunk_nonzeros, value_width_,
                              Index(compression_), Index(text.size())})
      append_bytes(head, std::uint64_t(field));
    for (const Index dim : x_.extents()) {
      append_bytes(head, std::uint64_t(dim));
      append_bytes(head, std::uint64_t(index_width(dim)));
    }
    for_each_block([&](std::string_view stored) {
      append_bytes(head, std::uint64_t(stored.size()));
      append_bytes(head, checksum(stored));
    });
    append_bytes(head, checksum(text));
    append_bytes(head, checksum(head));
    out.write(head);
    out.write(text);
    for_each_block([&](std::string_view stored) { out.write(stored); });
  }

 private:
  template <class Fn>
  void for_each_block(Fn fn) {
    for (int m = 0; m < x_.order(); ++m)
      with_index_type(index_width(x_.extent(m)),
                      [&]<class Stored>(Stored) { narrow_blocks<Stored>(x_.indices(m), fn); });
    if (value_width_ == 4)
      narrow_blocks<float>(x_.values(), fn);
    else
      narrow_blocks<double>(x_.values(), fn);
  }

  template <class Stored, class T, class Fn>
  void narrow_blocks(std::span<const T> numbers, Fn fn) {
    while (!numbers.empty()) {
      const auto chunk = numbers.first(std::min(numbers.size(), std::size_t(chunk_nonzeros)));
      std::string bytes;
      bytes.reserve(chunk.size() * sizeof(Stored));
      for (const T number : chunk) append_bytes(bytes, Stored(number));
      if (compression_ == BlockCompression::deflate) bytes = deflated(bytes);
      fn(bytes);
      numbers = numbers.subspan(chunk.size());
    }
  }

  static std::string deflated(const std::string& bytes) {
    auto size = compressBound(uLong(bytes.size()));
    std::string out(size, '\0');
    compress2(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()),
              uLong(bytes.size()), 6);
    out.resize(size);
    return out;
  }

  const SparseTensor<double>& x_;
  BlockCompression compression_;
  Index value_width_;
};

}  // namespace

Slab read_ptb(const InputFile& file, const FileHead& head, const ReadOptions& options) {
  const PtbHead ptb = read_ptb_head(file);
  const auto [part, parts] = options.share;
  const Index first = part_begin(ptb.num_chunks(), part, parts);
  const Index end = part_begin(ptb.num_chunks(), part + 1, parts);
  const Index slab_begin = ptb.chunk_begin(first);
  check_memory(file, ptb, ptb.chunk_begin(end) - slab_begin);
  Slab slab = binary_slab(with_header(head, ptb.dims, ptb.nonzeros), ptb.chunk_begin(end) - slab_begin);
  slab.head.labels = read_labels(file, ptb);
  for (int m = 0; m < int(ptb.order); ++m) {
    auto& column = slab.indices[m];
    const Index dim = ptb.dims[m];
    with_index_type(ptb.index_widths[m], [&]<class Stored>(Stored) {
      read_section<Stored>(file, ptb, std::size_t(m), first, end, [&](Index z, Stored index) {
        column[z] = checked_index(file, slab_begin + z, m, index, dim);
      });
    });
  }
  const auto take_value = [&](Index z, auto value) {
    slab.values[z] = checked_value(file, slab_begin + z, value);
  };
  if (ptb.value_width == 4)
    read_section<float>(file, ptb, std::size_t(ptb.order), first, end, take_value);
  else
    read_section<double>(file, ptb, std::size_t(ptb.order), first, end, take_value);
  return slab;
}

void write_ptb(OutputFile& out, const SparseTensor<double>& x, std::span<const ModeLabels> labels,
               BlockCompression compression) {
  PtbWriter(x, compression).write(out, labels);
}

}  // namespace polyad::io
