#include "polyad/io/bytes/zip_writer.hpp"

#include <zlib.h>

#include <algorithm>
#include <cstdint>

namespace polyad::io {
namespace {

constexpr std::uint64_t plain_version = 20, zip64_version = 45;
constexpr std::uint64_t first_of_1980 = 1 << 5 | 1;  // a DOS date: years since 1980, month, day

void append_little(std::string& out, std::uint64_t value, int width) {
  for (int i = 0; i < width; ++i) out += char(value >> (8 * i) & 0xFF);
}

// What a member's own header and its entry in the directory have in common, from the version on.
void append_description(std::string& out, const ZipMember& member, bool zip64, std::size_t extra_bytes) {
  append_little(out, zip64 ? zip64_version : plain_version, 2);
  append_little(out, 0, 2);  // flags
  append_little(out, 0, 2);  // stored
  append_little(out, 0, 2);  // midnight
  append_little(out, first_of_1980, 2);
  append_little(out, member.crc, 4);
  append_little(out, zip64 ? in_zip64_32 : std::uint64_t(member.stored_bytes), 4);
  append_little(out, zip64 ? in_zip64_32 : std::uint64_t(member.bytes), 4);
  append_little(out, member.name.size(), 2);
  append_little(out, extra_bytes, 2);
}

std::string zip64_extra(const std::vector<Index>& numbers) {
  std::string extra;
  if (numbers.empty()) return extra;
  append_little(extra, 1, 2);
  append_little(extra, 8 * numbers.size(), 2);
  for (const Index number : numbers) append_little(extra, std::uint64_t(number), 8);
  return extra;
}

ZipMember described(const std::string& name, Index bytes, Index header_begin) {
  ZipMember member;
  member.name = name;
  member.header_begin = header_begin;
  member.bytes = member.stored_bytes = bytes;
  return member;
}

}  // namespace

std::uint32_t crc_of(std::string_view bytes, std::uint32_t before) {
  return std::uint32_t(crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

std::uint32_t crc_after(std::uint32_t before, std::uint32_t crc, Index bytes) {
  return std::uint32_t(crc32_combine(before, crc, off_t(bytes)));
}

// By steps, because an OutputFile keeps a copy of what it is given until that is written.
void ZipWriter::write(std::string_view bytes) {
  constexpr std::size_t step = std::size_t(1) << 20;
  position_ += Index(bytes.size());
  for (; !bytes.empty(); bytes.remove_prefix(std::min(step, bytes.size()))) out_.write(bytes.substr(0, step));
}

void ZipWriter::add(const std::string& name, std::string_view head, std::string_view body) {
  add(name, head, Parts{Index(body.size()), [&](const WriteText& take) { take(body); }});
}

std::string ZipWriter::member_header(const ZipMember& member) const {
  const bool zip64 = needs_zip64(member.bytes);
  const std::string extra =
      zip64_extra(zip64 ? std::vector{member.bytes, member.stored_bytes} : std::vector<Index>());
  std::string header = "PK\x03\x04";
  append_description(header, member, zip64, extra.size());
  return header + member.name + extra;
}

void ZipWriter::add(const std::string& name, std::string_view head, const Parts& body) {
  auto member = described(name, Index(head.size()) + body.bytes, position_);
  const auto add_to_crc = [&](std::string_view bytes) { member.crc = crc_of(bytes, member.crc); };
  add_to_crc(head);
  body.hand_out(add_to_crc);
  write(member_header(member));
  write(head);
  body.hand_out([&](std::string_view bytes) { write(bytes); });
  members_.push_back(member);
}

// The length of the header is known before its contents.
bool ZipWriter::add_shared(const std::string& name, std::string_view head, Index bytes,
                           const WriteThere& write_there) {
  auto member = described(name, Index(head.size()) + bytes, position_);
  const Index ahead = std::ssize(member_header(member)) + std::ssize(head);
  std::optional<std::uint32_t> crc;
  out_.share(ahead,
             [&](const std::filesystem::path& file, Index offset) { crc = write_there(file, offset); });
  if (!crc) return false;
  member.crc = crc_after(crc_of(head), *crc, bytes);
  write(member_header(member));
  write(head);
  out_.skip(bytes);
  position_ += bytes;
  members_.push_back(member);
  return true;
}

void ZipWriter::write_entry(const ZipMember& member) {
  const bool zip64 = needs_zip64(member.bytes), far = needs_zip64(member.header_begin);
  std::vector<Index> large;
  if (zip64) large = {member.bytes, member.stored_bytes};
  if (far) large.push_back(member.header_begin);
  const std::string extra = zip64_extra(large);
  std::string entry = "PK\x01\x02";
  append_little(entry, zip64_version, 2);  // made by
  append_description(entry, member, zip64, extra.size());
  append_little(entry, 0, 2 + 2 + 2);  // comment, disk, internal attributes
  append_little(entry, 0, 4);          // external attributes
  append_little(entry, far ? in_zip64_32 : std::uint64_t(member.header_begin), 4);
  write(entry + member.name + extra);
}

void ZipWriter::finish() {
  const Index begin = position_;
  for (const auto& member : members_) write_entry(member);
  const Index bytes = position_ - begin, end = position_;
  const bool zip64 = needs_zip64(begin) || needs_zip64(bytes) || members_.size() >= in_zip64_16;
  std::string tail;
  if (zip64) {
    tail += "PK\x06\x06";
    append_little(tail, 44, 8);  // the bytes of this record that follow
    append_little(tail, zip64_version, 2);
    append_little(tail, zip64_version, 2);
    append_little(tail, 0, 8);  // disks
    for (const auto number : {members_.size(), members_.size(), std::size_t(bytes), std::size_t(begin)})
      append_little(tail, number, 8);
    tail += "PK\x06\x07";
    append_little(tail, 0, 4);
    append_little(tail, std::uint64_t(end), 8);
    append_little(tail, 1, 4);
  }
  tail += "PK\x05\x06";
  append_little(tail, 0, 4);
  for (int twice = 0; twice < 2; ++twice) append_little(tail, zip64 ? in_zip64_16 : members_.size(), 2);
  append_little(tail, zip64 ? in_zip64_32 : std::uint64_t(bytes), 4);
  append_little(tail, zip64 ? in_zip64_32 : std::uint64_t(begin), 4);
  append_little(tail, 0, 2);
  write(tail);
}

}  // namespace polyad::io
