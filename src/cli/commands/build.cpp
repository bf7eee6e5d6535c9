// trainrt build: compiles the torch module of an installation for the user's PyTorch.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/command_line/arguments.hpp"
#include "cli/command_line/command.hpp"
#include "core/process/spawn.hpp"

namespace trainrt::cli::plugins {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view build_usage = "build torch [--python PROGRAM] [--output FOLDER]";

constexpr Example build_examples[] = {
    {"trainrt build torch", "for the PyTorch of python3"},
    {"CXX=g++-12 trainrt build torch --python /opt/torch/bin/python", "with another PyTorch and compiler"}};

constexpr CommandOption build_options[] = {
    {"python", "PROGRAM", "Python that has PyTorch; default: python3"},
    {"output", "FOLDER", "folder for torch.so and torch.json; default: the modules of the installation"}};

constexpr ExitNote build_exit_codes[] = {
    {0, "built"}, {64, "invalid arguments, or no Python"}, {70, "PyTorch or the compiler is missing, or the build failed"}};

/// Returns the installation's prefix, the folder that contains bin/trainrt.
fs::path prefix_of_program() {
  std::error_code none;
  return fs::read_symlink("/proc/self/exe", none).parent_path().parent_path();
}

/// Returns `given` or the folder of the installation's modules. Throws UsageError if no file can be written there.
std::string output_folder(const std::string& given, const fs::path& prefix) {
  const auto modules = (prefix / "lib/trainrt/modules").string();
  const auto folder = given.empty() ? modules : given;
  if (access(folder.c_str(), W_OK) == 0) return folder;
  throw UsageError(
      fmt::format("{} cannot be written ({}). Pass --output FOLDER, and set TRAINRT_MODULE_PATH=FOLDER:{} when the "
                  "module is used",
                  folder, std::strerror(errno), modules));
}

ExitCode run_build(std::span<const std::string> words) {
  const auto arguments =
      parse_arguments(words, {.options = build_options, .min_operands = 1, .max_operands = 1, .usage = build_usage});
  if (arguments.operands.front() != "torch")
    throw UsageError(fmt::format("unknown module '{}': `trainrt build` can build torch", arguments.operands.front()));
  const auto prefix = prefix_of_program();
  const auto sources = prefix / "share/trainrt/torch", script = sources / "build.py";
  if (!fs::exists(script))
    throw UsageError(
        fmt::format("{} does not exist: this program was not installed. In a build folder, give CMake the PyTorch: "
                    "cmake -B build -DTORCH_ROOT=FOLDER",
                    script.string()));
  const auto option = [&](const char* name, const char* otherwise) {
    return arguments.has(name) ? arguments.options.at(name) : otherwise;
  };
  const auto output = output_folder(option("output", ""), prefix);
  const auto wanted = option("python", "python3");
  const auto python = find_executable(wanted);
  if (python.empty())
    throw UsageError(fmt::format("'{}' was not found. Load a module of Python, or pass --python PROGRAM", wanted));
  std::fflush(nullptr);
  execl(python.c_str(), wanted.c_str(), script.c_str(), sources.c_str(), (prefix / "include").c_str(), output.c_str(),
        static_cast<char*>(nullptr));
  throw Error(fmt::format("{} could not be started: {}", python, std::strerror(errno)));
}

}  // namespace

extern const Command build{
    .name = "build",
    .group = CommandGroup::machine,
    .order = 3,
    .usage = build_usage,
    .help = "compile the torch module for your PyTorch",
    .examples = build_examples,
    .options = build_options,
    .notes =
        "An installation from one file contains only the sources of this module. The build needs PyTorch 2.6 or newer, and "
        "a C++20 compiler such as GCC 11. CXX selects the compiler; the default is g++.\n",
    .exit_codes = build_exit_codes,
    .run = run_build,
    .output_is_result = false};

}  // namespace trainrt::cli::plugins
