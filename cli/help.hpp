#pragma once

#include <CLI/App.hpp>
#include <CLI/FormatterFwd.hpp>
#include <string>
#include <vector>

namespace polyad::cli {

// What help, manual pages and completions show of an option, the same with all versions of CLI11.
struct OptionHelp {
  std::vector<std::string> names;    // {"-r", "--rank"}; of an argument without a name: {"input"}
  std::string value;                 // "N", "FILE", "als|opt"; empty: a flag
  std::vector<std::string> choices;  // {"als", "opt"}; empty: any value
  std::string text;                  // meaning, default, and whether it is required
};
struct OptionGroup {
  std::string title;
  std::vector<OptionHelp> options;
};

// The arguments without a name; and the options in their groups, in the order in which they were added.
std::vector<OptionHelp> arguments_of(const CLI::App& command);
std::vector<OptionGroup> option_groups(const CLI::App& command);
// The commands below one, in the order in which they were added.
std::vector<const CLI::App*> commands_of(const CLI::App& command);
std::vector<std::string> command_names(const CLI::App& command);
// "polyad generate like"
std::string full_name(const CLI::App& command);
// "polyad cpd INPUT [OPTIONS]"
std::string usage(const CLI::App& command);

// The text of --help, in lines that fit the terminal, of at most 100 characters.
std::string help_text(const CLI::App& command);
// A manual page, in the language of man(7).
std::string manual_page(const CLI::App& command);
// A script that completes commands, options and values in a shell: "bash", "zsh" or "fish".
std::string completion_script(const CLI::App& program, const std::string& shell);

class HelpFormatter : public CLI::FormatterBase {
 public:
  std::string make_help(const CLI::App* command, std::string name, CLI::AppFormatMode mode) const override;
};

}  // namespace polyad::cli
