#include <fmt/format.h>

#include "cli/help.hpp"

namespace polyad::cli {
namespace {

using Visit = void (*)(std::string& out, const CLI::App& command);

// Calls visit for a command and all below it.
void visit_all(std::string& out, const CLI::App& command, Visit visit) {
  visit(out, command);
  for (const auto* each : commands_of(command)) visit_all(out, *each, visit);
}

std::string words_of(const CLI::App& command) {
  std::string words;
  for (const auto* each : commands_of(command)) words += " " + each->get_name();
  for (const auto& argument : arguments_of(command))
    for (const auto& choice : argument.choices) words += " " + choice;
  for (const auto& group : option_groups(command))
    for (const auto& option : group.options)
      for (const auto& name : option.names) words += " " + name;
  return words.empty() ? words : words.substr(1);
}

// In single quotes, where fish takes \\' for one.
std::string in_fish_quotes(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("\\'") : std::string(1, c);
  return out + "'";
}

// The words after a command, and the values of its options that have few.
void add_bash_cases(std::string& out, const CLI::App& command) {
  const auto name = full_name(command);
  out += fmt::format("    '{}') words='{}' ;;\n", name, words_of(command));
  for (const auto& group : option_groups(command))
    for (const auto& option : group.options) {
      if (option.choices.empty()) continue;
      std::string pattern, values;
      for (const auto& each : option.names)
        pattern += fmt::format("{}'{} {}'", pattern.empty() ? "" : "|", name, each);
      for (const auto& choice : option.choices) values += (values.empty() ? "" : " ") + choice;
      out += fmt::format("    {}) words='{}' ;;\n", pattern, values);
    }
}

// zsh runs it through its own emulation.
std::string bash_script(const CLI::App& program) {
  std::string names, cases;
  visit_all(names, program, [](std::string& out, const CLI::App& command) {
    out += fmt::format("{}'{}'", out.empty() ? "" : "|", full_name(command));
  });
  visit_all(cases, program, add_bash_cases);
  return fmt::format(R"(# Completion of polyad's commands, options and values.
_polyad_words() {{
  case "$1" in
{}    *) return 1 ;;
  esac
}}
_polyad() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} command=polyad words= i
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case "$command ${{COMP_WORDS[i]}}" in
      {}) command+=" ${{COMP_WORDS[i]}}" ;;
    esac
  done
  if [[ $before == -* ]] && _polyad_words "$command $before"; then
    COMPREPLY=($(compgen -W "$words" -- "$word"))
    return
  fi
  _polyad_words "$command"
  if [[ $word == -* || $command == "${{COMP_WORDS[*]:0:COMP_CWORD}}" ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$word"))
  fi
  [[ $word == -* ]] || COMPREPLY+=($(compgen -f -- "$word"))
}}
complete -o filenames -F _polyad polyad
)",
                     cases, names);
}

void add_fish_lines(std::string& out, const CLI::App& command) {
  std::string condition = "__fish_use_subcommand";
  if (const auto* parent = command.get_parent(); parent != nullptr) {
    condition = "__fish_seen_subcommand_from " + command.get_name();
    if (parent->get_parent() != nullptr)
      condition = "__fish_seen_subcommand_from " + parent->get_name() + "; and " + condition;
  }
  for (const auto* each : commands_of(command))
    out += fmt::format("complete -c polyad -n {} -a {} -d {}\n", in_fish_quotes(condition), each->get_name(),
                       in_fish_quotes(each->get_description()));
  for (const auto& group : option_groups(command))
    for (const auto& option : group.options) {
      out += "complete -c polyad -n " + in_fish_quotes(condition);
      for (const auto& name : option.names)
        out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      if (!option.choices.empty()) {
        out += " -x -a '";
        for (const auto& choice : option.choices) out += choice + " ";
        out.back() = '\'';
      } else if (!option.value.empty() && !option.value.starts_with("[")) {
        out += " -r";
      }
      out += " -d " + in_fish_quotes(option.text) + "\n";
    }
}

}  // namespace

std::string completion_script(const CLI::App& program, const std::string& shell) {
  if (shell == "bash") return bash_script(program);
  if (shell == "zsh")
    return "#compdef polyad\nautoload -U +X bashcompinit && bashcompinit\n" + bash_script(program);
  std::string script = "# Completion of polyad's commands, options and values.\n";
  visit_all(script, program, add_fish_lines);
  return script;
}

}  // namespace polyad::cli
