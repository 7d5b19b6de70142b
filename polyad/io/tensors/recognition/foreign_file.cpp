#include "polyad/io/tensors/recognition/foreign_file.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "polyad/base/error.hpp"

namespace polyad::io {
namespace {

using namespace std::string_view_literals;

struct Kind {
  std::size_t offset;
  std::string_view magic;
  std::string_view sentence;
  bool is_table = false;  // that can be written as csv
};

constexpr std::array kinds{
    Kind{0, "PAR1"sv,
         "is a Parquet file, which is read where Polyad was built with Apache Arrow; write it as csv first",
         true},
    Kind{0, "ARROW1"sv,
         "is an Arrow file, which is read where Polyad was built with Apache Arrow; write it as csv first",
         true},
    Kind{0, "MATLAB 5.0 MAT-file"sv,
         "is a MATLAB file (.mat); write the tensor as text first, as export_data of Tensor Toolbox does"},
    Kind{0, "MATLAB 7.3 MAT-file"sv,
         "is a MATLAB file (.mat); write the tensor as text first, as export_data of Tensor Toolbox does"},
    Kind{0, "\x89HDF\r\n\x1a\n"sv, "is an HDF5 file; write the tensor as text, as csv or as .tns, first"},
    Kind{0, "CDF\x01"sv, "is a NetCDF file; write the tensor as text, as csv or as .tns, first"},
    Kind{0, "CDF\x02"sv, "is a NetCDF file; write the tensor as text, as csv or as .tns, first"},
    Kind{0, "SQLite format 3\0"sv, "is an SQLite database; write the table as csv first", true},
    Kind{0, "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"sv,
         "is an old Microsoft Office file (.xls); save the sheet as csv first", true},
    Kind{0,
         "\xFD"
         "7zXZ\0"sv,
         "is compressed by xz, and only gzip is read as it is; expand it, or read it as standard input: xz "
         "-dc FILE | polyad stats -"},
    Kind{4, "1AY&SY"sv,
         "is compressed by bzip2, and only gzip is read as it is; expand it, or read it as standard input: "
         "bzip2 -dc FILE | polyad stats -"},
    Kind{0, "\x28\xB5\x2F\xFD"sv,
         "is compressed by zstd, and only gzip is read as it is; expand it, or read it as standard input: "
         "zstd -dc FILE | polyad stats -"},
    Kind{0, "\x04\x22\x4D\x18"sv,
         "is compressed by lz4, and only gzip is read as it is; expand it, or read it as standard input: lz4 "
         "-dc FILE | polyad stats -"},
    Kind{0, "\x1F\x9D"sv,
         "is compressed by compress, and only gzip is read as it is; expand it, or read it as standard "
         "input: zcat FILE | polyad stats -"},
    Kind{0, "7z\xBC\xAF\x27\x1C"sv,
         "is a 7z archive; unpack it, or read its only file as standard input: 7z x -so FILE | polyad stats "
         "-"},
    Kind{0, "Rar!\x1A\x07"sv,
         "is a RAR archive; unpack it, or read its only file as standard input: unrar p -inul FILE | polyad "
         "stats -"},
    Kind{257, "ustar"sv,
         "is a tar archive; unpack it, or read its only file as standard input: tar -xOf FILE | polyad stats "
         "-"},
    Kind{0,
         "\x7F"
         "ELF"sv,
         "is a program or a library (ELF), not a tensor"},
    Kind{0, "\x89PNG\r\n\x1a\n"sv, "is a PNG image, not a tensor"},
    Kind{0, "\xFF\xFE\0\0"sv, "is a text in UTF-32; iconv -f UTF-32 -t UTF-8 makes one that can be read"},
    Kind{0, "\xFF\xFE"sv, "is a text in UTF-16; iconv -f UTF-16 -t UTF-8 makes one that can be read"},
    Kind{0, "\xFE\xFF"sv, "is a text in UTF-16; iconv -f UTF-16 -t UTF-8 makes one that can be read"},
    Kind{0, "\xFF\xD8\xFF"sv, "is a JPEG image, not a tensor"},
    Kind{0, "GIF8"sv, "is a GIF image, not a tensor"},
    Kind{0, "II*\0"sv, "is a TIFF image, not a tensor"},
    Kind{0, "MM\0*"sv, "is a TIFF image, not a tensor"},
    Kind{0, "%PDF-"sv, "is a PDF document, not a tensor"},
    Kind{0, "\x80\x04\x95"sv, "is a Python pickle, which only Python reads; write the tensor as text first"},
    Kind{0, "\x80\x05\x95"sv, "is a Python pickle, which only Python reads; write the tensor as text first"},
};

std::string name_columns() {
  return ", and name the columns by " + option_name("columns");
}

// A text may begin with the letters that also begin some binaries.
bool may_be_text(std::string_view letters, std::string_view begin) {
  const auto is_letter = [](char c) { return c >= ' ' && c <= '~'; };
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < '\t'; };
  return letters != "%PDF-" && std::ranges::all_of(letters, is_letter) &&
         std::ranges::none_of(begin, is_control);
}

// The name of the first member of a zip archive, and what follows it.
std::string_view first_member(std::string_view begin) {
  constexpr std::size_t name_offset = 30;
  return begin.substr(std::min(name_offset, begin.size()));
}

// A zip archive by the name of its first member.
std::string kind_of_zip(std::string_view begin) {
  const auto name = first_member(begin);
  if (name.starts_with("[Content_Types].xml") || name.starts_with("_rels/") || name.starts_with("xl/"))
    return "is an Excel or other Office file (.xlsx); save the sheet as csv first" + name_columns();
  if (name.starts_with("mimetypeapplication/vnd.oasis"))
    return "is an OpenDocument file (.ods); save the sheet as csv first" + name_columns();
  if (begins_like_npz(begin))
    return "is an .npz archive of NumPy arrays, which predict and convert read as a Kruskal tensor; expected "
           "a sparse matrix or array, as save_npz of SciPy or of pydata/sparse writes it, with the arrays "
           "data "
           "and shape; a dense array is written by numpy.save";
  return "is a zip archive; unpack it, or read its only file as standard input: unzip -p FILE | polyad stats "
         "-";
}

}  // namespace

bool begins_like_npz(std::string_view begin) {
  return begin.starts_with("PK\x03\x04") &&
         first_member(begin).substr(0, 128).find(".npy") != std::string_view::npos;
}

std::string foreign_kind(std::string_view begin) {
  if (begin.starts_with("PK\x03\x04") || begin.starts_with("PK\x05\x06")) return kind_of_zip(begin);
  const auto found = std::ranges::find_if(kinds, [&](const Kind& kind) {
    return begin.size() >= kind.offset && begin.substr(kind.offset).starts_with(kind.magic) &&
           !may_be_text(kind.magic, begin);
  });
  if (found == kinds.end()) return "";
  return std::string(found->sentence) + (found->is_table ? name_columns() : "");
}

}  // namespace polyad::io
