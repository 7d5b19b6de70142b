// MATLAB's files of level 5, as save -v6 and -v7 of MATLAB, Octave and SciPy write them: 128 bytes of header,
// then elements, each a tag (u32 type, u32 bytes) and its data, filled up to 8 bytes. A tag whose upper half
// is not 0 holds both in 16 bits each, and up to 4 bytes of data. A variable is an element of elements,
// perhaps compressed: flags, dimensions, name, and then the numbers, the first index fastest; of a sparse
// matrix the rows, the first entry of every column, and the values.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "polyad/base/error.hpp"
#include "polyad/base/parallel.hpp"
#include "polyad/io/arrays/npy_numbers.hpp"
#include "polyad/io/bytes/byte_stream.hpp"
#include "polyad/io/bytes/expansion.hpp"
#include "polyad/io/tensors/binary/array_tensor.hpp"
#include "polyad/io/tensors/binary/binary_tensor.hpp"
#include "polyad/io/tensors/recognition/recognise.hpp"
#include "polyad/io/tensors/slab_blocks.hpp"

namespace polyad::io {
namespace {

constexpr Index mat_head_bytes = 128, mat_tag_bytes = 8;
constexpr std::uint32_t mat_matrix = 14, mat_compressed = 15;
constexpr std::uint32_t sparse_class = 5, last_class = 15;  // between them: classes of numbers

[[noreturn]] void fail_mat(const InputFile& file, const std::string& why) {
  throw Error(Errc::bad_input, why, {file.path().string(), 0});
}

// Where a variable stands in the file.
struct MatPlace {
  Index begin = 0, bytes = 0;
  bool compressed = false;
};

// The bytes of a variable from its beginning, inflated if they are compressed.
class MatBytes {
 public:
  MatBytes(const InputFile& file, const MatPlace& place)
      : file_(file), position_(place.begin), left_(place.bytes) {
    if (!place.compressed) return;
    inflater_ = std::make_unique<z_stream>();
    if (inflateInit(inflater_.get()) != Z_OK) throw Error(Errc::resource, "zlib has no memory left");
  }
  ~MatBytes() {
    if (inflater_) inflateEnd(inflater_.get());
  }
  MatBytes(const MatBytes&) = delete;
  MatBytes& operator=(const MatBytes&) = delete;

  void read(std::span<char> into) {
    if (inflater_) return inflate_into(into);
    if (std::ssize(into) > left_) fail_mat(file_, "is damaged: a variable is shorter than its parts");
    file_.read(position_, into);
    position_ += std::ssize(into);
    left_ -= std::ssize(into);
  }
  void skip(Index bytes) {
    std::vector<char> passed(std::size_t(std::min<Index>(bytes, 1 << 16)));
    for (; bytes > 0; bytes -= std::ssize(passed)) {
      passed.resize(std::size_t(std::min(bytes, std::ssize(passed))));
      read(passed);
    }
  }

 private:
  void inflate_into(std::span<char> into) {
    z_stream& z = *inflater_;
    while (!into.empty()) {
      const auto part = into.first(std::min<std::size_t>(into.size(), 1 << 18));
      z.next_out = reinterpret_cast<Bytef*>(part.data());
      z.avail_out = uInt(part.size());
      while (z.avail_out > 0) {
        if (z.avail_in == 0) refill();
        const int status = inflate(&z, Z_NO_FLUSH);
        if (status != Z_OK && (status != Z_STREAM_END || z.avail_out > 0))
          fail_mat(file_, fmt::format("is damaged: a compressed variable does not inflate ({})",
                                      z.msg != nullptr ? z.msg : "it ends too early"));
      }
      into = into.subspan(part.size());
    }
  }
  void refill() {
    stored_.resize(std::size_t(std::min<Index>(left_, 1 << 16)));
    file_.read(position_, stored_);
    position_ += std::ssize(stored_);
    left_ -= std::ssize(stored_);
    inflater_->next_in = reinterpret_cast<Bytef*>(stored_.data());
    inflater_->avail_in = uInt(stored_.size());
  }

  const InputFile& file_;
  Index position_, left_;
  std::unique_ptr<z_stream> inflater_;  // null: not compressed
  std::vector<char> stored_;
};

struct MatVariable {
  MatPlace place;
  std::string name;
  std::uint32_t kind = 0;  // its class
  bool is_complex = false;
  std::vector<Index> dims;

