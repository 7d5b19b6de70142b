#include "polyad/tasks/load_texts.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <system_error>

#include "polyad/base/error.hpp"
#include "polyad/tasks/option_values.hpp"

namespace polyad {

LabelSources parse_label_sources(const std::vector<std::string>& labels) {
  LabelSources result;
  for (const auto& text : labels) {
    const auto equals = text.find('=');
    const auto mode = equals == std::string::npos ? std::nullopt : parse_whole_number(text.substr(0, equals));
    std::error_code ignored;
    if (mode && *mode >= 1 && *mode <= max_order && equals + 1 < text.size())
      result.files.push_back({int(*mode) - 1, text.substr(equals + 1)});
    else if (text == "none")
      result.none = true;
    else if (result.folder.empty() && std::filesystem::is_directory(text, ignored))
      result.folder = text;
    else
      throw Error(Errc::bad_option,
                  fmt::format("{} {}: expected MODE=FILE, with the mode counted from 1, one folder of label "
                              "files, or none",
                              option_name("labels"), text));
  }
  if (result.none && labels.size() > 1)
    throw Error(Errc::bad_option,
                fmt::format("{0} none takes no labels, and other {0} name some", option_name("labels")));
  return result;
}

LoadOptions load_options(const LoadTexts& texts) {
  LoadOptions load;
  if (!texts.format.empty()) load.format = io::format_by_name(texts.format);
  if (texts.index_base >= 0) load.index_base = texts.index_base;
  if (!texts.dims.empty()) load.dims = parse_dims(texts.dims, option_name("dims"));
  load.columns = texts.columns;
  load.value = texts.value;
  load.table = texts.table;
  load.labels = parse_label_sources(texts.labels);
  load.dense_zeros = texts.dense_zeros;
  if (!texts.duplicates.empty()) load.duplicates = named(texts.duplicates, all_duplicate_rules());
  load.transform = named(texts.transform, all_transforms());
  if (!texts.min_count.empty())
    load.min_count = parse_dims(texts.min_count, option_name("min_count"), "5,5,1");
  return load;
}

std::vector<std::string> given_options(const LoadTexts& texts) {
  std::vector<std::string> given;
  const auto add = [&](const std::string& name, const std::string& value) {
    if (!value.empty()) given.insert(given.end(), {name, value});
  };
  const auto add_flag = [&](const std::string& name, bool is_given) {
    if (is_given) given.push_back(name);
  };
  add("--input-format", texts.format);
  add("--index-base", texts.index_base < 0 ? "" : std::to_string(texts.index_base));
  add("--dims", texts.dims);
  add("--columns", texts.columns);
  add("--value", texts.value);
  add("--separator", texts.table.separator);
  add("--duplicates", texts.duplicates);
  add("--transform", texts.transform);
  add("--min-count", texts.min_count);
  add_flag("--header", texts.table.header == true);
  add_flag("--no-header", texts.table.header == false);
  if (texts.table.missing) add("--missing-value", fmt::format("{}", *texts.table.missing));
  add_flag("--decimal-comma", texts.table.decimal_comma);
  add_flag("--multiline", texts.table.multiline);
  if (texts.table.fields > 0) add("--fields", std::to_string(texts.table.fields));
  for (const auto& labels : texts.labels) add("--labels", labels);
  return given;
}

}  // namespace polyad
