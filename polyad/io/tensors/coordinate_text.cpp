#include "polyad/io/tensors/coordinate_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "polyad/base/error.hpp"
#include "polyad/base/parallel.hpp"
#include "polyad/io/tensors/recognition/recognise.hpp"
#include "polyad/io/tensors/slab_blocks.hpp"
#include "polyad/io/text/line_faults.hpp"
#include "polyad/io/text/number_text.hpp"

namespace polyad::io {
namespace {

// The largest index in a file: as a dimension it must still be a number when the file counts from 0.
constexpr Index max_index = std::numeric_limits<Index>::max() - 1;

// What a line must look like.
struct LineShape {
  const InputFile* file = nullptr;
  int order = 0;
  bool has_value = true;
  bool mirrored = false;
  Index base = 1;                        // subtracted from every index
  Index minimum = 0;                     // the least index after that: -1 while the base is still open
  std::array<Index, max_order> limit{};  // the first index that is too large, after that
  std::array<const char*, max_order> limit_source{};
  Index first_line = 0;
  bool is_ragged = false;  // see FileHead

  void keep_within(const std::vector<Index>& dims, const char* source) {
    for (std::size_t m = 0; m < dims.size(); ++m) {
      if (dims[m] >= limit[m]) continue;
      limit[m] = dims[m];
      limit_source[m] = source;
    }
  }
};

LineShape shape_of(const InputFile& file, const FileHead& head, const ReadOptions& options) {
  LineShape shape;
  shape.file = &file;
  shape.order = head.order;
  shape.has_value = head.has_values;
  shape.mirrored = head.symmetric;
  const auto base = options.index_base ? options.index_base : head.index_base;
  shape.base = base.value_or(1);
  shape.minimum = base ? 0 : -1;
  shape.limit.fill(max_index + 1 - shape.base);
  const auto& dims = options.dims.empty() ? head.dims : options.dims;
  static const auto dims_option = option_name("dims");
  shape.keep_within(dims, options.dims.empty() ? "the header" : dims_option.c_str());
  if (options.space != nullptr && options.space->unknown() == IndexSpace::Unknown::fault) {
    const auto& model = options.space->dims();
    shape.keep_within(model, "the model");
    if (shape.mirrored) shape.keep_within({model[1], model[0]}, "the model, for the mirror image,");
  }
  shape.first_line = head.data_line;
  shape.is_ragged = head.is_ragged;
  return shape;
}

std::string index_fault(std::string_view word, int mode, const LineShape& shape) {
  const auto index = parse_index(word);
  const auto where = fmt::format("index {} of mode {}", in_quotes(word), mode + 1);
  const bool is_number = index || (!word.empty() && std::ranges::all_of(word, is_digit));
  if (is_number && (!index || *index > max_index)) return where + " is beyond 2^63 - 2";
  if (!index) return where + " is not a whole number";
  if (*index < 0) return where + " is negative";
  if (*index - shape.base < shape.minimum)
    return fmt::format("{} is below {}, where the indices start", where, shape.base);
  if (*index - shape.base >= shape.limit[mode])
    return fmt::format("{} is beyond the dimension {} that {} states{}", where, shape.limit[mode],
                       shape.limit_source[mode], shape.base == 0 ? " (the indices start at 0)" : "");
  return {};
}

// Why a line does not fit its shape: the slow second look at a line that the fast parse refused.
std::string explain(std::string_view line, const LineShape& shape) {
  const auto words = split_blanks(line);
  const auto expected = std::size_t(shape.order) + (shape.has_value ? 1 : 0);
  if (words.size() != expected && shape.is_ragged)
    return fmt::format(
        "expected {} fields as on line {}, found {}; {} adjacency reads lists of a row and its columns",
        expected, shape.first_line, words.size(), option_name("LoadOptions::format"));
  if (words.size() != expected)
    return fmt::format(
        "expected {} fields as on line {}, found {}{}", expected, shape.first_line, words.size(),
        words.size() > expected ? fmt::format(": {} after the value", in_quotes(words[expected])) : "");
  for (int m = 0; m < shape.order; ++m)
    if (auto fault = index_fault(words[m], m, shape); !fault.empty()) return fault;
  const auto value = parse_real(words.back());
  if (!value) return fmt::format("value {} is not a number", in_quotes(words.back()));
  return fmt::format("value {} is not finite", in_quotes(words.back()));
}

// Where one thread writes the nonzeros that it reads.
struct alignas(64) Sink {
  std::array<Index*, max_order> columns{};
  double* values = nullptr;
  Index count = 0, capacity = 0;
  SlabFacts facts;
};

template <int Order>
struct Line {
  std::array<Index, Order == 0 ? max_order : Order> index;
  double value;
};

// Reads a line of the most common form, whole numbers of up to seven digits with one blank between, and
// returns the place behind its \n; null for any other form. Where one number ends is all that the next
// one waits for.
template <int Order>
const char* parse_common_line(const char* p, const LineShape& shape, Line<Order>& line) {
  const int order = Order > 0 ? Order : shape.order;
  for (int m = 0; m < order; ++m) {
    const auto [raw, count, next] = leading_digits(p);
    if (next != ' ' && next != '\t') return nullptr;
    const Index index = Index(raw) - shape.base;
    if (index < shape.minimum || index >= shape.limit[m]) return nullptr;
    line.index[m] = index;
    p += count + 1;
  }
  const auto [whole, count, next] = leading_digits(p);
  line.value = double(whole);
  p += count + 1;
  if (next == '\n') return p;
  if (next != '.') return nullptr;
  const auto fraction = leading_digits(p);
  if (fraction.value != 0 || fraction.next != '\n') return nullptr;
  return p + fraction.count + 1;
}

// Reads any line at p and returns the place behind its \n, or null. Order 0: any, taken from the shape.
template <int Order>
const char* parse_line(const char* p, const LineShape& shape, Line<Order>& line) {
  const int order = Order > 0 ? Order : shape.order;
  for (int m = 0; m < order; ++m) {
    const auto [raw, end] = read_index(p);
    const Index index = raw - shape.base;
    if (end == nullptr || index < shape.minimum || index >= shape.limit[m]) return nullptr;
    line.index[m] = index;
    p = end;
    if (m + 1 == order && !shape.has_value) break;
    if (!is_blank(*p)) return nullptr;
    do ++p;
    while (is_blank(*p));
  }
  line.value = 1;
  if (shape.has_value) {
    const auto [value, end] = read_real(p);
    if (end == nullptr || !std::isfinite(value)) return nullptr;
    line.value = value;
    p = end;
  }
  while (is_blank(*p)) ++p;
  return *p == '\n' ? p + 1 : nullptr;
}

// There are more lines than were counted.
[[noreturn]] void throw_changed(const InputFile& file) {
  throw Error(Errc::io, "changed while it was read", {file.path().string(), 0});
}

template <int Order>
void store(const Line<Order>& line, const LineShape& shape, Sink& sink) {
  const int order = Order > 0 ? Order : shape.order;
  for (int m = 0; m < order; ++m) {
    const Index index = line.index[m];
    sink.columns[m][sink.count] = index;
    sink.facts.min_index[m] = std::min(sink.facts.min_index[m], index);
    sink.facts.max_index[m] = std::max(sink.facts.max_index[m], index);
  }
  sink.values[sink.count++] = line.value;
}

// A symmetric matrix stores one triangle: the entry just read also stands for its mirror image.
void add_mirror_image(Sink& sink) {
  const Index z = sink.count - 1, row = sink.columns[0][z], col = sink.columns[1][z];
  if (row == col) return;
  sink.columns[0][sink.count] = col;
  sink.columns[1][sink.count] = row;
  sink.values[sink.count++] = sink.values[z];
}

enum class OnFault { stop, go_on };

// Parses whole lines; false when a fault stopped it.
template <int Order>
bool parse_piece(const TextPiece& piece, const LineShape& shape_given, OnFault on_fault, Sink& sink_given,
                 std::vector<LineFault>& faults) {
  const LineShape shape = shape_given;  // local copies, so that they are kept in registers
  Sink sink = sink_given;
  const char* p = piece.lines.data();
  const char* const end = p + piece.lines.size();
  bool go_on = true;
  while (p < end && go_on) {
    while (is_blank(*p)) ++p;
    if (*p == '\n') {
      ++p;
      continue;
    }
    Line<Order> line;
    const char* next = shape.has_value ? parse_common_line<Order>(p, shape, line) : nullptr;
    if (next == nullptr) next = parse_line<Order>(p, shape, line);
    if (next != nullptr) {
      if (sink.count + (shape.mirrored ? 2 : 1) > sink.capacity) throw_changed(*shape.file);
      store<Order>(line, shape, sink);
      ++sink.facts.data_lines;
      if (shape.mirrored) add_mirror_image(sink);
      p = next;
      continue;
    }
    const char* const begin = p;
    while (*p != '\n') ++p;
    if (const std::string_view text(begin, std::size_t(p - begin)); !is_comment(text)) {
      faults.push_back({piece.offset + (begin - piece.lines.data()), explain(text, shape)});
      go_on = on_fault == OnFault::go_on;
    }
    ++p;
  }
  sink_given = sink;
  return go_on;
}

using ParsePiece = bool (*)(const TextPiece&, const LineShape&, OnFault, Sink&, std::vector<LineFault>&);

ParsePiece parser_for(int order) {
  switch (order) {
    case 2:
      return parse_piece<2>;
    case 3:
      return parse_piece<3>;
    case 4:
      return parse_piece<4>;
    case 5:
      return parse_piece<5>;
    default:
      return parse_piece<0>;
  }
}

// In runs short enough for a byte to hold each lane's count: the compiler then counts many bytes at once.
Index count_line_ends(std::string_view text) {
  constexpr std::size_t lanes = 64, run = 255 * lanes;
  Index total = 0;
  while (text.size() >= lanes) {
    std::array<unsigned char, lanes> counts{};
    const std::size_t bytes = std::min(text.size() / lanes * lanes, run);
    for (std::size_t i = 0; i < bytes; i += lanes)
      for (std::size_t lane = 0; lane < lanes; ++lane) counts[lane] += text[i + lane] == '\n';
    for (const unsigned char count : counts) total += count;
    text.remove_prefix(bytes);
  }
  return total + std::count(text.begin(), text.end(), '\n');
}

class CoordinateReader {
 public:
  CoordinateReader(const InputFile& file, const FileHead& head, const ReadOptions& options)
      : file_(file), options_(options), shape_(shape_of(file, head, options)), blocks_(head.order) {
    slab_.head = head;
  }

