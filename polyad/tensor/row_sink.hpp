#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "polyad/base/matrix.hpp"

namespace polyad {

// The form of the rows of a factor in a file.
enum class RowForm : std::int32_t { text, doubles };

// A piece of a file, and its CRC-32 where the format has one.
struct StoredPiece {
  Index bytes = 0;
  std::uint32_t crc = 0;
};

// How a process writes its share of the rows of a model into a file that another one has created. Its
// functions do not communicate; they may throw.
struct RowSink {
  std::function<bool(const std::string& file)> open;  // false: this process has no such file
  // The rows of a mode from `first` on as they are stored.
  std::function<std::string(int mode, RowForm form, Index first, const Matrix<double>& rows)> store;
  std::function<std::uint32_t(std::string_view bytes)> crc;
  std::function<void(Index offset, std::string_view bytes)> write;
  std::function<void()> close;  // makes the bytes durable
};

// Where all rows of a mode are to be stored.
struct FilePlace {
  int mode = 0;
  RowForm form = RowForm::text;
  std::string file;
  Index offset = 0;
};
// Writes them by all processes; returns the pieces in the order of the file, or nothing if some process
// cannot open it.
using WriteTogether = std::function<std::optional<std::vector<StoredPiece>>(const FilePlace& place)>;

}  // namespace polyad
