#include "polyad/io/tensors/rating_list.hpp"

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "polyad/base/error.hpp"
#include "polyad/io/bytes/byte_stream.hpp"
#include "polyad/io/tensors/recognition/recognise.hpp"
#include "polyad/io/text/field_splitter.hpp"
#include "polyad/io/text/number_text.hpp"

namespace polyad::io {
namespace {

constexpr int user_mode = 0, item_mode = 1;

struct RatingLine {
  std::string item, rating;
};

// What separates the fields of a line like this one; a blank: the last of them does.
std::string separator_of(std::string_view line) {
  for (const auto* const separator : {"\t", "::", ","})
    if (line.find(separator) != std::string_view::npos) return separator;
  return " ";
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r"), last = text.find_last_not_of(" \t\r");
  return first == std::string_view::npos ? std::string_view() : text.substr(first, last - first + 1);
}

// The lines of a text that are not blank.
class ListLines {
 public:
  ListLines(const std::filesystem::path& path, const IndexSpace& space)
      : file_(path), lines_(file_), space_(space) {}

  bool next(std::string_view& text) {
    while (lines_.next(text))
      if (!trimmed(text).empty()) return true;
    return false;
  }
  Index line_number() const { return lines_.line_number(); }
  const IndexSpace& space() const { return space_; }

  // The fields of a line; of blanks only the last separates an item with blanks from its rating.
  std::vector<std::string> split(std::string_view text, const std::string& separator) {
    if (!splitter_) splitter_.emplace(separator);
    if (!splitter_->split(text)) fail("a quote is not closed, or is followed by more than a separator");
    return {splitter_->fields().begin(), splitter_->fields().end()};
  }

  double rating(const std::string& text) const {
    const auto rating = parse_real(text);
    if (!rating) fail(fmt::format("rating {} is not a number", in_quotes(text)));
    if (!std::isfinite(*rating)) fail(fmt::format("rating {} is not finite", in_quotes(text)));
    return *rating;
  }

  // `mode`: of users or of items.
  Index row(int mode, const std::string& name) const {
    try {
      return space_.find_named(mode, name, mode == user_mode ? "user" : "item");
    } catch (const Error& e) {
      fail(e.what());
    }
  }

  [[noreturn]] void fail(const std::string& why) const {
    throw Error(Errc::bad_input, why, {file_.path().string(), lines_.line_number()});
  }
  [[noreturn]] void fail_as_whole(const std::string& why) const {
    throw Error(Errc::bad_input, why, {file_.path().string(), 0});
  }

 private:
  InputFile file_;
  LineReader lines_;
  const IndexSpace& space_;
  std::optional<FieldSplitter> splitter_;
};

// The ratings of a user, as they are read; or of an item, by users.
class RatedItems {
 public:
  explicit RatedItems(int mode = item_mode) : mode_(mode) {}

