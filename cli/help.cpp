#include "cli/help.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <sstream>
#include <utility>

#include "polyad/version.hpp"

namespace polyad::cli {
namespace {

constexpr std::size_t text_column = 28, min_width = 60, max_width = 100;

// {"als", "opt"} of "TEXT:{als,opt}".
std::vector<std::string> choices_in(const std::string& type) {
  const auto begin = type.find('{'), end = type.rfind('}');
  if (begin == std::string::npos || end == std::string::npos) return {};
  std::vector<std::string> choices(1);
  for (const char c : type.substr(begin + 1, end - begin - 1))
    if (c == ',')
      choices.emplace_back();
    else
      choices.back() += c;
  return choices;
}

// What stands for the value of an option, where its type says too little.
std::string value_name(const std::string& name) {
  static const std::map<std::string, std::string> known = {
      {"cache", "FOLDER"}, {"columns", "NAMES"},       {"dims", "DIMS"},       {"fix", "FILE"},
      {"grid", "GRID"},    {"input-format", "FORMAT"}, {"json", "FILE"},       {"labels", "LABELS"},
      {"memory", "SIZE"},  {"mode-order", "MODES"},    {"nonneg", "=MODES"},   {"out", "PATH"},
      {"exchange", "WAY"}, {"report", "FILE"},         {"replicate", "MODES"}, {"value", "NAME"},
  };
  const auto found = known.find(name);
  return found == known.end() ? "" : found->second;
}

std::string value_name(const CLI::Option& option, const std::vector<std::string>& choices) {
  if (!choices.empty()) return fmt::format("{}", fmt::join(choices, "|"));
  const auto& names = option.get_lnames();
  if (auto known = value_name(names.empty() ? "" : names.front()); !known.empty()) return known;
  const auto type = option.get_type_name();
  const auto kind = type.substr(0, type.find_first_of(": "));
  if (kind == "INT" || kind == "UINT") return "N";
  if (kind == "FLOAT") return "X";
  return kind == "TEXT" || kind.empty() ? "VALUE" : kind;
}

std::string upper_case(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return char(std::toupper(c)); });
  return text;
}

OptionHelp describe(const CLI::Option& option) {
  OptionHelp help;
  if (option.nonpositional()) {
    for (const auto& name : option.get_snames()) help.names.push_back("-" + name);
    for (const auto& name : option.get_lnames()) help.names.push_back("--" + name);
  } else {
    help.names.push_back(option.get_name(true));
  }
  const bool is_flag = option.get_items_expected_max() == 0;
  if (!is_flag) {
    help.choices = choices_in(option.get_type_name());
    help.value = value_name(option, help.choices);
  } else if (const auto value = value_name(help.names.back().substr(2)); !value.empty()) {
    help.value = "[" + value + "]";  // a flag that may have a value
  }
  help.text = option.get_description();
  if (!is_flag && !option.get_default_str().empty() && help.text.find("default") == std::string::npos)
    help.text += fmt::format(" (default: {})", option.get_default_str());
  if (option.nonpositional() && option.get_required()) help.text += " (required)";
  return help;
}

// Appends words in lines of at most `width` characters, the first of which has `column` already.
void append_wrapped(std::string& out, const std::string& text, std::size_t column, std::size_t width,
                    std::size_t indent) {
  std::size_t at = 0;
  for (bool first = true; at < text.size(); first = false) {
    const auto end = std::min(text.find(' ', at), text.size());
    const auto length = end - at;
    if (!first && column + 1 + length > width) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (!first) {
      out += ' ';
      ++column;
    }
    out.append(text, at, length);
    column += length;
    at = end + 1;
  }
  out += '\n';
}

void append_row(std::string& out, const std::string& left, const std::string& text, std::size_t width) {
  std::string begin = "  " + left;
  if (begin.size() + 2 > text_column)
    begin += "\n" + std::string(text_column, ' ');
  else
    begin.resize(text_column, ' ');
  out += begin;
  append_wrapped(out, text, text_column, width, text_column);
}

// "-r, --rank N", "--nonneg[=MODES]"
std::string names_and_value(const OptionHelp& option) {
  const bool joins = option.value.empty() || option.value.starts_with("[");
  return fmt::format("{}{}{}", fmt::join(option.names, ", "), joins ? "" : " ", option.value);
}

std::string left_column(const OptionHelp& option) {
  const bool has_short = option.names.size() > 1 || option.names.front()[1] != '-';
  return (has_short ? "" : "    ") + names_and_value(option);
}

std::vector<std::pair<std::string, std::vector<const CLI::App*>>> command_groups(const CLI::App& command) {
  std::vector<std::pair<std::string, std::vector<const CLI::App*>>> groups;
  for (const auto* each : commands_of(command)) {
    auto group = std::ranges::find(groups, each->get_group(), [](const auto& known) { return known.first; });
    if (group == groups.end()) group = groups.insert(groups.end(), {each->get_group(), {}});
    group->second.push_back(each);
  }
  return groups;
}

