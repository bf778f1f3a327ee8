// The subcommands of coldpress.
#pragma once

// Each function adds a subcommand with its options and its action. The action throws an Error if it fails, and a
// CLI::ParseError if the options contradict each other.

namespace CLI {
class App;
}

namespace coldpress::command {

void add_inspect(CLI::App& app);
void add_train(CLI::App& app);
void add_find_rate(CLI::App& app);
void add_eval(CLI::App& app);
void add_predict(CLI::App& app);
void add_layers(CLI::App& app);
void add_data(CLI::App& app);
void add_export(CLI::App& app);
void add_convert(CLI::App& app);
void add_amp(CLI::App& app);
void add_stream(CLI::App& app);
void add_bench(CLI::App& app);
void add_completion(CLI::App& app);

}  // namespace coldpress::command
