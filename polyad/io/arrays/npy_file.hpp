#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

#include "polyad/io/arrays/npy_head.hpp"
#include "polyad/io/bytes/input_file.hpp"
#include "polyad/io/bytes/staged_file.hpp"

namespace polyad::io {

// Reads the header of an .npy file. Throws Error{bad_input} unless
// the file has the length that its shape requires.
NpyHead read_npy_head(const InputFile& file, NpyElements elements);

// A NumPy array with any number of dimensions in a file, read in parts. Several processes may open it.
class NpyFile {
 public:
  // Throws Error{bad_input} if it is not an .npy file of f8 or f4 with the length that its shape requires.
  explicit NpyFile(const std::filesystem::path& path);

  const NpyHead& head() const { return head_; }
  // Fills `into` with the numbers starting at the given position, in the order
  // of the file. Throws Error{bad_input} for a number that is not finite.
  template <class Real>
  void read(Index first, std::span<Real> into) const;
  // The same for every step-th number; the others are not checked.
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

// A file of known length that several processes write at once, each at its own positions: one
// of them creates it with NewPlacedFile, all open it as PlacedFile, and when all have written,
// the first commits it. Until then it is a temporary file at place(), next to its final name;
// devices are written directly. A full disk is Error{resource}, other failures are Error{io}.
class NewPlacedFile {
 public:
  NewPlacedFile(const std::filesystem::path& path, Index bytes, Existing existing = Existing::replaced);
  const std::filesystem::path& place() const { return place_; }
  void commit();

 private:
  std::filesystem::path place_;
  std::unique_ptr<StagedFile> staged_;  // null: a device
};

// Throws Error{io} for files that cannot be written at arbitrary positions, such as pipes.
void check_placed_file(const std::filesystem::path& path);

class PlacedFile {
 public:
  // `path` is for messages.
  PlacedFile(const std::filesystem::path& path, const std::filesystem::path& place);
  ~PlacedFile();
  PlacedFile(const PlacedFile&) = delete;
  PlacedFile& operator=(const PlacedFile&) = delete;

  void write(Index offset, std::string_view bytes) const;
  // Makes what this process has written durable.
  void sync() const;

 private:
  std::filesystem::path path_;
  int descriptor_;
};

}  // namespace polyad::io
