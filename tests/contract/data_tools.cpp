// Checks the contract of every tool of `trainrt data`, as listed by data_tool_table().
#include <array>
#include <functional>

#include <catch2/catch.hpp>
#include <trainrt/error.hpp>

#include "cli/command_line/command.hpp"
#include "cli/command_line/help.hpp"
#include "cli/data/data_tool.hpp"
#include "cli/data/source_choice.hpp"
#include "io/files/file.hpp"
#include "support/cpp/scratch.hpp"

using namespace trainrt;
using namespace trainrt::cli::datasets;
using Catch::Matchers::Contains;

namespace {

using Words = std::vector<std::string>;

/// Returns the error of a tool. Fails the test if the tool succeeds.
std::string error_of(const DataTool& tool, const Words& words, ExitCode code) {
  try {
    tool.run(words);
  } catch (const Error& error) {
    CHECK(error.code() == code);
    return error.what();
  }
  FAIL("no error");
  return "";
}

/// Returns the arguments of a tool for a source. convert also needs an output.
Words words_for(const DataTool& tool, const std::string& source, const test::Scratch& folder) {
  if (tool.usage.find(" -o ") == tool.usage.npos) return {source};
  return {source, "-o", folder / "out.jsonl", "--quiet"};
}

/// Calls `check` for each tool that reads a SOURCE.
void for_each_source_tool(const std::function<void(const DataTool&)>& check) {
  for (const auto* tool : data_tool_table()) {
    INFO(tool->name);
    if (tool->usage.find("SOURCE") != tool->usage.npos) check(*tool);
  }
}

}  // namespace

TEST_CASE("the help of trainrt data lists every tool, and the help of a tool shows that tool alone") {
  const auto help = cli::help_of(find_plugin(cli::command_table(), "data", "command"));
  for (const auto* tool : data_tool_table()) {
    INFO(tool->name);
    CHECK(tool->help.size() > 5);
    CHECK(tool->usage.starts_with("data " + std::string(tool->name)));
    CHECK_THAT(help, Contains("  " + std::string(tool->name) + " ") && Contains(std::string(tool->help)));
    const Words words{"data", std::string(tool->name), "train.csv"};
    CHECK(&cli::find_command_or_tool(words) == tool);
    CHECK_THAT(cli::help_of(*tool), Contains("trainrt " + std::string(tool->usage)) && !Contains("tools\n"));
  }
}

TEST_CASE("a data tool without a source is an error that shows the usage") {
  for_each_source_tool(
      [](const DataTool& tool) { CHECK_THAT(error_of(tool, {}, ExitCode::usage), Contains(std::string(tool.usage))); });
}

TEST_CASE("an unknown option or key of a data tool is an error that names it") {
  const test::Scratch folder;
  io::write_file(folder / "a.csv", "x\n1\n2\n");
  for_each_source_tool([&](const DataTool& tool) {
    for (const std::string option : {"--no-such-option", "--no_such_key=1"}) {
      auto words = words_for(tool, folder / "a.csv", folder);
      words.push_back(option);
      CHECK_THAT(error_of(tool, words, ExitCode::usage), Contains(option.substr(2, 7)));
    }
  });
}

TEST_CASE("a missing or damaged source of a data tool is an error that names the file, and leaves no output") {
  const test::Scratch folder;
  io::write_file(folder / "damaged.h5", "\x89HDF\r\n\x1a\nnothing more");
  io::write_file(folder / "damaged.npz", "PK\x03\x04 cut");
  for_each_source_tool([&](const DataTool& tool) {
    for (const std::string name : {"missing.csv", "damaged.h5", "damaged.npz"})
      CHECK_THAT(error_of(tool, words_for(tool, folder / name, folder), ExitCode::usage), Contains(name));
    CHECK_FALSE(io::exists(folder / "out.jsonl"));
  });
}

TEST_CASE("a renamed key without a section is an error that names its new name") {
  constexpr std::array renamed{config::RenamedKey{"data.*.most_pixels", "data.*.max_pixels"},
                               config::RenamedKey{"checkpoint.replicas", "checkpoint.replica_check"}};
  Options keys;
  keys.set("replicas", {"1", "command line"});
  CHECK_NOTHROW(require_current_keys(keys, renamed));
  keys.set("most_pixels", {"1", "command line"});
  CHECK_THROWS_WITH(require_current_keys(keys, renamed), Contains("the key most_pixels") && Contains("--max_pixels=VALUE"));
}

TEST_CASE("every renamed key of a dataset is an error of the data tools that names its new name") {
  for (const auto& [old_name, new_name] : config::renamed_keys()) {
    if (!old_name.starts_with("data.*.")) continue;
    INFO(old_name);
    const auto word = "--data." + std::string(old_name.substr(7)) + "=1";  // some tools have an option of that name
    for_each_source_tool([&](const DataTool& tool) {
      CHECK_THAT(error_of(tool, {"a.csv", word}, ExitCode::usage), Contains(std::string(new_name.substr(7))));
    });
  }
}