std::size_t terminal_width() {
  winsize size{};
  if (isatty(STDOUT_FILENO) == 0 || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
    return max_width;
  return std::clamp<std::size_t>(size.ws_col, min_width, max_width);
}

// An empty line, and the lines of the footer; nothing without one.
std::vector<std::string> footer_lines(const CLI::App& command) {
  std::vector<std::string> lines;
  std::istringstream footer(command.get_footer());
  for (std::string line; std::getline(footer, line);) lines.push_back(line);
  if (!lines.empty()) lines.insert(lines.begin(), "");
  return lines;
}

// In the language of man(7): a line that begins with a dot or an apostrophe is a request.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\' || c == '-') out += '\\';
    out += c;
  }
  return out.starts_with('.') || out.starts_with('\'') ? "\\&" + out : out;
}

std::string manual_row(const std::string& left, const std::string& text) {
  return fmt::format(".TP\n\\fB{}\\fR\n{}\n", escaped(left), escaped(text));
}

}  // namespace

std::vector<OptionHelp> arguments_of(const CLI::App& command) {
  std::vector<OptionHelp> arguments;
  for (const auto* option : command.get_options())
    if (option->get_positional()) arguments.push_back(describe(*option));
  return arguments;
}

std::vector<OptionGroup> option_groups(const CLI::App& command) {
  std::vector<OptionGroup> groups;
  for (const auto* option : command.get_options()) {
    if (!option->nonpositional() || option == command.get_help_ptr()) continue;
    auto group = std::ranges::find(groups, option->get_group(), &OptionGroup::title);
    if (group == groups.end()) group = groups.insert(groups.end(), {option->get_group(), {}});
    group->options.push_back(describe(*option));
  }
  if (groups.empty()) groups.push_back({"Options", {}});
  groups.back().options.push_back(describe(*command.get_help_ptr()));
  return groups;
}

std::vector<const CLI::App*> commands_of(const CLI::App& command) {
  return command.get_subcommands([](const CLI::App*) { return true; });
}

std::string full_name(const CLI::App& command) {
  const auto* parent = command.get_parent();
  return (parent == nullptr ? "" : full_name(*parent) + " ") + command.get_name();
}

std::string usage(const CLI::App& command) {
  std::string text = full_name(command);
  for (const auto* option : command.get_options()) {
    if (!option->get_positional()) continue;
    const bool repeats = option->get_items_expected_max() > 1;
    const auto name = option->get_option_text().empty()
                          ? upper_case(option->get_name(true)) + (repeats ? "..." : "")
                          : option->get_option_text();
    text += option->get_required() ? " " + name : " [" + name + "]";
  }
  return text + (commands_of(command).empty() ? " [OPTIONS]" : " COMMAND ...");
}

std::string help_text(const CLI::App& command) {
  const auto width = terminal_width();
  std::string text;
  append_wrapped(text, command.get_description(), 0, width, 0);
  text += "\nUsage: " + usage(command) + "\n";
  const auto arguments = arguments_of(command);
  if (!arguments.empty()) text += "\n";
  for (const auto& argument : arguments)
    append_row(text, upper_case(argument.names.front()), argument.text, width);
  for (const auto& [title, commands] : command_groups(command)) {
    text += "\n" + title + ":\n";
    for (const auto* each : commands) append_row(text, each->get_name(), each->get_description(), width);
  }
  for (const auto& group : option_groups(command)) {
    text += "\n" + group.title + ":\n";
    for (const auto& option : group.options) append_row(text, left_column(option), option.text, width);
  }
  for (const auto& line : footer_lines(command)) text += line + "\n";
  return text;
}

std::string manual_page(const CLI::App& command) {
  auto title = full_name(command);
  std::ranges::replace(title, ' ', '-');
  auto page = fmt::format(".TH {} 1 \"\" \"polyad {}\"\n", escaped(upper_case(title)), POLYAD_VERSION);
  page += fmt::format(".SH NAME\n{} \\- {}\n", escaped(title), escaped(command.get_description()));
  page += fmt::format(".SH SYNOPSIS\n.B {}\n", escaped(usage(command)));
  const auto arguments = arguments_of(command);
  if (!arguments.empty()) page += ".SH ARGUMENTS\n";
  for (const auto& argument : arguments)
    page += manual_row(upper_case(argument.names.front()), argument.text);
  for (const auto& [group, commands] : command_groups(command)) {
    page += fmt::format(".SH {}\n", escaped(upper_case(group)));
    for (const auto* each : commands) page += manual_row(each->get_name(), each->get_description());
  }
  for (const auto& group : option_groups(command)) {
    page += fmt::format(".SH {}\n", escaped(upper_case(group.title)));
    for (const auto& option : group.options) page += manual_row(names_and_value(option), option.text);
  }
  const auto lines = footer_lines(command);
  if (lines.empty()) return page;
  page += ".SH NOTES\n.nf\n";
  for (const auto& line : lines) page += escaped(line) + "\n";
  return page + ".fi\n";
}

std::vector<std::string> command_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const auto* each : commands_of(command)) names.push_back(each->get_name());
  return names;
}

std::string HelpFormatter::make_help(const CLI::App* command, std::string /*name*/,
                                     CLI::AppFormatMode /*mode*/) const {
  return help_text(*command);
}

}  // namespace polyad::cli
