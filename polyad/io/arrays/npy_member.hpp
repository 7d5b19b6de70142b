#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "polyad/io/arrays/npy_head.hpp"
#include "polyad/io/bytes/zip_archive.hpp"

namespace polyad::io {

// A NumPy array in a zip archive, read once from its beginning: numbers of any kind and byte order.
class NpyMember {
 public:
  // Throws Error{bad_input} if it is no array of such elements, or has another length than its shape says.
  // `name` is its name in messages. The file and the member must outlive this object.
  NpyMember(const InputFile& file, const ZipMember& member, std::string name,
            NpyElements elements = NpyElements::numbers);

  const NpyHead& head() const { return head_; }
  const std::vector<Index>& shape() const { return head_.shape; }
  bool by_columns() const { return head_.by_columns; }  // Fortran order
  Index size() const { return size_; }                  // number of elements

  // Passes on all numbers, some at a time, each time with the position of the first of them; then verifies
  // the checksum.
  template <class Number>
  using ChunkFn = std::function<void(Index first, std::span<const Number> numbers)>;
  void for_each_real(const ChunkFn<double>& fn);
  // Throws Error{bad_input} unless they are whole numbers. One beyond 2^63 - 1 becomes that.
  void for_each_index(const ChunkFn<Index>& fn);
  std::vector<Index> indices();
  std::string text();  // of an array of a single text

  [[noreturn]] void fail(const std::string& why) const;

 private:
  template <class Number, class Convert>
  void for_each(const ChunkFn<Number>& fn, Convert convert);

  const InputFile& file_;
  std::string name_;
  ZipMemberReader bytes_;
  NpyHead head_;
  Index size_ = 0;
};

}  // namespace polyad::io