  std::string type_name() const {
    static constexpr std::array names{"unknown", "cell",    "struct", "object", "char",  "sparse",
                                      "float64", "float32", "int8",   "uint8",  "int16", "uint16",
                                      "int32",   "uint32",  "int64",  "uint64"};
    return std::string(is_complex ? "complex " : "") + (kind < names.size() ? names[kind] : "object");
  }
  bool is_array() const {
    return kind >= sparse_class && kind <= last_class &&
           std::ranges::any_of(dims, [](Index dim) { return dim > 1; });
  }
};

// The parts of one variable, one after the other.
class MatParts {
 public:
  MatParts(const InputFile& file, const MatPlace& place, bool swapped)
      : file_(file), bytes_(file, place), swapped_(swapped) {
    if (!place.compressed) return;
    std::array<char, mat_tag_bytes> tag;
    bytes_.read(tag);
    if (npy_element<std::uint32_t>(tag.data(), swapped_) != mat_matrix)
      fail_mat(file_, "is damaged: a compressed element is no variable");
    if (npy_element<std::uint32_t>(tag.data() + 4, swapped_) > max_expanded(place.bytes))
      fail_mat(file_, "has a variable that expands to over 100 times its size; save it by -v6 if it should");
  }

  void next() {
    std::array<char, mat_tag_bytes> tag;
    bytes_.read(tag);
    const auto word = npy_element<std::uint32_t>(tag.data(), swapped_);
    is_short_ = word >> 16 != 0;
    type_ = is_short_ ? word & 0xFFFF : word;
    size_ = is_short_ ? Index(word >> 16) : Index(npy_element<std::uint32_t>(tag.data() + 4, swapped_));
    if (is_short_ && size_ > 4) fail_mat(file_, "is damaged: a short element is longer than 4 bytes");
    std::copy_n(tag.begin() + 4, 4, short_.begin());
  }
  void skip() {
    if (!is_short_) bytes_.skip(size_ + padding());
  }
  Index size() const { return size_; }
  std::string text() {
    if (size_ > (1 << 12)) fail_mat(file_, "is damaged: the name of a variable is longer than 4096 bytes");
    std::string bytes(std::size_t(size_), '\0');
    read_data(bytes);
    finish();
    return bytes;
  }

  // How many numbers it has.
  Index count() const { return size_ / number_type().width; }
  // fn(position of the first, numbers), some at a time.
  template <class Number, class Convert, class Fn>
  void for_each(Convert convert, Fn fn) {
    constexpr Index chunk_numbers = Index(1) << 15;
    std::vector<char> bytes;
    std::vector<Number> numbers;
    const NpyHead type = number_type();
    const Index total = count();
    with_npy_type(type, [&]<class Stored>(Stored) {
      for (Index from = 0; from < total; from += chunk_numbers) {
        const auto size = std::size_t(std::min(chunk_numbers, total - from));
        bytes.resize(size * sizeof(Stored));
        numbers.resize(size);
        read_data(bytes);
        for (std::size_t i = 0; i < size; ++i)
          numbers[i] = convert(npy_element<Stored>(bytes.data() + i * sizeof(Stored), swapped_));
        fn(from, std::span<const Number>(numbers));
      }
    });
    finish();
  }
  template <class Fn>
  void for_each_real(Fn fn) {
    for_each<double>([](auto number) { return npy_real(number); }, fn);
  }
  template <class Fn>
  void for_each_index(Fn fn) {
    for_each<Index>([](auto number) { return npy_index(number); }, fn);
  }

 private:
  Index padding() const { return is_short_ ? 0 : (8 - size_ % 8) % 8; }
  void finish() { bytes_.skip(padding()); }
  void read_data(std::span<char> into) {
    if (is_short_)
      std::copy_n(short_.begin(), std::min<std::size_t>(into.size(), 4), into.begin());
    else
      bytes_.read(into);
  }
  NpyHead number_type() const {
    struct Type {
      std::uint32_t type;
      char kind;
      Index width;
    };
    static constexpr std::array types{Type{1, 'i', 1},  Type{2, 'u', 1}, Type{3, 'i', 2}, Type{4, 'u', 2},
                                      Type{5, 'i', 4},  Type{6, 'u', 4}, Type{7, 'f', 4}, Type{9, 'f', 8},
                                      Type{12, 'i', 8}, Type{13, 'u', 8}};
    const auto found = std::ranges::find(types, type_, &Type::type);
    if (found == types.end())
      fail_mat(file_, fmt::format("is damaged: numbers of the unknown type {}", type_));
    NpyHead head;
    head.kind = found->kind;
    head.width = found->width;
    return head;
  }

