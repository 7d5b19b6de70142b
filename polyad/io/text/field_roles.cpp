#include "polyad/io/text/field_roles.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "polyad/base/error.hpp"
#include "polyad/base/suggestion.hpp"
#include "polyad/io/tensors/recognition/recognise.hpp"
#include "polyad/io/text/number_text.hpp"

namespace polyad::io {
namespace {

using Names = std::vector<std::string>;

// The first of them, each as far as it is a name: a header may be as long as a file.
std::string listed(const Names& names) {
  constexpr std::size_t maximum = 20, longest = 40;
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), maximum); ++i)
    text += fmt::format("{}'{}{}'", i == 0 ? "" : ", ", names[i].substr(0, longest),
                        names[i].size() > longest ? "..." : "");
  return names.size() > maximum ? fmt::format("{} and {} more", text, names.size() - maximum) : text;
}

bool holds(const Names& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

std::string described_columns(const FileHead& head) {
  const auto count = head.column_names.size();
  if (!head.has_header)
    return fmt::format("has no header and {} column{}, called 1 to {}", count, count == 1 ? "" : "s", count);
  return "has " + listed(head.column_names) +
         (head.header_is_guess
              ? fmt::format(", unless its first line is data, as {} says", option_name("header=false"))
              : "");
}

[[noreturn]] void ask_for_columns(const InputFile& file, const FileHead& head) {
  throw Error(
      Errc::bad_option,
      fmt::format("csv needs {} to say which columns are the modes and which is the value; this file {}",
                  option_name("columns"), described_columns(head)),
      {file.path().string(), 0});
}

// The columns of files that need no telling: MovieLens, and what Polyad writes for unnamed indices.
CsvColumns known_columns(const InputFile& file, const FileHead& head) {
  const auto& names = head.column_names;
  CsvColumns numbered{{}, "value", {}};
  while (numbered.modes.size() < names.size() &&
         names[numbered.modes.size()] == fmt::format("mode{}", numbered.modes.size() + 1))
    numbered.modes.push_back({names[numbered.modes.size()], {ColumnKind::index}});
  if (numbered.modes.size() >= min_order && numbered.modes.size() + 1 == names.size() &&
      names.back() == "value")
    return numbered;
  if (names.size() >= 3 && names[0] == "userId" && names[1] == "movieId" && names[2] == "rating")
    return {{{"userId"}, {"movieId"}}, "rating", {}};
  if (!head.has_header && head.only_names && names.size() >= min_order) {
    CsvColumns all;
    for (const auto& name : names) all.modes.push_back({name});
    return all;
  }
  ask_for_columns(file, head);
}

// The columns that bear the names of the model's modes, wherever they stand. The value is the one other
// column, or that of several which is called so. Nothing when they are not all there.
std::optional<CsvColumns> columns_by_name(const Names& names, const IndexSpace& space) {
  CsvColumns columns;
  std::set<std::string> modes;
  for (int m = 0; m < space.order(); ++m) {
    if (!holds(names, space.name(m)) || !modes.insert(space.name(m)).second) return std::nullopt;
    columns.modes.push_back({space.name(m)});
  }
  Names others;
  std::ranges::copy_if(names, std::back_inserter(others), [&](auto& name) { return !modes.contains(name); });
  for (const auto* const name : {"value", "rating"})
    if (columns.value.empty() && holds(others, name)) columns.value = name;
  if (columns.value.empty() && others.size() > 1) return std::nullopt;
  if (columns.value.empty() && !others.empty()) columns.value = others[0];
  return columns;
}

// As many columns as the model has modes, or one more, which is the value.
CsvColumns columns_by_number(const InputFile& file, const FileHead& head, const IndexSpace& space) {
  const auto& names = head.column_names;
  const auto order = std::size_t(space.order());
  if (names.size() != order && names.size() != order + 1) ask_for_columns(file, head);
  CsvColumns columns;
  for (std::size_t m = 0; m < order; ++m) columns.modes.push_back({names[m]});
  if (names.size() > order) columns.value = names.back();
  return columns;
}

CsvColumns columns_of(const InputFile& file, const FileHead& head, const ReadOptions& options) {
  if (options.columns) return *options.columns;
  if (options.space == nullptr) return known_columns(file, head);
  if (auto columns = columns_by_name(head.column_names, *options.space)) return *columns;
  return columns_by_number(file, head, *options.space);
}

// A mode of the model that has no labels is named by its indices.
void fit_to(const IndexSpace& space, const InputFile& file, FieldRoles& roles) {
  if (int(roles.modes.size()) != space.order())
    throw Error(
        Errc::bad_input,
        fmt::format("its coordinates have {} modes, the model has {}", roles.modes.size(), space.order()),
        {file.path().string(), 0});
  for (int m = 0; m < space.order(); ++m) {
    auto& mode = roles.modes[m];
    if (space.has_labels(m)) continue;
    if (is_time(mode.rule.kind) || bins_numbers(mode.rule.kind))
      throw Error(
          Errc::bad_option,
          fmt::format("the column {} holds {}, but mode {} of the model has no labels", in_quotes(mode.name),
                      is_time(mode.rule.kind) ? "times" : "numbers to bin", m + 1));
    mode.rule = {ColumnKind::index};
  }
}

// What may follow the name of a column, behind a colon.
Names column_kinds() {
  Names found;
  for (auto kind = int(ColumnKind::label); kind <= int(ColumnKind::month_of_year); ++kind)
    found.emplace_back(name_of(ColumnKind(kind)));
  return found;
}

std::string why_no_column(const FileHead& head, const std::string& name) {
  const auto& names = head.column_names;
  if (const auto colon = name.rfind(':'); colon != std::string::npos && holds(names, name.substr(0, colon))) {
    const auto bin = name.substr(colon + 1);
    return fmt::format("the column {} has no bin {}{}; known are {}, width=NUMBER, quantiles=NUMBER",
                       in_quotes(name.substr(0, colon)), in_quotes(bin), suggestion(bin, column_kinds()),
                       fmt::join(column_kinds(), ", "));
  }
  if (!head.has_header)
    return fmt::format("has no column {}: it has no header, and its columns are called 1 to {}",
                       in_quotes(name), names.size());
  auto text = fmt::format("has no column {}; its columns are {}", in_quotes(name), listed(names));
  const auto with_comma = std::ranges::find_if(
      names, [](const std::string& column) { return column.find(',') != std::string::npos; });
  if (with_comma != names.end())
    text += fmt::format("; {} names {}, which has a comma, #{}", option_name("columns"),
                        in_quotes(*with_comma), with_comma - names.begin() + 1);
  return text;
}

// The column of this name, or the k-th by the name k or #k.
std::size_t find_column(const InputFile& file, const FileHead& head, const std::string& name) {
  const auto& names = head.column_names;
  const auto fail = [&](const std::string& why) {
    throw Error(Errc::bad_option, why, {file.path().string(), 0});
  };
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) {
    const auto number = parse_index(name.starts_with('#') ? name.substr(1) : name);
    if (number && *number >= 1 && *number <= std::ssize(names)) return std::size_t(*number) - 1;
    fail(option_name("#columns") + why_no_column(head, name));
  }
  const auto place = found - names.begin();
  if (const auto again = std::find(found + 1, names.end(), name); again != names.end())
    fail(fmt::format("its columns {} and {} are both called {}; {} names them #{} and #{}", place + 1,
                     again - names.begin() + 1, in_quotes(name), option_name("columns"), place + 1,
                     again - names.begin() + 1));
  return std::size_t(place);
}

