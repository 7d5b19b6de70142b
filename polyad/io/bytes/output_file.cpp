#include "polyad/io/bytes/output_file.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "polyad/base/error.hpp"
#include "polyad/io/bytes/expansion.hpp"

namespace polyad::io {
namespace {

constexpr std::size_t buffer_bytes = std::size_t(1) << 20;

}  // namespace

bool is_written_directly(const std::filesystem::path& path) {
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  if (std::filesystem::is_directory(status)) return false;
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) return true;
  const auto name = std::filesystem::absolute(path, ignored).lexically_normal().string();
  return (name.starts_with("/dev/") && !name.starts_with("/dev/shm/")) || name.starts_with("/proc/");
}

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

OutputFile::OutputFile(const std::filesystem::path& path, Compression compression, Existing existing)
    : path_(path) {
  if (compression == Compression::gzip) deflater_ = std::make_unique<Deflater>();
  if (!is_written_directly(path)) {
    staged_ = std::make_unique<StagedFile>(path, existing);
    descriptor_ = staged_->descriptor();
    return;
  }
  descriptor_ = open(path_.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor_ < 0) fail_writing(path_, errno);
}

OutputFile::~OutputFile() {
  if (!staged_ && descriptor_ >= 0) close(descriptor_);
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
    if (done < 0) fail_writing(path_, errno);
    bytes.remove_prefix(std::size_t(done));
  }
}

void OutputFile::share(
    Index ahead, const std::function<void(const std::filesystem::path& name, Index offset)>& write_there) {
  pass_on(pending_);
  pending_.clear();
  const off_t here = lseek(descriptor_, 0, SEEK_CUR);
  if (here < 0) fail_writing(path_, errno);
  write_there(staged_->staged_path(), Index(here) + ahead);
}

void OutputFile::skip(Index bytes) {
  pass_on(pending_);
  pending_.clear();
  if (lseek(descriptor_, off_t(bytes), SEEK_CUR) < 0) fail_writing(path_, errno);
}

void OutputFile::commit() {
  if (deflater_)
    deflater_->deflate_all(pending_, Z_FINISH, [&](std::string_view out) { write_stored(out); });
  else
    write_stored(pending_);
  pending_.clear();
  if (staged_)
    staged_->commit();
  else if (close(std::exchange(descriptor_, -1)) != 0)
    fail_writing(path_, errno);
}

}  // namespace polyad::io