  const InputFile& file_;
  MatBytes bytes_;
  bool swapped_, is_short_ = false;
  std::uint32_t type_ = 0;
  Index size_ = 0;
  std::array<char, 4> short_{};
};

class MatFile {
 public:
  MatFile(const InputFile& file, const FileHead& head, const ReadOptions& options)
      : file_(file), head_(head), options_(options) {
    std::array<char, mat_head_bytes> bytes;
    file_.read(0, bytes);
    const bool is_little = bytes[126] == 'I';
    swapped_ = is_little != (std::endian::native == std::endian::little);
  }

  Slab read() {
    variable_ = chosen();
    if (variable_.is_complex) fail_mat(file_, fmt::format("{} is complex, expected real numbers", name()));
    check_header(file_, std::ssize(variable_.dims), variable_.dims, 0);
    return variable_.kind == sparse_class ? read_sparse() : read_dense();
  }

  std::vector<StoredArray> describe() const {
    std::vector<StoredArray> all;
    for (const auto& variable : variables())
      all.push_back({variable.name, variable.dims, variable.type_name()});
    return all;
  }

 private:
  std::string name() const { return in_quotes(variable_.name); }

  std::vector<MatVariable> variables() const {
    std::vector<MatVariable> found;
    for (Index at = mat_head_bytes; at < file_.size();) {
      std::array<char, mat_tag_bytes> tag;
      file_.read(at, tag);
      const auto type = npy_element<std::uint32_t>(tag.data(), swapped_);
      const auto bytes = Index(npy_element<std::uint32_t>(tag.data() + 4, swapped_));
      at += mat_tag_bytes;
      if (bytes > file_.size() - at)
        fail_mat(file_, fmt::format("is truncated: a variable has {} bytes, and {} are left", bytes,
                                    file_.size() - at));
      if (type == mat_matrix || type == mat_compressed)
        found.push_back(described({at, bytes, type == mat_compressed}));
      at += bytes;
      if (type != mat_compressed) at += (8 - bytes % 8) % 8;
    }
    return found;
  }

  MatVariable described(const MatPlace& place) const {
    MatVariable variable;
    variable.place = place;
    MatParts parts(file_, place, swapped_);
    const auto numbers = [&] {
      std::vector<Index> all;
      if (parts.size() > (1 << 10)) fail_mat(file_, "is damaged: a variable has hundreds of dimensions");
      parts.for_each_index(
          [&](Index, std::span<const Index> some) { all.insert(all.end(), some.begin(), some.end()); });
      return all;
    };
    parts.next();
    const auto flags = numbers();
    if (flags.empty()) fail_mat(file_, "is damaged: a variable has no flags");
    variable.kind = std::uint32_t(flags[0]) & 0xFF;
    variable.is_complex = (flags[0] & 0x0800) != 0;
    if (variable.kind > last_class) return variable;  // opaque objects have no dims here
    parts.next();
    variable.dims = numbers();
    parts.next();
    variable.name = parts.text();
    return variable;
  }

  MatVariable chosen() const {
    std::vector<MatVariable> arrays;
    for (auto& variable : variables())
      if (variable.is_array()) arrays.push_back(std::move(variable));
    if (arrays.size() == 1) return arrays[0];
    if (arrays.empty())
      fail_mat(file_,
               "holds no sparse matrix and no array of numbers, which are what is read of MATLAB files");
    std::string names;
    for (const auto& array : arrays) names += (names.empty() ? "" : ", ") + in_quotes(array.name);
    fail_mat(file_, fmt::format("holds the arrays {}; expected one: save it to a file of its own", names));
  }

  // The numbers of the variable: number `part` of its parts behind flags, dimensions and name.
  std::unique_ptr<MatParts> part(int number) const {
    auto parts = std::make_unique<MatParts>(file_, variable_.place, swapped_);
    for (int i = 0; i < 3 + number; ++i) {
      parts->next();
      parts->skip();
    }
    parts->next();
    return parts;
  }

