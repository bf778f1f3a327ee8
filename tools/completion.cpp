// coldpress completion: scripts with which a shell completes the command's words.

#include "commands.hpp"
#include "options.hpp"

#include <cstdio>

namespace coldpress::command {
namespace {

/// A subcommand by its words, such as "data inspect".
struct Command {
  std::string words;
  CLI::App const* app;
};

void collect(CLI::App const& app, std::string const& words, std::vector<Command>& found) {
  for (CLI::App const* sub : app.get_subcommands(nullptr)) {
    std::string const all = words.empty() ? sub->get_name() : words + " " + sub->get_name();
    found.push_back({all, sub});
    collect(*sub, all, found);
  }
}

std::string long_name(CLI::Option const& option) {
  return option.get_lnames().empty() ? "" : "--" + option.get_lnames()[0];
}
bool takes_value(CLI::Option const& option) { return option.get_items_expected_max() > 0; }
bool takes_file(CLI::Option const& option) {
  return takes_value(option) && (option.get_type_name() == file || option.get_type_name() == spec);
}

void print_bash(std::vector<Command> const& commands) {
  std::puts(
      "# Completion of coldpress for bash: source <(coldpress completion bash)\n"
      "_coldpress() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command='' words='' files='' "
      "values=''\n"
      "  local i\n"
      "  for ((i = 1; i < COMP_CWORD; ++i)); do\n"
      "    [[ ${COMP_WORDS[i]} == -* ]] && break\n"
      "    command=${command:+$command }${COMP_WORDS[i]}\n"
      "  done\n"
      "  case $command in");
  std::string top;
  for (auto const& [words, app] : commands) {
    if (words.find(' ') == std::string::npos) top += words + " ";
  }
  std::printf("    '') words='%s--help --version' ;;\n", top.c_str());
  for (auto const& [words, app] : commands) {
    std::string all, files, values;
    for (CLI::App const* sub : app->get_subcommands(nullptr)) all += sub->get_name() + " ";
    for (CLI::Option const* option : app->get_options()) {
      std::string const one = long_name(*option);
      if (one.empty()) {
        if (takes_file(*option)) files += "- ";  // a positional argument
        continue;
      }
      all += one + " ";
      if (takes_file(*option)) files += one + " ";
      if (takes_value(*option) && !takes_file(*option)) values += one + " ";
    }
    std::printf("    '%s') words='%s' files='%s' values='%s' ;;\n", words.c_str(), all.c_str(), files.c_str(),
                values.c_str());
  }
  std::puts(
      "  esac\n"
      "  if [[ \" $files \" == *\" $before \"* || ( $word != -* && \" $files \" == *' - '* ) ]]; then\n"
      "    COMPREPLY=($(compgen -f -- \"$word\"))\n"
      "  elif [[ \" $values \" != *\" $before \"* ]]; then\n"
      "    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
      "  fi\n"
      "}\n"
      "complete -o filenames -o default -F _coldpress coldpress");
}

/// A description in one of zsh's specifications.
std::string quoted(std::string const& text) {
  std::string result;
  for (char const c : text) {
    if (c == '\'') {
      result += "'\\''";
      continue;
    }
    if (c == '[' || c == ']' || c == ':' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

void print_zsh(std::vector<Command> const& commands) {
  std::puts(
      "#compdef coldpress\n"
      "# Completion of coldpress for zsh: coldpress completion zsh > DIRECTORY_IN_FPATH/_coldpress\n"
      "_coldpress() {\n"
      "  local command='' i\n"
      "  for ((i = 2; i < CURRENT; ++i)); do\n"
      "    [[ ${words[i]} == -* ]] && break\n"
      "    command=${command:+$command }${words[i]}\n"
      "  done\n"
      "  case $command in");
  auto const print_commands = [&](CLI::App const* app) {
    for (auto const& [words, sub] : commands) {
      if (sub->get_parent() == app)
        std::printf(" '%s:%s'", sub->get_name().c_str(), quoted(sub->get_description()).c_str());
    }
  };
  std::fputs("    '') local -a commands=(", stdout);
  print_commands(commands.empty() ? nullptr : commands[0].app->get_parent());
  std::puts(")\n      _describe command commands ;;");
  for (auto const& [words, app] : commands) {
    if (!app->get_subcommands(nullptr).empty()) {
      std::printf("    '%s') local -a commands=(", words.c_str());
      print_commands(app);
      std::puts(")\n      _describe command commands ;;");
      continue;
    }
    std::printf("    '%s') _arguments", words.c_str());
    for (CLI::Option const* option : app->get_options()) {
      std::string const one = long_name(*option), value = takes_file(*option) ? ":_files" : ": ";
      if (one.empty()) {
        std::printf(" \\\n      '*:%s%s'", quoted(option->get_type_name()).c_str(), value.c_str());
        continue;
      }
      std::printf(" \\\n      '%s[%s]", one.c_str(), quoted(option->get_description()).c_str());
      if (takes_value(*option)) std::printf(":%s%s", quoted(option->get_type_name()).c_str(), value.c_str());
      std::putchar('\'');
    }
    std::puts(" ;;");
  }
  std::puts("  esac\n}\n_coldpress \"$@\"");
}

}  // namespace

void add_completion(CLI::App& app) {
  auto* const command =
      app.add_subcommand("completion", "Prints a script with which bash or zsh completes these commands");
  auto const shell = std::make_shared<std::string>();
  command->add_option("shell", *shell, "bash or zsh")->type_name(name)->required()->check(one_of({"bash", "zsh"}));
  command->callback([&app, shell] {
    std::vector<Command> commands;
    collect(app, "", commands);
    *shell == "bash" ? print_bash(commands) : print_zsh(commands);
  });
}

}  // namespace coldpress::command