  void add(const ListLines& lines, const std::string& item, const std::string& rating) {
    const double value = lines.rating(rating);
    const Index row = lines.row(mode_, item);
    const auto [place, is_new] = rated_.insert({row, {value, lines.line_number()}});
    if (!is_new)
      lines.fail(fmt::format("{} {} on line {} too", in_quotes(item),
                             mode_ == item_mode ? "is rated" : "rates the item", place->second.line));
  }
  bool empty() const { return rated_.empty(); }
  RatingList list() const {
    RatingList list;
    for (const auto& [item, one] : rated_) {
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
  int mode_;  // of the rows that are rated, or that rate
  std::map<Index, Rated> rated_;
};

RatingLine split_at_last_blank(const ListLines& lines, std::string_view text) {
  text = trimmed(text);
  const auto blank = text.rfind(' ');
  if (blank == std::string_view::npos) lines.fail("expected an item and a rating, found 1 field");
  return {std::string(trimmed(text.substr(0, blank))), std::string(text.substr(blank + 1))};
}

RatingLine split_rating(ListLines& lines, std::string_view text, const std::string& separator) {
  if (separator == " ") return split_at_last_blank(lines, text);
  const auto fields = lines.split(text, separator);
  if (fields.size() != 2)
    lines.fail(fmt::format("expected an item and a rating, found {} field{}", fields.size(),
                           fields.size() == 1 ? "" : "s"));
  return {fields[0], fields[1]};
}

std::vector<std::string> split_at_blanks(std::string_view text) {
  std::vector<std::string> words;
  for (text = trimmed(text); !text.empty();) {
    const auto end = std::min(text.find_first_of(" \t"), text.size());
    words.emplace_back(text.substr(0, end));
    text = trimmed(text.substr(end));
  }
  return words;
}

// A user, an item and a rating.
std::vector<std::string> split_user_rating(ListLines& lines, std::string_view text,
                                           const std::string& separator) {
  auto fields = separator == " " ? split_at_blanks(text) : lines.split(text, separator);
  if (fields.size() != 3 && fields.size() != 4)
    lines.fail(fmt::format("expected a user, an item and a rating, found {} field{}", fields.size(),
                           fields.size() == 1 ? "" : "s"));
  for (const int mode : {user_mode, item_mode})
    if (fields[std::size_t(mode)].empty())
      lines.fail(fmt::format("the {} has no name", mode == user_mode ? "user" : "item"));
  return fields;
}

// The item that a line names; IndexSpace::no_index where there is none.
Index find_item(const ListLines& lines, std::string_view name) {
  const auto& space = lines.space();
  if (!space.has_labels(item_mode)) {
    const auto number = parse_index(name);
    if (!number || *number < 1)
      lines.fail(fmt::format("{} is no item: expected a number from 1", in_quotes(name)));
    return *number <= space.dims()[item_mode] ? *number - 1 : IndexSpace::no_index;
  }
  const Index index = space.find(item_mode, name);
  if (index == IndexSpace::several)
    lines.fail(fmt::format("{} names more than one item of the model", in_quotes(name)));
  return index;
}

}  // namespace

RatingList read_rating_list(const std::filesystem::path& path, const IndexSpace& space) {
  ListLines lines(path, space);
  RatedItems rated;
  std::string separator;
  for (std::string_view text; lines.next(text);) {
    const bool is_first = separator.empty();
    if (is_first) separator = separator_of(text);
    const auto line = split_rating(lines, text, separator);
    const bool is_header = is_first && !parse_real(line.rating);
    if (!is_header) rated.add(lines, line.item, line.rating);
  }
  if (rated.empty()) lines.fail_as_whole("holds no ratings");
  return rated.list();
}

std::vector<NamedRatingList> read_rating_lists(const std::filesystem::path& path, const IndexSpace& space,
                                               ListsOf of) {
  const int named = of == ListsOf::users ? user_mode : item_mode, known = 1 - named;
  ListLines lines(path, space);
  std::vector<NamedRatingList> lists;
  std::vector<RatedItems> rated;
  std::unordered_map<std::string, std::size_t> places;
  std::string separator;
  for (std::string_view text; lines.next(text);) {
    const bool is_first = separator.empty();
    if (is_first) separator = separator_of(text);
    const auto fields = split_user_rating(lines, text, separator);
    if (is_first && !parse_real(fields[2])) continue;  // a header
    const auto& name = fields[std::size_t(named)];
    const auto [place, is_new] = places.emplace(name, lists.size());
    if (is_new) {
      lists.push_back({name, lines.line_number(), {}});
      rated.emplace_back(known);
    }
    rated[place->second].add(lines, fields[std::size_t(known)], fields[2]);
  }
  if (lists.empty()) lines.fail_as_whole("holds no ratings");
  for (std::size_t i = 0; i < lists.size(); ++i) lists[i].list = rated[i].list();
  return lists;
}

ItemList read_item_list(const std::filesystem::path& path, const IndexSpace& space) {
  ListLines lines(path, space);
  std::set<Index> items;
  std::set<std::string, std::less<>> unknown;
  bool is_first = true;
  for (std::string_view text; lines.next(text);) {
    const auto name = trimmed(text);
    const bool is_header = std::exchange(is_first, false) && name == space.name(item_mode);
    if (is_header) continue;
    const Index item = find_item(lines, name);
    if (item == IndexSpace::no_index)
      unknown.emplace(name);
    else
      items.insert(item);
  }
  return {{items.begin(), items.end()}, std::ssize(unknown)};
}

}  // namespace polyad::io
