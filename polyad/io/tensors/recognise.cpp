#include "polyad/io/tensors/recognise.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "polyad/base/error.hpp"
#include "polyad/io/tensors/array_tensor.hpp"
#include "polyad/io/tensors/foreign_file.hpp"
#include "polyad/io/tensors/table_head.hpp"
#include "polyad/io/text/field_splitter.hpp"
#include "polyad/io/text/number_text.hpp"

namespace polyad::io {
namespace {

using Words = std::vector<std::string_view>;

// The head of a text: its lines one after the other, comments aside, with what the comments of
// Polyad's own writer state.
class Head {
 public:
  explicit Head(const InputFile& file) : file_(file), lines_(file) {}

  // The next line that is neither blank nor a comment, or false at the end.
  bool next() {
    while (lines_.next(line_)) {
      words_ = split_blanks(line_);
      if (words_.empty()) continue;
      if (is_comment(words_[0]))
        read_comment();
      else
        return true;
    }
    words_.clear();
    return false;
  }
  void require_next(const std::string& expected) {
    if (!next()) fail(fmt::format("the file ends where {} should follow", expected));
  }

  std::string_view line() const { return line_; }
  const Words& words() const { return words_; }
  Index line_number() const { return lines_.line_number(); }
  Index line_begin() const { return lines_.line_begin(); }
  Index next_begin() const { return lines_.next_begin(); }
  const std::vector<Index>& noted_dims() const { return noted_dims_; }
  std::optional<Index> noted_nonzeros() const { return noted_nonzeros_; }
  bool has_own_comments() const { return has_own_comments_; }

  [[noreturn]] void fail(const std::string& why) const {
    throw Error(Errc::bad_input, why, {file_.path().string(), lines_.line_number()});
  }

  // A whole number of at least `least`, the word-th of this line.
  Index number(std::size_t word, Index minimum, const std::string& what) const {
    const auto value = parse_index(words_[word]);
    if (!value || *value < minimum)
      fail(fmt::format("{} is {}, not a whole number from {} on", what, in_quotes(words_[word]), minimum));
    return *value;
  }
  // This line as a list of dimensions.
  std::vector<Index> dims(int order) const {
    if (int(words_.size()) != order)
      fail(fmt::format("expected {} dimensions, as the order says, found {}", order, words_.size()));
    std::vector<Index> result;
    for (std::size_t m = 0; m < words_.size(); ++m)
      result.push_back(number(m, 1, fmt::format("dimension {}", m + 1)));
    return result;
  }
  void check_order(Index order) const {
    if (order < min_order || order > max_order)
      fail(fmt::format("a tensor of order {}: Polyad takes orders {} to {}", order, min_order, max_order));
  }

 private:
  void read_comment() {
    const auto colon = line_.find(':');
    if (colon == std::string_view::npos || words_.size() < 2 || words_[0] != "#") return;
    std::vector<Index> numbers;
    for (const auto word : split_blanks(line_.substr(colon + 1)))
      if (const auto n = parse_index(word)) numbers.push_back(*n);
    if (words_[1] == "dims:" && !numbers.empty() && *std::ranges::min_element(numbers) > 0) {
      noted_dims_ = numbers;
      begins_like_own_ = line_number() == 1 && line_ == fmt::format("# dims: {}", fmt::join(numbers, " "));
    }
    if (words_[1] == "nnz:" && numbers.size() == 1) {
      noted_nonzeros_ = numbers[0];
      has_own_comments_ =
          begins_like_own_ && line_number() == 2 && line_ == fmt::format("# nnz: {}", numbers[0]);
    }
  }

