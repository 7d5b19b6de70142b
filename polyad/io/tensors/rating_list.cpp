#include "polyad/io/tensors/rating_list.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <string_view>

#include "polyad/base/error.hpp"
#include "polyad/io/bytes/byte_stream.hpp"
#include "polyad/io/tensors/recognise.hpp"
#include "polyad/io/text/field_splitter.hpp"
#include "polyad/io/text/number_text.hpp"

namespace polyad::io {
namespace {

constexpr int item_mode = 1;

struct RatingLine {
  std::string item, rating;
};

// What separates the fields of a line like this one; a blank: the last of them does.
std::string separator_of(std::string_view line) {
  for (const auto* const separator : {"\t", "::", ","})
    if (line.find(separator) != std::string_view::npos) return separator;
  return " ";
}

class RatingListReader {
 public:
  RatingListReader(const std::filesystem::path& path, const IndexSpace& space)
      : file_(path), lines_(file_), space_(space) {}

  RatingList read() {
    std::map<Index, Rated> rated;
    bool is_first = true;
    for (std::string_view text; lines_.next(text);) {
      if (text.find_first_not_of(" \t\r") == std::string_view::npos) continue;
      if (is_first) separator_ = separator_of(text);
      const auto line = split(text);
      const auto rating = parse_real(line.rating);
      const bool is_header = is_first && !rating;
      is_first = false;
      if (!is_header) add(line, rating, rated);
    }
    if (rated.empty()) throw Error(Errc::bad_input, "holds no ratings", {file_.path().string(), 0});
    RatingList list;
    for (const auto& [item, one] : rated) {
      list.items.push_back(item);
      list.ratings.push_back(one.rating);
    }
    return list;
  }

 private:
  struct Rated {
    double rating;
    Index line;
  };

  RatingLine split(std::string_view text) {
    if (separator_ == " ") return split_at_last_blank(text);
    FieldSplitter splitter(separator_);
    if (!splitter.split(text)) fail("a quote is not closed, or is followed by more than a separator");
    const auto& fields = splitter.fields();
    if (fields.size() != 2)
      fail(fmt::format("expected an item and a rating, found {} field{}", fields.size(),
                       fields.size() == 1 ? "" : "s"));
    return {std::string(fields[0]), std::string(fields[1])};
  }

  RatingLine split_at_last_blank(std::string_view text) const {
    const auto trim = [](std::string_view part) {
      const auto first = part.find_first_not_of(" \r"), last = part.find_last_not_of(" \r");
      return first == std::string_view::npos ? std::string_view() : part.substr(first, last - first + 1);
    };
    text = trim(text);
    const auto blank = text.rfind(' ');
    if (blank == std::string_view::npos) fail("expected an item and a rating, found 1 field");
    return {std::string(trim(text.substr(0, blank))), std::string(text.substr(blank + 1))};
  }

  void add(const RatingLine& line, std::optional<double> rating, std::map<Index, Rated>& rated) const {
    if (!rating) fail(fmt::format("rating {} is not a number", in_quotes(line.rating)));
    if (!std::isfinite(*rating)) fail(fmt::format("rating {} is not finite", in_quotes(line.rating)));
    const auto [place, is_new] = rated.insert({find(line.item), {*rating, lines_.line_number()}});
    if (!is_new) fail(fmt::format("{} is rated on line {} too", in_quotes(line.item), place->second.line));
  }

  Index find(const std::string& item) const {
    try {
      return space_.find_named(item_mode, item, "item");
    } catch (const Error& e) {
      fail(e.what());
    }
  }

  [[noreturn]] void fail(const std::string& why) const {
    throw Error(Errc::bad_input, why, {file_.path().string(), lines_.line_number()});
  }

  InputFile file_;
  LineReader lines_;
  const IndexSpace& space_;
  std::string separator_ = " ";
};

}  // namespace

RatingList read_rating_list(const std::filesystem::path& path, const IndexSpace& space) {
  return RatingListReader(path, space).read();
}

}  // namespace polyad::io
