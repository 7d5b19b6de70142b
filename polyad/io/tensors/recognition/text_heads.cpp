#include "polyad/io/tensors/recognition/text_heads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>

#include "polyad/base/error.hpp"
#include "polyad/io/tensors/recognition/recognise.hpp"
#include "polyad/io/text/field_splitter.hpp"
#include "polyad/io/text/number_text.hpp"

namespace polyad::io {
namespace {

// The data begin with the line that `lines` has just read.
void begin_data_here(const HeadLines& lines, FileHead& head) {
  head.data_begin = lines.line_begin();
  head.data_line = lines.line_number();
}

// The data begin with the next line, if there is one: a tensor may have no nonzeros.
void begin_data_after(HeadLines& lines, FileHead& head) {
  if (lines.next())
    begin_data_here(lines, head);
  else
    head.data_begin = std::numeric_limits<Index>::max();
}

// Lines of coordinates for a model may omit the value: the number of fields decides.
void count_fields_for(const IndexSpace& space, const HeadLines& lines, FileHead& head) {
  const auto found = int(lines.words().size());
  if (found != space.order() && found != space.order() + 1)
    lines.fail(
        fmt::format("expected {} indices, with or without a value behind, as the model has {} modes; "
                    "found {} fields",
                    space.order(), space.order(), found));
  head.order = space.order();
  head.has_values = found > space.order();
}

std::string lower_case(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; });
  return result;
}

}  // namespace

FileHead plain_head(const HeadLines& lines, TensorFormat format, const IndexSpace* space) {
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

void refuse_pairs(const HeadLines& lines) {
  lines.fail(
      fmt::format("a line of 2 fields makes a tensor of order 1: Polyad takes orders 2 to 16; {} 1,2 with {} "
                  "1 reads pairs "
                  "of names or ids as a matrix",
                  option_name("columns"), option_name("value")));
}

// HiParTI has a line with the order, extended FROSTT one with order and nonzeros; dims follow in both.
FileHead counted_head(HeadLines& lines) {
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

FileHead toolbox_head(HeadLines& lines) {
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

FileHead matrix_market_head(const InputFile& file, HeadLines& lines) {
  std::string_view banner_line;
  LineReader first(file);
  if (!first.next(banner_line)) banner_line = "";
  const std::string banner = lower_case(banner_line);
  const auto words = split_blanks(banner);
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

FileHead movielens_head(const HeadLines& lines, TensorFormat format, const IndexSpace* space) {
  FileHead head;
  head.format = format;
  head.order = 2;
  head.separator = format == TensorFormat::movielens_tabs ? "\t" : "::";
  FieldSplitter splitter(head.separator);
  head.has_values = space == nullptr || !splitter.split(lines.line()) || splitter.fields().size() > 2;
  begin_data_here(lines, head);
  return head;
}

FileHead openke_head(HeadLines& lines) {
  FileHead head;
  head.format = TensorFormat::openke;
  head.order = 3;
  head.has_values = false;
  head.index_base = 0;
  head.nonzeros = lines.number(0, 0, "the number of triples");
  begin_data_after(lines, head);
  return head;
}

FileHead adjacency_head(const HeadLines& lines, const ReadOptions& options) {
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

bool begins_like_matrix_market(const InputFile& file) {
  constexpr std::string_view banner = "%%matrixmarket";
  std::string_view first;
  return LineReader(file).next(first) && lower_case(first.substr(0, banner.size())) == banner;
}

}  // namespace polyad::io
