#include "polyad/io/output_file.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "polyad/base/error.hpp"

namespace polyad::io {
namespace {

constexpr std::size_t buffer_bytes = std::size_t(1) << 20;
constexpr int gzip_window = 15 + 16;

// Pipes and devices, and what the system shows as a file but is another process's or our own stream.
bool must_be_written_directly(const std::filesystem::path& path) {
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) return true;
  const auto name = std::filesystem::absolute(path, ignored).string();
  return name.starts_with("/dev/") || name.starts_with("/proc/");
}

bool is_out_of_space(int error) {
  return error == ENOSPC || error == EDQUOT || error == EFBIG;
}

}  // namespace

// A gzip stream whose bytes depend on the contents alone: zlib writes no name and no time.
struct OutputFile::Deflater {
  Deflater() {
    if (deflateInit2(&stream, 6, Z_DEFLATED, gzip_window, 8, Z_DEFAULT_STRATEGY) != Z_OK)
      throw Error(Errc::resource, "zlib has no memory left");
  }
  ~Deflater() { deflateEnd(&stream); }

  template <class Write>
  void deflate_all(std::string_view bytes, int flush, Write write) {
    std::string out(buffer_bytes, '\0');
    while (true) {
      const auto step = std::min<std::size_t>(bytes.size(), std::size_t(1) << 30);
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
      stream.avail_in = uInt(step);
      bytes.remove_prefix(step);
      do {
        stream.next_out = reinterpret_cast<Bytef*>(out.data());
        stream.avail_out = uInt(out.size());
        deflate(&stream, bytes.empty() ? flush : Z_NO_FLUSH);
        write(std::string_view(out).substr(0, out.size() - stream.avail_out));
      } while (stream.avail_out == 0);
      if (bytes.empty()) return;
    }
  }

  z_stream stream{};
};

OutputFile::OutputFile(const std::filesystem::path& path, Compression compression) : path_(path) {
  const bool direct = must_be_written_directly(path);
  if (!direct) {
    std::error_code ignored;
    // The file behind a link is replaced, not the link.
    target_ =
        std::filesystem::is_symlink(path, ignored) ? std::filesystem::weakly_canonical(path, ignored) : path;
    partial_ = target_.string() + ".partial";
  }
  if (compression == Compression::gzip) deflater_ = std::make_unique<Deflater>();
  const int flags = O_WRONLY | O_CLOEXEC | (direct ? 0 : O_CREAT | O_TRUNC);
  descriptor_ = open((direct ? path_ : partial_).c_str(), flags, 0666);
  if (descriptor_ < 0) {
    partial_.clear();
    fail(errno);
  }
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) close(descriptor_);
  if (!partial_.empty()) unlink(partial_.c_str());
}

void OutputFile::fail(int error) const {
  throw Error(is_out_of_space(error) ? Errc::resource : Errc::io,
              "cannot be written: " + std::generic_category().message(error), {path_.string(), 0});
}

void OutputFile::write(std::string_view bytes) {
  if (pending_.size() + bytes.size() < buffer_bytes) {
    pending_.append(bytes);
    return;
  }
  pass_on(pending_);
  pending_.clear();
  pass_on(bytes);  // large pieces are not copied
}

void OutputFile::pass_on(std::string_view bytes) {
  if (bytes.empty()) return;
  if (deflater_)
    deflater_->deflate_all(bytes, Z_NO_FLUSH, [&](std::string_view out) { write_stored(out); });
  else
    write_stored(bytes);
}

void OutputFile::write_stored(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t done = ::write(descriptor_, bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail(errno);
    bytes.remove_prefix(std::size_t(done));
  }
}

void OutputFile::commit() {
  if (deflater_)
    deflater_->deflate_all(pending_, Z_FINISH, [&](std::string_view out) { write_stored(out); });
  else
    write_stored(pending_);
  pending_.clear();
  // Some file systems tell only here that the disk is full.
  if (close(std::exchange(descriptor_, -1)) != 0) fail(errno);
  if (partial_.empty()) return;
  if (rename(partial_.c_str(), target_.c_str()) != 0) fail(errno);
  partial_.clear();
}

}  // namespace polyad::io
