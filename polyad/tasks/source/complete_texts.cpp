#include "polyad/tasks/complete_texts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>
#include <type_traits>

#include "polyad/base/error.hpp"
#include "polyad/tasks/option_values.hpp"

namespace polyad {
namespace {

constexpr std::array named_partitions = {RatingPartition::random, RatingPartition::block,
                                         RatingPartition::hypergraph};

std::optional<double> parse_real(std::string_view text) {
  double real = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, real);
  return error == std::errc() && stop == end ? std::optional(real) : std::nullopt;
}

template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  if constexpr (std::is_same_v<Number, Index>)
    return parse_whole_number(text);
  else
    return parse_real(text);
}

// "0.05,0.1" after "reg=".
template <class Number>
std::vector<Number> parse_search_values(const std::string& text, std::string_view values) {
  std::vector<Number> all;
  std::size_t at = 0;
  do {
    const auto comma = std::min(values.find(',', at), values.size());
    const auto word = values.substr(at, comma - at);
    const auto number = parse_number<Number>(word);
    if (!number)
      throw Error(Errc::bad_option, fmt::format("{} {}: '{}' is not a number; expected as in rank=8,16,32",
                                                option_name("search"), text, word));
    all.push_back(*number);
    at = comma + 1;
  } while (at < values.size());
  return all;
}

}  // namespace

TestRatings parse_test(const std::string& text, const LoadOptions& file_options) {
  TestRatings test;
  if (text.empty()) return test;
  if (text == "leave-one-out") {
    test.kind = TestRatings::Kind::leave_one_out;
  } else if (const auto share = parse_real(text)) {
    test.kind = TestRatings::Kind::fraction;
    test.fraction = *share;
  } else {
    test.kind = TestRatings::Kind::file;
    test.file = text;
    test.file_options = file_options;
  }
  return test;
}

TestRatings parse_test_split(const std::string& text) {
  auto test = parse_test(text, {});
  if (test.kind == TestRatings::Kind::file)
    throw Error(Errc::bad_option, fmt::format("{} {}: expected a fraction, as in 0.1, or leave-one-out",
                                              option_name("test"), text));
  return test;
}

int parse_sync(const std::string& text, int processes) {
  if (text == "auto") return CompleteOptions::sync_auto;
  if (text == "max") return CompleteOptions::sync_max;
  const auto number = parse_whole_number(text);
  if (number && *number >= 1 && *number <= processes) return int(*number);
  throw Error(Errc::bad_option,
              fmt::format("{} {}: expected auto, max, or a number from 1 to that of processes, {}",
                          option_name("sync"), text, processes));
}

DistributedSide parse_distributed_side(const std::string& text) {
  if (text == "users") return DistributedSide::users;
  return text == "items" ? DistributedSide::items : DistributedSide::automatic;
}

RatingPartition parse_rating_partition(const std::string& text) {
  for (const auto kind : named_partitions)
    if (text == to_string(kind)) return kind;
  return RatingPartition::file;
}

std::vector<std::string> rating_partition_words() {
  return names_of(named_partitions);
}

SearchGrid parse_search(const std::vector<std::string>& texts, const CompleteOptions& options) {
  const auto usual = usual_grid(options);
  SearchGrid grid;
  for (const auto& text : texts) {
    const auto equals = text.find('=');
    const auto name = text.substr(0, equals);
    const bool is_given = equals != std::string::npos;
    const auto take = [&](auto SearchGrid::*field) {
      using Values = std::remove_reference_t<decltype(grid.*field)>;
      using Number = typename Values::value_type;
      if (!is_given && (usual.*field).empty())
        throw Error(Errc::bad_option,
                    fmt::format("{} {}: {} has no such setting", option_name("search"), text,
                                options.implicit ? option_name("implicit")
                                                 : option_name("method") + " " + to_string(options.method)));
      grid.*field = is_given ? parse_search_values<Number>(text, text.substr(equals + 1)) : usual.*field;
    };
    if (name == "auto" && !is_given)
      grid = usual;
    else if (name == "rank")
      take(&SearchGrid::factors);
    else if (name == "reg")
      take(&SearchGrid::regularisation);
    else if (name == "lr")
      take(&SearchGrid::learning_rate);
    else if (name == "alpha")
      take(&SearchGrid::alpha);
    else
      throw Error(Errc::bad_option,
                  fmt::format("{} {}: expected auto, or rank, reg, lr or alpha with or without values, as in "
                              "rank=8,16,32",
                              option_name("search"), text));
  }
  return grid;
}

}  // namespace polyad
