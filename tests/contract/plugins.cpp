// Checks the contract that plug-ins of all kinds share: a unique name, and a help text.
#include <algorithm>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "cli/checkpoints/exporter.hpp"
#include "cli/command_line/command.hpp"
#include "cli/command_line/help.hpp"
#include "cli/doctor/doctor_check.hpp"
#include "cli/predict/prediction_writer.hpp"
#include "cli/start/builtin_functions.hpp"
#include "comm/backend.hpp"
#include "comm/gpu_backend.hpp"
#include "config/section.hpp"
#include "data/bytes/read_method.hpp"
#include "data/preprocess/preprocessing.hpp"
#include "data/reshape/operation.hpp"
#include "data/section/dataset_options.hpp"
#include "data/source/format.hpp"
#include "data/source/source.hpp"
#include "io/storage.hpp"
#include "launch/launcher.hpp"
#include "metrics/sink.hpp"
#include "program/environments/framework_environment.hpp"
#include "trainer/events/callback_kind.hpp"

using namespace trainrt;
using Catch::Matchers::Contains;

namespace {

template <class Record>
void check_names(PluginTable<Record> table) {
  std::set<std::string_view> names;
  CHECK(table.size() > 0);
  for (const auto* record : table) {
    INFO(record->name);
    CHECK_FALSE(record->name.empty());
    CHECK(record->help.size() > 5);
    CHECK(names.insert(record->name).second);
  }
}

void check_width(const std::string& help) {
  std::istringstream lines(help);
  for (std::string line; std::getline(lines, line);) CHECK((line.size() <= 100 ? "" : line) == "");
}

void check_options(std::span<const OptionSpec> options, bool with_section) {
  std::set<std::string_view> keys;
  for (const auto& option : options) {
    INFO(option.key);
    CHECK(keys.insert(option.key).second);
    CHECK(option.help.size() > 5);
    CHECK((option.key.find('.') != std::string_view::npos) == with_section);
    CHECK_FALSE((option.required && !option.default_value.empty()));
  }
}

}  // namespace

TEST_CASE("every plug-in has a unique name and help") {
  check_names(io::storage_table());
  check_names(launch::launcher_table());
  check_names(comm::backend_table());
  check_names(comm::gpu_backend_table());
  check_names(data::format_table());
  check_names(data::operation_table());
  check_names(data::read_method_table());
  check_names(data::preprocessor_table());
  check_names(metrics::sink_table());
  check_names(trainer::callback_table());
  check_names(config::section_table());
  check_names(builtin_functions());
  check_names(program::environment_table());
  check_names(cli::command_table());
  check_names(cli::exporter_table());
  check_names(cli::predictions::writer_table());
  check_names(cli::doctor::check_table());
}

TEST_CASE("the help of every command fits in 100 columns and shows its definition, a call, its options and exit codes") {
  std::vector<const cli::Command*> commands;
  for (const auto* command : cli::command_table()) {
    commands.push_back(command);
    if (command->tools == nullptr) continue;
    const auto tools = command->tools();
    commands.insert(commands.end(), tools.begin(), tools.end());
  }
  for (const auto* command : commands) {
    INFO(command->name);
    CHECK(command->help.find('\n') == std::string_view::npos);
    CHECK(command->help.size() <= 75);
    CHECK((command->notes.empty() || command->notes.ends_with('\n')));
    const auto help = cli::help_of(*command);
    check_width(help);
    CHECK(help.starts_with(
        fmt::format("trainrt {}: {}\n\nusage: trainrt {}\n", cli::full_name(*command), command->help, command->usage)));
    for (const auto& option : command->options) CHECK_THAT(help, Contains("\n  " + cli::option_text(option)));
    CHECK_THAT(help, Contains("\nexit codes\n  0 "));
  }
}

TEST_CASE("the general help fits on one screen and shows every command in its group") {
  const auto help = cli::general_help();
  CHECK(std::ranges::count(help, '\n') <= 24);
  check_width(help);
  for (const auto* command : cli::command_table()) {
    CHECK_FALSE(cli::group_title(command->group).empty());
    CHECK_THAT(help, Contains(fmt::format(" {} ", command->name)) && Contains(std::string(command->help)));
  }
  for (const auto* text :
       {"srun trainrt --config FILE", "srun trainrt -- PROGRAM ARGS", "trainrt -n 2 -- python3 train.py"})
    CHECK_THAT(help, Contains(text));
}

TEST_CASE("every exporter is selected by its extension") {
  for (const auto* exporter : cli::exporter_table())
    CHECK(cli::find_exporter("some/file.x" + std::string(exporter->extension)) == exporter);
  CHECK(cli::find_exporter("file") == nullptr);
  CHECK_THROWS_WITH(cli::throw_unknown_extension("file.safetensor", ""),
                    Contains("did you mean '.safetensors'") && Contains(".npz"));
}

TEST_CASE("every prediction writer is selected by its extension") {
  for (const auto* writer : cli::predictions::writer_table())
    CHECK(&cli::prediction_writer_for("some/file.x" + std::string(writer->extension)) == writer);
  CHECK_THROWS_WITH(cli::prediction_writer_for("file.cvs"), Contains("did you mean '.csv'") && Contains(".npz"));
}

TEST_CASE("every config key is declared once, with help") {
  check_options(config::declared_options(), true);
  check_options(data::common_options(), false);
  for (const auto* format : data::format_table()) check_options(format->options, false);
  for (const auto* sink : metrics::sink_table()) check_options(sink->options, false);
}

TEST_CASE("a wrong name lists the valid ones and the nearest") {
  CHECK_THROWS_WITH(find_plugin(data::format_table(), "sinthetic", "data format"),
                    Contains("did you mean 'synthetic'") && Contains("idx"));
}
