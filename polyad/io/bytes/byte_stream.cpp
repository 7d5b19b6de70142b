#include "polyad/io/bytes/byte_stream.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "polyad/base/error.hpp"
#include "polyad/io/bytes/expansion.hpp"

namespace polyad::io {
namespace {

constexpr Index reading_step = Index(1) << 16;
constexpr std::size_t max_line_bytes = std::size_t(1) << 26;
constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";  // with which some programs begin their UTF-8

}  // namespace

ByteStream::ByteStream(const InputFile& file, Index stored_bytes_per_step)
    : file_(file), step_bytes_(stored_bytes_per_step) {
  if (!file.is_gzip()) return;
  inflater_ = std::make_unique<z_stream>();
  if (inflateInit2(inflater_.get(), gzip_window) != Z_OK)
    throw Error(Errc::resource, "zlib has no memory left");
}

ByteStream::~ByteStream() {
  if (inflater_) inflateEnd(inflater_.get());
}

Index ByteStream::num_steps() const {
  return (file_.size() + step_bytes_ - 1) / step_bytes_;
}

bool ByteStream::next(std::string& out) {
  if (!inflater_) {
    const std::size_t before = out.size();
    out.resize(before + std::size_t(step_bytes_));
    const Index got = file_.read_some(stored_position_, std::span(out).subspan(before));
    out.resize(before + std::size_t(got));
    stored_position_ += got;
    return got > 0;
  }
  std::vector<char> stored(std::size_t(std::max<Index>(step_bytes_, 1)));
  const Index got = file_.read_some(stored_position_, stored);
  stored_position_ += got;
  if (got == 0) check_complete();
  inflate_into(out, std::span(stored).first(std::size_t(got)));
  return got > 0;
}

void ByteStream::inflate_into(std::string& out, std::span<char> stored) {
  z_stream& z = *inflater_;
  z.next_in = reinterpret_cast<Bytef*>(stored.data());
  z.avail_in = uInt(stored.size());
  while (true) {
    if (member_complete_) {
      while (z.avail_in > 0 && *z.next_in == 0) {  // zeros may fill up the last block, as gzip allows
        ++z.next_in;
        --z.avail_in;
      }
      if (z.avail_in == 0) return;
      inflateReset(&z);  // gzip files may be several, one after the other
      member_complete_ = false;
    }
    const std::size_t before = out.size(), space = 4 * stored.size() + 4096;
    out.resize(before + space);
    z.next_out = reinterpret_cast<Bytef*>(out.data() + before);
    z.avail_out = uInt(space);
    const int status = inflate(&z, Z_NO_FLUSH);
    out.resize(out.size() - z.avail_out);
    inflated_ += Index(space - z.avail_out);
    if (inflated_ > max_expanded(file_.size()))
      throw Error(
          Errc::bad_input,
          fmt::format("is gzip that expands to more than {} bytes, over 100 times its size, which texts "
                      "of distinct coordinates or names do not; expand it with gunzip first if it should",
                      Index(max_expanded(file_.size()))),
          {file_.path().string(), 0});
    if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
      throw Error(Errc::bad_input,
                  fmt::format("is damaged gzip near byte {}: {}", stored_position_ - Index(z.avail_in),
                              z.msg != nullptr ? z.msg : "unknown reason"),
                  {file_.path().string(), 0});
    member_complete_ = status == Z_STREAM_END;
    if (!member_complete_ && z.avail_in == 0 && z.avail_out > 0) return;
  }
}

void ByteStream::check_complete() const {
  if (!member_complete_)
    throw Error(Errc::bad_input,
                fmt::format("is truncated gzip: the stream does not end within its {} bytes", file_.size()),
                {file_.path().string(), 0});
}

LineReader::LineReader(const InputFile& file) : file_(file), stream_(file, reading_step) {}

bool LineReader::fill() {
  consumed_ += Index(position_);
  buffer_.erase(0, position_);
  position_ = 0;
  return stream_.next(buffer_);
}

// A text without any line feed but with carriage returns between its lines, as old Macintosh programs write
// it, would be one line.
void LineReader::refuse_carriage_returns() const {
  const auto at = std::string_view(buffer_).find('\r', position_);
  if (at == std::string_view::npos || at + 1 >= buffer_.size()) return;
  throw Error(Errc::bad_input,
              "its lines end in carriage returns alone; write line feeds, as in: tr '\\r' '\\n' < OLD > NEW",
              {file_.path().string(), 0});
}

bool LineReader::next(std::string_view& line) {
  std::size_t end = buffer_.find('\n', position_);
  while (end == std::string::npos && buffer_.size() - position_ < max_line_bytes) {
    const std::size_t searched = buffer_.size() - position_;
    if (!fill()) break;
    end = buffer_.find('\n', searched);
  }
  if (end == std::string::npos) {
    if (line_number_ == 0) refuse_carriage_returns();
    end = buffer_.size();
  }
  if (end == position_ && end == buffer_.size()) return false;
  line = std::string_view(buffer_).substr(position_, end - position_);
  if (line.ends_with('\r')) line.remove_suffix(1);
  line_begin_ = next_begin();
  if (line_number_ == 0 && line.starts_with(byte_order_mark)) {
    line.remove_prefix(byte_order_mark.size());
    line_begin_ += Index(byte_order_mark.size());
  }
  position_ = std::min(end + 1, buffer_.size());
  ++line_number_;
  return true;
}

Index line_number_at(const InputFile& file, Index offset) {
  ByteStream stream(file, reading_step);
  Index line = 1, position = 0;
  for (std::string bytes; position < offset && stream.next(bytes); bytes.clear()) {
    const auto before = bytes.begin() + std::min<Index>(offset - position, Index(bytes.size()));
    line += std::count(bytes.begin(), before, '\n');
    position += Index(bytes.size());
  }
  return line;
}

}  // namespace polyad::io