  const InputFile& file_;
  LineReader lines_;
  std::string_view line_;
  Words words_;
  std::vector<Index> noted_dims_;
  std::optional<Index> noted_nonzeros_;
  bool begins_like_own_ = false, has_own_comments_ = false;
};

bool all_whole_numbers(const Words& words) {
  return !words.empty() &&
         std::ranges::all_of(words, [](auto word) { return parse_index(word).has_value(); });
}

// The data begin with the line that `lines` has just read.
void begin_data_here(const Head& lines, FileHead& head) {
  head.data_begin = lines.line_begin();
  head.data_line = lines.line_number();
}

// The data begin with the next line, if there is one: a tensor may have no nonzeros.
void begin_data_after(Head& lines, FileHead& head) {
  if (lines.next())
    begin_data_here(lines, head);
  else
    head.data_begin = std::numeric_limits<Index>::max();
}

// Lines of coordinates for a model may omit the value: the number of fields decides.
void count_fields_for(const IndexSpace& space, const Head& lines, FileHead& head) {
  const auto found = int(lines.words().size());
  if (found != space.order() && found != space.order() + 1)
    lines.fail(
        fmt::format("expected {} indices, with or without a value behind, as the model has {} modes; "
                    "found {} fields",
                    space.order(), space.order(), found));
  head.order = space.order();
  head.has_values = found > space.order();
}

FileHead plain_head(Head& lines, TensorFormat format, const IndexSpace* space) {
  FileHead head;
  head.format = format;
  if (space != nullptr) {
    count_fields_for(*space, lines, head);
  } else {
    lines.check_order(Index(lines.words().size()) - 1);
    head.order = int(lines.words().size()) - 1;
  }
  if (format == TensorFormat::libmf) {
    if (head.order != 2)
      lines.fail(fmt::format("expected row, column and value, found {} fields", head.order + 1));
    head.index_base = 0;
  }
  if (int(lines.noted_dims().size()) == head.order) head.noted_dims = lines.noted_dims();
  head.noted_nonzeros = lines.noted_nonzeros();
  head.has_own_comments = lines.has_own_comments() && !head.noted_dims.empty();
  begin_data_here(lines, head);
  return head;
}

[[noreturn]] void refuse_pairs(const Head& lines) {
  lines.fail(
      fmt::format("a line of 2 fields makes a tensor of order 1: Polyad takes orders 2 to 16; {} 1,2 with {} "
                  "1 reads pairs "
                  "of names or ids as a matrix",
                  option_name("columns"), option_name("value")));
}

// HiParTI has a line with the order, extended FROSTT one with order and nonzeros; dims follow in both.
FileHead counted_head(Head& lines) {
  FileHead head;
  head.format = lines.words().size() == 1 ? TensorFormat::hiparti : TensorFormat::frostt;
  const Index order = lines.number(0, 0, "the order");
  if (head.format == TensorFormat::frostt) {
    if (order < min_order) refuse_pairs(lines);
    head.nonzeros = lines.number(1, 0, "the number of nonzeros");
  }
  lines.check_order(order);
  head.order = int(order);
  lines.require_next("the line of dimensions");
  head.dims = lines.dims(head.order);
  begin_data_after(lines, head);
  return head;
}

FileHead toolbox_head(Head& lines) {
  FileHead head;
  const auto kind = lines.words()[0];
  head.format = kind == "sptensor" ? TensorFormat::sptensor
                : kind == "tensor" ? TensorFormat::dense_tensor
                                   : TensorFormat::dense_matrix;
  lines.require_next("the order");
  const Index order = lines.number(0, 0, "the order");
  lines.check_order(order);
  head.order = int(order);
  lines.require_next("the line of dimensions");
  head.dims = lines.dims(head.order);
  if (head.format == TensorFormat::dense_matrix && head.order != 2)
    lines.fail(fmt::format("a matrix has 2 dimensions, found {}", head.order));
  if (head.format == TensorFormat::sptensor) {
    lines.require_next("the number of nonzeros");
    head.nonzeros = lines.number(0, 0, "the number of nonzeros");
  }
  begin_data_after(lines, head);
  return head;
}

std::string lower_case(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; });
  return result;
}

FileHead matrix_market_head(const InputFile& file, Head& lines) {
  std::string_view banner_line;
  LineReader first(file);
  if (!first.next(banner_line)) banner_line = "";
  const std::string banner = lower_case(banner_line);
  const Words words = split_blanks(banner);
  const auto fail = [&](const std::string& why) {
    throw Error(Errc::bad_input, why, {file.path().string(), 1});
  };
  if (words.size() != 5 || words[0] != "%%matrixmarket" || words[1] != "matrix")
    fail("expected the line '%%MatrixMarket matrix coordinate FIELD SYMMETRY'");
  if (words[2] != "coordinate")
    fail(fmt::format("MatrixMarket {} is not read: only coordinate is", in_quotes(words[2])));
  FileHead head;
  head.format = TensorFormat::matrix_market;
  head.order = 2;
  head.index_base = 1;
  head.has_values = words[3] != "pattern";
  if (head.has_values && words[3] != "real" && words[3] != "integer")
    fail(fmt::format("MatrixMarket field {} is not read: only real, integer and pattern are",
                     in_quotes(words[3])));
  head.symmetric = words[4] == "symmetric";
  if (!head.symmetric && words[4] != "general")
    fail(fmt::format("MatrixMarket symmetry {} is not read: only general and symmetric are",
                     in_quotes(words[4])));
  lines.require_next("the line of rows, columns and entries");
  if (lines.words().size() != 3) lines.fail("expected rows, columns and the number of entries");
  head.dims = {lines.number(0, 1, "the number of rows"), lines.number(1, 1, "the number of columns")};
  head.nonzeros = lines.number(2, 0, "the number of entries");
  begin_data_after(lines, head);
  return head;
}

