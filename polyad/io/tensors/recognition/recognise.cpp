#include "polyad/io/tensors/recognition/recognise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "polyad/base/error.hpp"
#include "polyad/io/tensors/binary/array_tensor.hpp"
#include "polyad/io/tensors/recognition/foreign_file.hpp"
#include "polyad/io/tensors/recognition/head_lines.hpp"
#include "polyad/io/tensors/recognition/table_head.hpp"
#include "polyad/io/tensors/recognition/text_heads.hpp"
#include "polyad/io/text/field_splitter.hpp"
#include "polyad/io/text/number_text.hpp"

namespace polyad::io {
namespace {

// Users, items and small ratings are followed by seconds since 1970: no tensor index looks like that.
bool looks_like_u_data(const HeadLines& lines) {
  if (lines.words().size() != 4 || std::ranges::count(lines.line(), '\t') != 3) return false;
  const auto rating = parse_real(lines.words()[2]);
  const auto time = parse_index(lines.words()[3]);
  return lines.has_only_whole_numbers() && rating && *rating <= 10 && time && *time >= 100'000'000;
}

bool has_letters(std::string_view line) {
  return std::ranges::any_of(line, [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); });
}

bool looks_like_csv(std::string_view line) {
  if (line.find_first_of(",;|") != std::string_view::npos) return true;
  return line.find('\t') != std::string_view::npos && has_letters(line) &&
         !parse_index(split_blanks(line)[0]);
}

// Whether the lines are pairs, which have no value: the first would be taken for the order and the nonzeros.
bool looks_like_pairs(const InputFile& file) {
  HeadLines lines(file);
  constexpr int enough = 4;
  for (int line = 0; line < enough && lines.next(); ++line)
    if (lines.words().size() != 2 || !lines.has_only_whole_numbers()) return false;
  return lines.line_number() > 2;
}

// Two whole numbers on the first line are a header, of order and nonzeros. But coordinates of a model may
// leave out the value: then the lines that follow must look like those behind a header.
bool begins_with_a_count(const InputFile& file, const HeadLines& first, const IndexSpace* space) {
  if (first.words().size() > 2 || !first.has_only_whole_numbers()) return false;
  if (space == nullptr || first.words().size() == 1) return true;
  const Index order = *parse_index(first.words()[0]);
  HeadLines lines(file);
  lines.next();
  if (!lines.next() || Index(lines.words().size()) != order) return false;
  if (!lines.next()) return space->order() != 2;
  return Index(lines.words().size()) == order + 1;
}

// A line with the number of triples and lines of three indices, where HiParTI has the order, dims and values.
bool looks_like_openke(const InputFile& file) {
  constexpr Index enough = 8;
  HeadLines lines(file);
  if (!lines.next() || lines.words().size() != 1) return false;
  const auto count = parse_index(lines.words()[0]);
  Index found = 0;
  while (found < enough && lines.next()) {
    if (lines.words().size() != 3 || !lines.has_only_whole_numbers()) return false;
    ++found;
  }
  return count && (found == enough ? *count >= enough : *count == found) && found > 1;
}

FileHead tns_head(const InputFile& file, HeadLines& lines, const IndexSpace* space) {
  auto head = plain_head(lines, TensorFormat::tns, space);
  if (space != nullptr || head.has_own_comments) return head;
  head.is_ragged = looks_like_lists(file, head.data_begin);
  if (auto doubt = doubt_about_value(file, head.data_begin); !doubt.empty())
    head.notes.push_back(std::move(doubt));
  return head;
}

FileHead text_head(const InputFile& file, const ReadOptions& options) {
  const IndexSpace* const space = options.space;
  HeadLines lines(file);
  if (begins_like_matrix_market(file)) return matrix_market_head(file, lines);
  if (!lines.next()) {
    if (lines.noted_nonzeros() != Index(0) || lines.noted_dims().size() < 2)
      throw Error(Errc::bad_input,
                  file.size() == 0 ? "is empty" : "holds no nonzeros, only comments and blank lines",
                  {file.path().string(), 0});
    FileHead empty;
    lines.check_order(Index(lines.noted_dims().size()));
    empty.order = int(lines.noted_dims().size());
    empty.noted_dims = lines.noted_dims();
    empty.data_begin = std::numeric_limits<Index>::max();
    return empty;
  }
  const auto word = lines.words()[0];
  if (word == "sptensor" || word == "tensor" || word == "matrix") return toolbox_head(lines);
  if (word == "ktensor" || word == "facmatrix")
    lines.fail("holds a Kruskal tensor (factors), where a tensor's nonzeros were expected");
  const auto table = [&] { return table_head(file, lines.line_begin(), lines.line_number(), options); };
  if (asks_for_table(options)) return table();
  if (lines.line().find("::") != std::string_view::npos)
    return movielens_head(lines, TensorFormat::movielens_colons, space);
  if (looks_like_csv(lines.line())) return table();
  if (looks_like_u_data(lines) && (space == nullptr || space->order() == 2)) {
    auto head = movielens_head(lines, TensorFormat::movielens_tabs, space);
    if (space == nullptr)  // else there was no doubt
      head.notes.emplace_back("read as MovieLens u.data (user, item, rating, time); " +
                              option_name("LoadOptions::format") + " tns reads it as a tensor of order 3");
    return head;
  }
  if (space == nullptr && looks_like_pairs(file)) refuse_pairs(lines);
  if (looks_like_openke(file)) return openke_head(lines);
  if (begins_with_a_count(file, lines, space)) return counted_head(lines);
  if (looks_like_names(file, lines.line_begin())) return table();
  if (!parse_real(word)) {
    if (const auto doubt = doubt_about_lines(file, lines.line_begin()); !doubt.empty()) lines.fail(doubt);
    lines.fail(
        fmt::format("{} is neither a number nor a header that Polyad knows (sptensor, tensor, matrix, "
                    "%%MatrixMarket, column names)",
                    in_quotes(word)));
  }
  return tns_head(file, lines, space);
}

std::string not_as_stated(std::string_view found, TensorFormat stated) {
  return fmt::format("is {}, not {} as {} says", found, traits(stated).name,
                     option_name("LoadOptions::format"));
}

FileHead text_head_as(const InputFile& file, TensorFormat format, const ReadOptions& options) {
  const IndexSpace* const space = options.space;
  HeadLines lines(file);
  if (format == TensorFormat::matrix_market) return matrix_market_head(file, lines);
  if (!lines.next()) return text_head(file, options);  // empty, or it says why not
  switch (format) {
    case TensorFormat::tns:
    case TensorFormat::libmf:
      return plain_head(lines, format, space);
    case TensorFormat::movielens_tabs:
    case TensorFormat::movielens_colons:
      return movielens_head(lines, format, space);
    case TensorFormat::adjacency:
      return adjacency_head(lines, options);
    case TensorFormat::wide:
    case TensorFormat::csv:
      return table_head(file, lines.line_begin(), lines.line_number(), options);
    default:
      break;
  }
  FileHead head = text_head(file, options);
  if (head.format != format) lines.fail(not_as_stated(traits(head.format).name, format));
  return head;
}

std::optional<TensorFormat> binary_format(const InputFile& file) {
  std::array<char, 512> bytes{};
  const auto got = std::size_t(file.read_some(0, bytes));
  const std::string_view text(bytes.data(), got);
  if (text.starts_with("\x93PTB")) return TensorFormat::ptb;
  if (text.starts_with("sptn")) return TensorFormat::genten;
  if (text.starts_with("\x93NUMPY")) return TensorFormat::npy;
  if (begins_like_mat(text)) return TensorFormat::mat;
  if (begins_like_npz(text) && holds_sparse_array(read_zip_directory(file))) return TensorFormat::npz;
  if (const auto foreign = foreign_kind(text); !foreign.empty())
    throw Error(Errc::bad_input, foreign, {file.path().string(), 0});
  if (text.find('\0') == std::string_view::npos) return std::nullopt;
  // int32 0, then a width of 4 or 8 as a 64-bit number, of this machine's byte order or the other.
  std::int32_t zero = 1;
  std::uint64_t width = 0;
  if (got >= 12) {
    std::memcpy(&zero, bytes.data(), sizeof zero);
    std::memcpy(&width, bytes.data() + sizeof zero, sizeof width);
  }
  const auto is_width = [](std::uint64_t w) { return w == 4 || w == 8; };
  if (zero == 0 && (is_width(width) || is_width(__builtin_bswap64(width)))) return TensorFormat::splatt;
  throw Error(Errc::bad_input,
              "is neither a text nor a binary tensor that Polyad knows (SPLATT, GenTen, ptb, NumPy, MATLAB)",
              {file.path().string(), 0});
}

// Texts are read through gzip; binaries, which are read at any place, cannot be.
void refuse_compressed_binary(const InputFile& file) {
  std::string head;
  ByteStream(file, 1 << 12).next(head);
  if (head.find('\0') == std::string::npos) return;
  const auto foreign = foreign_kind(head);
  throw Error(Errc::bad_input,
              foreign.empty() ? "holds a binary inside gzip: uncompress it first" : "inside gzip, " + foreign,
              {file.path().string(), 0});
}

// The copy of a table of Parquet or Arrow, whose form is known.
FileHead recognise_copy(const InputFile& file, ReadOptions options) {
  const auto refuse = [&](const char* field) {
    throw Error(Errc::bad_option, option_name(field) + " is for texts; this is a table of Parquet or Arrow",
                {file.path().string(), 0});
  };
  if (options.table.header == false) refuse("header=false");
  if (!options.table.separator.empty() && options.table.separator != ",") refuse("separator");
  if (options.table.decimal_comma) refuse("decimal_comma");
  const auto format = options.format.value_or(TensorFormat::csv);
  if (format != TensorFormat::csv && format != TensorFormat::wide)
    throw Error(Errc::bad_input, not_as_stated("a table of Parquet or Arrow", format),
                {file.path().string(), 0});
  options.table.header = true;
  options.table.separator = ",";
  return text_head_as(file, format, options);
}

}  // namespace