  // First counts lines, so that every thread knows where to write and nothing is moved or reallocated.
  void read(const TextRange& range) {
    const int threads = num_threads();
    std::vector<Index> begin(threads + 1, 0);
    for_each_part(range, [&](std::size_t part, const TextPiece& piece) {
      begin[part + 1] += count_line_ends(piece.lines) * (shape_.mirrored ? 2 : 1);
      return true;
    });
    for (std::size_t part = 0; part < threads; ++part) begin[part + 1] += begin[part];

    SlabBlock block(shape_.order, begin.back());
    std::vector<Sink> sinks(threads);
    std::vector<std::vector<LineFault>> faults(threads);
    for (std::size_t part = 0; part < threads; ++part) aim(sinks[part], block, begin[part], begin[part + 1]);
    const ParsePiece parse = parser_for(shape_.order);
    const OnFault on_fault = options_.problems == nullptr ? OnFault::stop : OnFault::go_on;
    for_each_part(range, [&](std::size_t part, const TextPiece& piece) {
      if (options_.progress != nullptr) options_.progress->advance(Index(piece.lines.size()));
      return parse(piece, shape_, on_fault, sinks[part], faults[part]);
    });
    settle(file_, std::move(faults), options_.problems);

    std::vector<Index> counts;
    for (const auto& sink : sinks) {
      counts.push_back(sink.count);
      slab_.facts = merge(slab_.facts, sink.facts);
    }
    block.close_gaps(begin, counts);
    blocks_.append(std::move(block));
  }

