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
/// What an option takes. A positional argument is named for it.
std::string kind(CLI::Option const& option) {
  return option.get_type_name().empty() && long_name(option).empty() ? option.get_name() : option.get_type_name();
}
bool takes_data(CLI::Option const& option) {
  return takes_value(option) && kind(option).find(spec) != std::string::npos;
}
bool takes_file(CLI::Option const& option) {
  return takes_data(option) || (takes_value(option) && kind(option) == file);
}

/// The names of the formats of data, with this between them; those that take a list of files, or the others, or both.
std::string format_names(char const* between, bool lists, bool others) {
  std::string all;
  for (data::SpecHelp const& format : data::spec_help())
    if (format.takes_list ? lists : others) all += (all.empty() ? "" : between) + format.name;
  return all;
}

void print_bash(std::vector<Command> const& commands) {
  std::printf(
      R"(# Completion of coldpress for bash: source <(coldpress completion bash)
_coldpress() {
  # bash ends words at ':' and '=', which are parts of the command's words. It puts the answer in place of `last`.
  local args=() last=${COMP_WORDS[COMP_CWORD]} glue='' piece
  for piece in "${COMP_WORDS[@]:0:COMP_CWORD+1}"; do
    if [[ ${#args[@]} -gt 0 && ( $glue || $piece =~ ^[:=]+$ ) ]]; then args[-1]+=$piece; else args+=("$piece"); fi
    glue=''
    if [[ $piece =~ ^[:=]+$ ]]; then glue=1; fi
  done
  if [[ $last =~ ^[:=]+$ ]]; then last=''; fi
  local word=${args[-1]#[\"\']} before='' lead='' command='' words='' files='' data='' values='' i
  if [[ ${#args[@]} -gt 1 ]]; then before=${args[-2]}; fi
  last=${last#[\"\']}
  local head=${word%%"$last"}
  if [[ $word == --*=* ]]; then before=${word%%%%=*} lead=${word%%%%=*}= word=${word#*=}; fi
  for ((i = 1; i < ${#args[@]} - 1; ++i)); do
    [[ ${args[i]} == -* ]] && break
    command=${command:+$command }${args[i]}
  done
  case $command in
)");
  std::string top;
  for (auto const& [words, app] : commands) {
    if (words.find(' ') == std::string::npos) top += words + " ";
  }
  std::printf("    '') words='%s--help --version' ;;\n", top.c_str());
  for (auto const& [words, app] : commands) {
    std::string all, files, specs, values;
    for (CLI::App const* sub : app->get_subcommands(nullptr)) all += sub->get_name() + " ";
    for (CLI::Option const* option : app->get_options()) {
      std::string const one = long_name(*option);
      if (one.empty()) {
        if (takes_file(*option)) files += "- ";  // a positional argument
        if (takes_data(*option)) specs += "- ";
        continue;
      }
      all += one + " ";
      if (takes_file(*option)) files += one + " ";
      if (takes_data(*option)) specs += one + " ";
      if (takes_value(*option) && !takes_file(*option)) values += one + " ";
    }
    std::printf("    '%s') words='%s' files='%s' data='%s' values='%s' ;;\n", words.c_str(), all.c_str(), files.c_str(),
                specs.c_str(), values.c_str());
  }
  std::printf(R"(  esac
  local found=() key=$before
  if [[ $word != -* && " $files " != *" $before "* && " $files " == *' - '* ]]; then key=-; fi
  if [[ " $files " == *" $key "* ]]; then
    if [[ " $data " == *" $key "* ]]; then
      if [[ $word =~ ^(%s): ]]; then
        lead+=${BASH_REMATCH[0]} word=${word#*:}
        if [[ ${BASH_REMATCH[1]} =~ ^(%s)$ && $word == *,* ]]; then lead+=${word%%,*}, word=${word##*,}; fi
      else
        mapfile -t found < <(compgen -S : -W '%s' -- "$word")
      fi
    fi
    # A format keeps its colon as it is, and no space follows it.
    if [[ ${#found[@]} -gt 0 ]]; then compopt -o nospace 2> /dev/null; else compopt -o filenames 2> /dev/null; fi
    mapfile -t -O ${#found[@]} found < <(compgen -f -- "$word")
  elif [[ " $values " != *" $before "* ]]; then
    mapfile -t found < <(compgen -W "$words" -- "$word")
  fi
  COMPREPLY=("${found[@]/#/$lead}")
  COMPREPLY=("${COMPREPLY[@]#"$head"}")
}
complete -o default -F _coldpress coldpress
)",
              format_names("|", true, true).c_str(), format_names("|", true, false).c_str(),
              format_names(" ", true, true).c_str());
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
      "# Completion of coldpress for zsh: coldpress completion zsh > DIRECTORY_IN_FPATH/_coldpress");
  std::printf(
      "_coldpress_data() {\n"
      "  if compset -P '(%s):'; then\n"
      "    compset -P '*,'\n"
      "    _files\n"
      "  elif compset -P '(%s):'; then\n"
      "    _files\n"
      "  else\n"
      "    compadd -S : -- %s\n"
      "    _files\n"
      "  fi\n"
      "}\n",
      format_names("|", true, false).c_str(), format_names("|", false, true).c_str(),
      format_names(" ", true, true).c_str());
  std::puts(
      "_coldpress() {\n"
      "  local command='' i\n"
      "  for ((i = 2; i < CURRENT; ++i)); do\n"
      "    [[ ${words[i]} == -* ]] && break\n"
      "    command=${command:+$command }${words[i]}\n"
      "  done\n"
      "  # _arguments takes the words of the command for arguments.\n"
      "  local -a of_command=(${=command})\n"
      "  words=(\"${words[1]}\" \"${(@)words[${#of_command}+2,-1]}\")\n"
      "  ((CURRENT -= ${#of_command}))\n"
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
      std::string const one = long_name(*option), value = takes_data(*option)   ? ":_coldpress_data"
                                                          : takes_file(*option) ? ":_files"
                                                                                : ": ";
      if (one.empty()) {
        std::printf(" \\\n      '*:%s%s'", quoted(kind(*option)).c_str(), value.c_str());
        continue;
      }
      std::printf(" \\\n      '%s[%s]", one.c_str(), quoted(option->get_description()).c_str());
      if (takes_value(*option)) std::printf(":%s%s", quoted(kind(*option)).c_str(), value.c_str());
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
