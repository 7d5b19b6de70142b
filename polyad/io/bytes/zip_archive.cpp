// Zip archives as APPNOTE.TXT of PKWARE describes them, as far as .npz needs: read one part after the
// other, without encryption, stored or deflated.

#include "polyad/io/bytes/zip_archive.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "polyad/base/error.hpp"
#include "polyad/io/bytes/expansion.hpp"
#include "polyad/io/tensors/recognition/recognise.hpp"

namespace polyad::io {
namespace {

constexpr std::uint64_t local_mark = 0x04034b50, entry_mark = 0x02014b50;
constexpr std::uint64_t end64_mark = 0x06064b50, locator64_mark = 0x07064b50;
constexpr Index local_bytes = 30, entry_bytes = 46, end_bytes = 22, locator64_bytes = 20, end64_bytes = 56;
constexpr std::uint64_t zip64_id = 1;
constexpr std::size_t step_bytes = std::size_t(1) << 18;

[[noreturn]] void fail_archive(const InputFile& file, const std::string& why) {
  throw Error(Errc::bad_input, why, {file.path().string(), 0});
}

[[noreturn]] void fail_directory(const InputFile& file) {
  fail_archive(file, "is a damaged zip archive: its directory makes no sense");
}

[[noreturn]] void fail_member(const InputFile& file, const ZipMember& member, const std::string& why) {
  fail_archive(file, fmt::format("member {} is damaged: {}", in_quotes(member.name), why));
}

// Little-endian fields one after the other; to read beyond them is a damaged directory.
class Fields {
 public:
  Fields(const InputFile& file, std::string_view bytes) : file_(file), rest_(bytes) {}

  std::uint64_t next(std::size_t width) {
    std::uint64_t value = 0;
    const auto bytes = text(width);
    for (std::size_t i = 0; i < width; ++i) value |= std::uint64_t(std::uint8_t(bytes[i])) << (8 * i);
    return value;
  }
  std::string_view text(std::size_t size) {
    if (size > rest_.size()) fail_directory(file_);
    const auto result = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return result;
  }
  void expect(std::uint64_t mark) {
    if (next(4) != mark) fail_directory(file_);
  }
  // A size or a place: none can lie beyond the file, unless it counts inflated bytes.
  Index next_place(std::size_t width) {
    const auto value = next(width);
    if (value > std::uint64_t(file_.size())) fail_directory(file_);
    return Index(value);
  }
  bool empty() const { return rest_.empty(); }