  Slab take() && {
    if (shape_.mirrored)
      for (std::size_t m = 0; m < 2; ++m) {
        slab_.facts.min_index[m] = std::min(slab_.facts.min_index[0], slab_.facts.min_index[1]);
        slab_.facts.max_index[m] = std::max(slab_.facts.max_index[0], slab_.facts.max_index[1]);
      }
    std::move(blocks_).concatenate(slab_);
    return std::move(slab_);
  }

 private:
  template <class Fn>
  void for_each_part(const TextRange& range, Fn fn) {
    const int threads = num_threads();
    parallel_parts(threads, [&](Index first, Index last, int) {
      for (Index part = first; part < last; ++part)
        range.for_each_piece({int(part), threads},
                             [&](const TextPiece& piece) { return fn(std::size_t(part), piece); });
    });
  }

  static void aim(Sink& sink, SlabBlock& block, Index begin, Index end) {
    sink.capacity = end - begin;
    for (std::size_t m = 0; m < block.indices.size(); ++m) sink.columns[m] = block.indices[m].data() + begin;
    sink.values = block.values.data() + begin;
  }

  const InputFile& file_;
  const ReadOptions& options_;
  LineShape shape_;
  SlabBlocks blocks_;
  Slab slab_;
};

}  // namespace

Slab read_coordinate_text(const InputFile& file, const FileHead& head, const ReadOptions& options) {
  CoordinateReader reader(file, head, options);
  for_each_range(file, head.data_begin, options.share, [&](const TextRange& range) { reader.read(range); });
  return std::move(reader).take();
}

void read_coordinate_text(const InputFile& file, const FileHead& head, const ReadOptions& options,
                          const SlabFn& fn) {
  bool any = false;
  const auto read = [&](const TextRange& range) {
    CoordinateReader reader(file, head, options);
    reader.read(range);
    fn(std::move(reader).take());
    any = true;
  };
  for_each_range(file, head.data_begin, options.share, read, options.slab_bytes);
  if (!any) fn(CoordinateReader(file, head, options).take());
}

}  // namespace polyad::io
