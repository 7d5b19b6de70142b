#pragma once

#include <filesystem>
#include <span>
#include <string_view>

#include "polyad/io/input_file.hpp"
#include "polyad/io/npy_head.hpp"

namespace polyad::io {

// A NumPy array of any number of dimensions in a file, read by shares. Several processes may have it open.
class NpyFile {
 public:
  // Throws Error{bad_input} unless it is an .npy of f8 or f4 that is as long as its shape says.
  explicit NpyFile(const std::filesystem::path& path);

  const NpyHead& head() const { return head_; }
  // Fills `into` with the numbers from the first-named on, in the order of the file. Throws Error{bad_input}
  // for one that is not finite.
  template <class Real>
  void read(Index first, std::span<Real> into) const;
  // The same with every step-th number; those between may be anything.
  template <class Real>
  void read_apart(Index first, Index step, std::span<Real> into) const;
  [[noreturn]] void fail(const std::string& why) const;

 private:
  template <class Stored, class Bits, class Real>
  void read_as(Index first, std::span<Real> into) const;
  template <class Stored, class Bits, class Real>
  void read_apart_as(Index first, Index step, std::span<Real> into) const;
  template <class Stored, class Bits>
  Stored number(Bits bits) const;
  [[noreturn]] void fail_not_finite(double value, Index place) const;

  InputFile file_;
  NpyHead head_;
};

// A file of known length that several processes write at once, each at its own places: one of them creates
// it, all write, and when all have written one commits it. Until then it grows beside its name, as
// NAME.partial. A full disk is Error{resource}, all else Error{io}.
class PlacedFile {
 public:
  static void create(const std::filesystem::path& path, Index bytes);
  static void commit(const std::filesystem::path& path);
  static void discard(const std::filesystem::path& path) noexcept;

  explicit PlacedFile(const std::filesystem::path& path);
  ~PlacedFile();
  PlacedFile(const PlacedFile&) = delete;
  PlacedFile& operator=(const PlacedFile&) = delete;

  void write(Index offset, std::string_view bytes) const;

 private:
  std::filesystem::path path_;
  int descriptor_;
};

}  // namespace polyad::io