FileHead movielens_head(Head& lines, TensorFormat format, const IndexSpace* space) {
  FileHead head;
  head.format = format;
  head.order = 2;
  head.separator = format == TensorFormat::movielens_tabs ? "\t" : "::";
  FieldSplitter splitter(head.separator);
  head.has_values = space == nullptr || !splitter.split(lines.line()) || splitter.fields().size() > 2;
  begin_data_here(lines, head);
  return head;
}

// Users, items and small ratings are followed by seconds since 1970: no tensor index looks like that.
bool looks_like_u_data(const Head& lines) {
  if (lines.words().size() != 4 || std::ranges::count(lines.line(), '\t') != 3) return false;
  const auto rating = parse_real(lines.words()[2]);
  const auto time = parse_index(lines.words()[3]);
  return all_whole_numbers(lines.words()) && rating && *rating <= 10 && time && *time >= 100'000'000;
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
  Head lines(file);
  constexpr int enough = 4;
  for (int line = 0; line < enough && lines.next(); ++line)
    if (lines.words().size() != 2 || !all_whole_numbers(lines.words())) return false;
  return lines.line_number() > 2;
}

// Two whole numbers on the first line are a header, of order and nonzeros. But coordinates of a model may
// leave out the value: then the lines that follow must look like those behind a header.
bool begins_with_a_count(const InputFile& file, const Head& first, const IndexSpace* space) {
  if (first.words().size() > 2 || !all_whole_numbers(first.words())) return false;
  if (space == nullptr || first.words().size() == 1) return true;
  const Index order = *parse_index(first.words()[0]);
  Head lines(file);
  lines.next();
  if (!lines.next() || Index(lines.words().size()) != order) return false;
  if (!lines.next()) return space->order() != 2;
  return Index(lines.words().size()) == order + 1;
}

// A line with the number of triples and lines of three indices, where HiParTI has the order, dims and values.
bool looks_like_openke(const InputFile& file) {
  constexpr Index enough = 8;
  Head lines(file);
  if (!lines.next() || lines.words().size() != 1) return false;
  const auto count = parse_index(lines.words()[0]);
  Index found = 0;
  while (found < enough && lines.next()) {
    if (lines.words().size() != 3 || !all_whole_numbers(lines.words())) return false;
    ++found;
  }
  return count && (found == enough ? *count >= enough : *count == found) && found > 1;
}

FileHead openke_head(Head& lines) {
  FileHead head;
  head.format = TensorFormat::openke;
  head.order = 3;
  head.has_values = false;
  head.index_base = 0;
  head.nonzeros = lines.number(0, 0, "the number of triples");
  begin_data_after(lines, head);
  return head;
}

FileHead adjacency_head(Head& lines, const ReadOptions& options) {
  FileHead head;
  head.format = TensorFormat::adjacency;
  head.order = 2;
  head.separator = options.table.separator;
  for (const auto* const separator : {"\t", "::", ";", "|", ",", " "})
    if (head.separator.empty() && lines.line().find(separator) != std::string_view::npos)
      head.separator = separator;
  if (head.separator.empty()) head.separator = " ";
  begin_data_here(lines, head);
  return head;
}

FileHead tns_head(const InputFile& file, Head& lines, const IndexSpace* space) {
  auto head = plain_head(lines, TensorFormat::tns, space);
  if (space != nullptr || head.has_own_comments) return head;
  head.is_ragged = looks_like_lists(file, head.data_begin);
  if (auto doubt = doubt_about_value(file, head.data_begin); !doubt.empty())
    head.notes.push_back(std::move(doubt));
  return head;
}

FileHead text_head(const InputFile& file, const ReadOptions& options) {
  const IndexSpace* const space = options.space;
  std::string_view first;
  if (LineReader(file).next(first) && lower_case(first.substr(0, 14)) == "%%matrixmarket") {
    Head lines(file);
    return matrix_market_head(file, lines);
  }
  Head lines(file);
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
  if (!parse_real(word))
    lines.fail(
        fmt::format("{} is neither a number nor a header that Polyad knows (sptensor, tensor, matrix, "
                    "%%MatrixMarket, column names)",
                    in_quotes(word)));
  return tns_head(file, lines, space);
}

std::string not_as_stated(std::string_view found, TensorFormat stated) {
  return fmt::format("is {}, not {} as {} says", found, traits(stated).name,
                     option_name("LoadOptions::format"));
}

FileHead text_head_as(const InputFile& file, TensorFormat format, const ReadOptions& options) {
  const IndexSpace* const space = options.space;
  Head lines(file);
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