  Slab read_dense() const {
    Index size = 1;
    for (const Index dim : variable_.dims)
      if (__builtin_mul_overflow(size, dim, &size)) fail_mat(file_, fmt::format("{} is too large", name()));
    const auto numbers = part(0);
    if (numbers->count() != size)
      fail_mat(file_, fmt::format("{} has {} numbers, expected {} for {}", name(), numbers->count(), size,
                                  fmt::join(variable_.dims, "x")));
    const Index begin = part_begin(size, options_.share.part, options_.share.parts);
    const Index end = part_begin(size, options_.share.part + 1, options_.share.parts);
    SlabBlock block(int(variable_.dims.size()), 0);
    numbers->for_each_real([&](Index first, std::span<const double> values) {
      for (Index p = std::max(first, begin); p < std::min(first + std::ssize(values), end); ++p)
        take_cell(p, values[std::size_t(p - first)], block);
    });
    Slab slab = binary_slab(with_header(head_, variable_.dims, 0), 0);
    slab.head.nonzeros.reset();
    SlabBlocks blocks(slab.head.order);
    blocks.append(std::move(block));
    std::move(blocks).concatenate(slab);
    slab.facts.data_lines = slab.facts.num_nonzeros;
    return slab;
  }

  // As of other dense arrays: zeros are left out, and NaN are missing.
  void take_cell(Index place, double value, SlabBlock& block) const {
    if (std::isnan(value) || (value == 0 && !options_.keeps_dense_zeros())) return;
    checked_value(file_, place, value);
    for (std::size_t m = 0; m < variable_.dims.size(); ++m) {
      block.indices[m].push_back(place % variable_.dims[m]);
      place /= variable_.dims[m];
    }
    block.values.push_back(value);
  }

  Slab read_sparse() const {
    const Index num_columns = variable_.dims[1], num_rows = variable_.dims[0];
    if (variable_.dims.size() != 2) fail_mat(file_, fmt::format("{} is sparse, but no matrix", name()));
    const auto rows = part(0), pointers = part(1), values = part(2);
    if (pointers->count() != num_columns + 1)
      fail_mat(file_, fmt::format("{} has {} beginnings of columns, expected {}", name(), pointers->count(),
                                  num_columns + 1));
    const Index num_stored = std::min(rows->count(), values->count());
    const Index nonzeros = last_pointer(*pointers, num_stored);
    const Index begin = part_begin(nonzeros, options_.share.part, options_.share.parts);
    const Index end = part_begin(nonzeros, options_.share.part + 1, options_.share.parts);
    Slab slab = binary_slab(with_header(head_, variable_.dims, nonzeros), end - begin);
    rows->for_each_index([&](Index first, std::span<const Index> some) {
      for (Index z = std::max(first, begin); z < std::min(first + std::ssize(some), end); ++z)
        slab.indices[0][std::size_t(z - begin)] =
            checked_index(file_, z, 0, std::uint64_t(some[std::size_t(z - first)]), num_rows);
    });
    Index z = 0;
    part(1)->for_each_index([&](Index first, std::span<const Index> ends) {
      for (std::size_t i = 0; i < ends.size(); ++i)
        for (; z < std::min(ends[i], end); ++z)
          if (z >= begin) slab.indices[1][std::size_t(z - begin)] = first + Index(i) - 1;
    });
    values->for_each_real([&](Index first, std::span<const double> some) {
      for (Index at = std::max(first, begin); at < std::min(first + std::ssize(some), end); ++at)
        slab.values[std::size_t(at - begin)] = checked_value(file_, at, some[std::size_t(at - first)]);
    });
    return slab;
  }

  // Checks where the columns begin, and returns where the last one ends.
  Index last_pointer(MatParts& pointers, Index num_stored) const {
    Index last = 0;
    pointers.for_each_index([&](Index first, std::span<const Index> begins) {
      for (std::size_t i = 0; i < begins.size(); ++i) {
        const bool is_first = first == 0 && i == 0;
        if (begins[i] < last || begins[i] > num_stored || (is_first && begins[i] != 0))
          fail_mat(file_,
                   fmt::format("column {} of {} begins at entry {}, expected one from {} to {}",
                               first + Index(i) + 1, name(), begins[i], last, is_first ? 0 : num_stored));
        last = begins[i];
      }
    });
    return last;
  }

  const InputFile& file_;
  const FileHead& head_;
  const ReadOptions& options_;
  bool swapped_ = false;
  MatVariable variable_;
};

}  // namespace

Slab read_mat_tensor(const InputFile& file, const FileHead& head, const ReadOptions& options) {
  return MatFile(file, head, options).read();
}

std::vector<StoredArray> describe_mat(const InputFile& file) {
  return MatFile(file, {}, {}).describe();
}

bool begins_like_mat(std::string_view begin) {
  return begin.size() >= std::size_t(mat_head_bytes) && begin.starts_with("MATLAB 5.0 MAT-file") &&
         (begin.substr(126, 2) == "IM" || begin.substr(126, 2) == "MI");
}

}  // namespace polyad::io