 private:
  const InputFile& file_;
  std::string_view rest_;
};

std::string bytes_at(const InputFile& file, Index begin, Index count) {
  if (begin < 0 || count < 0 || begin > file.size() - count) fail_directory(file);
  std::string bytes(std::size_t(count), '\0');
  file.read(begin, bytes);
  return bytes;
}

struct DirectoryPlace {
  Index begin = 0, bytes = 0, num_members = 0;
};

// The end record of the archive; only a comment of the length that it states may follow.
Index find_end(const InputFile& file) {
  const Index searched = std::min(file.size(), end_bytes + 0xFFFF);
  const std::string tail = bytes_at(file, file.size() - searched, searched);
  auto at = std::string::npos;
  while (at != 0 &&
         (at = tail.rfind("PK\x05\x06", at == std::string::npos ? at : at - 1)) != std::string::npos) {
    const auto record = std::string_view(tail).substr(at);
    if (Index(record.size()) < end_bytes) continue;
    if (Fields(file, record.substr(20)).next(2) == record.size() - end_bytes)
      return file.size() - Index(record.size());
  }
  fail_archive(file, "is a truncated zip archive: the directory at its end is missing");
}

DirectoryPlace find_directory64(const InputFile& file, Index end) {
  const std::string locator = bytes_at(file, end - locator64_bytes, locator64_bytes);
  Fields fields(file, locator);
  fields.expect(locator64_mark);
  fields.next(4);
  const std::string record = bytes_at(file, fields.next_place(8), end64_bytes);
  Fields end64(file, record);
  end64.expect(end64_mark);
  end64.text(8 + 2 + 2 + 4 + 4 + 8);
  DirectoryPlace place;
  place.num_members = end64.next_place(8);
  place.bytes = end64.next_place(8);
  place.begin = end64.next_place(8);
  return place;
}

DirectoryPlace find_directory(const InputFile& file) {
  const Index end = find_end(file);
  const std::string record = bytes_at(file, end, end_bytes);
  Fields fields(file, record);
  fields.text(4 + 2 + 2 + 2);
  const auto num_members = fields.next(2), bytes = fields.next(4), begin = fields.next(4);
  if (num_members == in_zip64_16 || bytes == in_zip64_32 || begin == in_zip64_32)
    return find_directory64(file, end);
  return {Index(begin), Index(bytes), Index(num_members)};
}

// Takes the numbers that did not fit in 32 bits from the zip64 field.
void read_zip64(Fields extra, const InputFile& file, ZipMember& member) {
  while (!extra.empty()) {
    const auto id = extra.next(2), size = extra.next(2);
    Fields field(file, extra.text(size));
    if (id != zip64_id) continue;
    if (member.bytes == Index(in_zip64_32)) member.bytes = Index(field.next(8));
    if (member.stored_bytes == Index(in_zip64_32)) member.stored_bytes = field.next_place(8);
    if (member.header_begin == Index(in_zip64_32)) member.header_begin = field.next_place(8);
  }
}

void check_member(const InputFile& file, const ZipMember& member, std::uint64_t flags, std::uint64_t method) {
  const std::string name = "member " + in_quotes(member.name);
  if ((flags & 1) != 0) fail_archive(file, name + " is encrypted");
  if (method != 0 && method != 8)
    fail_archive(file, fmt::format("{} is compressed by method {}; only stored (0) and deflated (8) are read",
                                   name, method));
  // A size that deflate cannot reach is false, and not worth memory.
  const auto maximum = member.deflated ? max_inflated(std::min(member.stored_bytes, file.size()))
                                       : static_cast<__int128>(member.stored_bytes);
  const bool possible = member.stored_bytes <= file.size() && member.bytes >= 0 && member.bytes <= maximum &&
                        (member.deflated || member.bytes == member.stored_bytes);
  if (!possible)
    fail_archive(file, fmt::format("is a damaged zip archive: {} cannot make {} bytes of {}", name,
                                   member.bytes, member.stored_bytes));
  if (member.deflated && member.bytes > max_expanded(member.stored_bytes))
    fail_archive(file,
                 fmt::format("{} expands to {} bytes, over 100 times its size; store it uncompressed, as "
                             "numpy.savez does, if it should",
                             name, member.bytes));
}

// Where the member's bytes begin: behind its own header, which repeats what the directory says. Only the
// name is compared, because writers that cannot go back leave the sizes out; but it is for every member, so
// that damage to a name does not hide an array.
Index find_bytes(const InputFile& file, const ZipMember& member) {
  const std::string header = bytes_at(file, member.header_begin, local_bytes);
  Fields fields(file, header);
  if (fields.next(4) != local_mark) fail_member(file, member, "its header is not where the directory says");
  fields.text(22);
  const auto name_bytes = Index(fields.next(2)), extra_bytes = Index(fields.next(2));
  const std::string name = bytes_at(file, member.header_begin + local_bytes, name_bytes);
  if (name != member.name) fail_member(file, member, fmt::format("its header names it {}", in_quotes(name)));
  const Index begin = member.header_begin + local_bytes + name_bytes + extra_bytes;
  if (begin > file.size() - member.stored_bytes)
    fail_member(file, member, "it reaches beyond the end of the file");
  return begin;
}

ZipMember read_entry(const InputFile& file, Fields& fields) {
  ZipMember member;
  fields.expect(entry_mark);
  fields.text(2 + 2);
  const auto flags = fields.next(2), method = fields.next(2);
  fields.text(2 + 2);
  member.deflated = method == 8;
  member.crc = std::uint32_t(fields.next(4));
  member.stored_bytes = Index(fields.next(4));
  member.bytes = Index(fields.next(4));
  const auto name_bytes = fields.next(2), extra_bytes = fields.next(2), comment_bytes = fields.next(2);
  fields.text(2 + 2 + 4);
  member.header_begin = Index(fields.next(4));
  member.name = fields.text(name_bytes);
  read_zip64(Fields(file, fields.text(extra_bytes)), file, member);
  fields.text(comment_bytes);
  check_member(file, member, flags, method);
  member.begin = find_bytes(file, member);
  return member;
}

}  // namespace

std::vector<ZipMember> read_zip_directory(const InputFile& file) {
  const DirectoryPlace place = find_directory(file);
  if (place.num_members > place.bytes / entry_bytes) fail_directory(file);
  const std::string directory = bytes_at(file, place.begin, place.bytes);
  Fields fields(file, directory);
  std::vector<ZipMember> members;
  std::set<std::string> names;
  for (Index i = 0; i < place.num_members; ++i) {
    members.push_back(read_entry(file, fields));
    if (!names.insert(members.back().name).second)
      fail_archive(file, fmt::format("member {} is there twice", in_quotes(members.back().name)));
  }
  if (!fields.empty()) fail_directory(file);  // its number of members is false
  return members;
}

ZipMemberReader::ZipMemberReader(const InputFile& file, const ZipMember& member)
    : file_(file),
      member_(member),
      position_(member.begin),
      stored_left_(member.stored_bytes),
      bytes_left_(member.bytes) {
  if (!member.deflated) return;
  auto inflater = std::make_unique<z_stream>();
  constexpr int raw_window = -15;  // zlib: the largest window, neither header nor trailer
  if (inflateInit2(inflater.get(), raw_window) != Z_OK)
    throw Error(Errc::resource, "zlib has no memory left");
  inflater_ = std::move(inflater);
}

ZipMemberReader::~ZipMemberReader() {
  if (inflater_) inflateEnd(inflater_.get());
}

void ZipMemberReader::fail(const std::string& why) const {
  fail_member(file_, member_, why);
}

void ZipMemberReader::read(std::span<char> into) {
  if (Index(into.size()) > bytes_left_)
    fail(fmt::format("it ends {} bytes too early", Index(into.size()) - bytes_left_));
  bytes_left_ -= Index(into.size());
  while (!into.empty()) {
    const auto part = into.first(std::min(into.size(), step_bytes));
    if (inflater_) {
      inflate_into(part);
    } else {
      file_.read(position_, part);
      position_ += Index(part.size());
    }
    crc_ = std::uint32_t(crc32(crc_, reinterpret_cast<const Bytef*>(part.data()), uInt(part.size())));
    into = into.subspan(part.size());
  }
}

void ZipMemberReader::inflate_into(std::span<char> into) {
  z_stream& z = *inflater_;
  z.next_out = reinterpret_cast<Bytef*>(into.data());
  z.avail_out = uInt(into.size());
  while (z.avail_out > 0) {
    if (z.avail_in == 0) {
      stored_.resize(std::min(step_bytes, std::size_t(stored_left_)));
      file_.read(position_, stored_);
      position_ += Index(stored_.size());
      stored_left_ -= Index(stored_.size());
      z.next_in = reinterpret_cast<Bytef*>(stored_.data());
      z.avail_in = uInt(stored_.size());
    }
    const int status = inflate(&z, Z_NO_FLUSH);
    if (status != Z_OK && (status != Z_STREAM_END || z.avail_out > 0))
      fail(z.msg != nullptr ? z.msg : "it does not inflate to its size");
  }
}

void ZipMemberReader::finish() {
  std::array<char, 4096> rest;
  while (bytes_left_ > 0)
    read(std::span(rest).first(std::size_t(std::min<Index>(bytes_left_, Index(rest.size())))));
  if (crc_ != member_.crc) fail(fmt::format("its checksum is {:08x}, expected {:08x}", crc_, member_.crc));
}

}  // namespace polyad::io