FieldRoles csv_roles(const InputFile& file, const FileHead& head, const ReadOptions& options) {
  const CsvColumns columns = columns_of(file, head, options);
  std::set<std::size_t> used;
  const auto find = [&](const std::string& name) {
    const auto place = find_column(file, head, name);
    if (!used.insert(place).second)
      throw Error(Errc::bad_option,
                  option_name("#columns") +
                      fmt::format("the column {} is named twice, as a mode or as the value", in_quotes(name)),
                  {file.path().string(), 0});
    return place;
  };
  FieldRoles roles;
  for (const auto& mode : columns.modes) {
    const auto place = find(mode.name);
    roles.modes.push_back({(head.has_header ? "" : "column") + head.column_names[place], place, mode.rule});
  }
  if (!columns.value.empty()) roles.value = find(columns.value);
  for (const auto& name : columns.idle) find(name);
  roles.num_fields = head.column_names.size();
  if (!head.has_header) roles.example = "the first line";
  roles.may_be_of_many_arities = !head.has_header && head.only_names;
  if (roles.modes.size() < min_order || roles.modes.size() > max_order)
    throw Error(Errc::bad_option,
                fmt::format("{} names {} modes: Polyad takes orders {} to {}", option_name("columns"),
                            roles.modes.size(), min_order, max_order));
  return roles;
}

}  // namespace

FieldRoles field_roles(const InputFile& file, const FileHead& head, const ReadOptions& options) {
  FieldRoles roles;
  if (head.format == TensorFormat::csv)
    roles = csv_roles(file, head, options);
  else if (head.has_values)
    roles = {{{"user", 0}, {"item", 1}}, 2, 0};
  else
    roles = {{{"user", 0}, {"item", 1}}, std::nullopt, 2, "the first line"};
  if (options.space != nullptr) fit_to(*options.space, file, roles);
  return roles;
}

}  // namespace polyad::io