std::string in_quotes(std::string_view word) {
  constexpr std::size_t longest = 40;
  std::string result = "'";
  for (const char c : word.substr(0, longest)) result += c >= ' ' && c <= '~' ? c : '?';
  return result + (word.size() > longest ? "...'" : "'");
}

FileHead recognise(const InputFile& file, const ReadOptions& options) {
  FileHead head;
  if (file.is_csv_copy()) {
    head = recognise_copy(file, options);
    head.path = file.path();
    return head;
  }
  if (file.is_gzip()) refuse_compressed_binary(file);
  if (const auto binary = file.is_gzip() ? std::nullopt : binary_format(file)) {
    if (options.format && *options.format != *binary)
      throw Error(Errc::bad_input, not_as_stated(traits(*binary).name, *options.format),
                  {file.path().string(), 0});
    head.format = *binary;
  } else if (options.format && is_binary(*options.format)) {
    throw Error(Errc::bad_input, not_as_stated("a text", *options.format), {file.path().string(), 0});
  } else {
    head = options.format ? text_head_as(file, *options.format, options) : text_head(file, options);
  }
  head.path = file.path();
  if (std::array<char, 1> last{}; head.has_own_comments && !file.is_gzip() && file.size() > 0) {
    file.read(file.size() - 1, last);
    head.ends_within_line = last[0] != '\n';
  }
  return head;
}

}  // namespace polyad::io
