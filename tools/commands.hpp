// The subcommands of coldpress. Each adds its options, and what is done when it is chosen: throws an Error where that
// fails, and a CLI::ParseError where the options contradict each other.
#pragma once

namespace CLI {
class App;
}

namespace coldpress::command {

void add_inspect(CLI::App& app);
void add_train(CLI::App& app);
void add_eval(CLI::App& app);
void add_predict(CLI::App& app);
void add_layers(CLI::App& app);

}  // namespace coldpress::command
