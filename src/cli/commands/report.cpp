// trainrt report: writes an HTML page about runs.
#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "cli/command_line/arguments.hpp"
#include "cli/command_line/command.hpp"
#include "cli/files/atomic_file.hpp"
#include "cli/runs/read_runs.hpp"
#include "cli/runs/read_sweep.hpp"
#include "cli/terminal/print.hpp"
#include "core/host.hpp"
#include "core/text/byte_size.hpp"
#include "core/text/text.hpp"
#include "view/page/page.hpp"

namespace trainrt::cli::plugins {

namespace {

constexpr std::string_view report_usage = "report RUN_DIR|FOLDER... [-o FILE.html] [--force]";

constexpr Example report_examples[] = {{"trainrt report runs/first", "writes first.html"},
                                       {"trainrt report runs -o all.html", "compares the runs of a folder"}};

constexpr CommandOption report_options[] = {
    {"output", "FILE",
     "file to write, with the extension .html; default: NAME.html in the working directory, where NAME is the last "
     "component of the first argument"},
    {"force", "", "replace an existing file"}};

/// Returns the last component of a path: "fashion" for "runs/fashion/".
std::string title_of(const std::string& path_argument) {
  const auto path = std::filesystem::absolute(path_argument).lexically_normal();
  const auto name = path.has_filename() ? path.filename() : path.parent_path().filename();
  return name.empty() ? "runs" : name.string();
}

std::string output_of(const Arguments& arguments) {
  if (!arguments.has("output")) return title_of(arguments.operands.front()) + ".html";
  const auto& path = arguments.options.at("output");
  const auto extension = std::filesystem::path(path).extension();
  if (extension != ".html" && extension != ".htm")
    throw UsageError(fmt::format("invalid output file '{}': the name must end in .html", path));
  return path;
}

/// Returns the page for the arguments: the page of a sweep if the only argument is a sweep, otherwise the page of one
/// run or of several runs.
std::string page_about(const std::vector<std::string>& operands, std::vector<view::RunSummary> runs) {
  const auto title = title_of(operands.front());
  if (auto sweep = operands.size() == 1 ? read_sweep(operands.front()) : std::nullopt) {
    view::rank(*sweep, runs);
    return view::page::page_of(*sweep, runs, title, utc_now());
  }
  if (runs.size() == 1) return view::page::page_of(view::page::view_of(std::move(runs.front())), utc_now());
  return view::page::page_of(runs, title, utc_now());
}

ExitCode report_command(std::span<const std::string> words) {
  const auto arguments =
      parse_arguments(words, {.options = report_options, .min_operands = 1, .max_operands = 10000, .usage = report_usage});
  const auto path = output_of(arguments);
  AtomicFile file(path, arguments.has("force"));
  auto runs = read_runs(arguments.operands);
  if (runs.empty()) throw UsageError("no run can be read; the warnings above give the reason for each run");
  const auto count = static_cast<std::int64_t>(runs.size());
  const auto page = page_about(arguments.operands, std::move(runs));
  file.write(0, page);
  file.commit();
  print_safely("{}: {}, {}\n", path, counted(count, "run"), byte_size(page.size()));
  return ExitCode::finished;
}

}  // namespace

extern const Command report;
const Command report{
    .name = "report",
    .group = CommandGroup::view,
    .order = 4,
    .usage = report_usage,
    .help = "write one HTML page about one or several runs",
    .examples = report_examples,
    .options = report_options,
    .notes =
        "An argument is a run directory, or a folder of runs: a storage path or a sweep.\n"
        "The page of one run shows its curves, attempts, use of time, checkpoints, step times by rank, memory, CPU, "
        "storage and GPU, config, and the output of failures. The page of several runs compares them and the [loop] keys "
        "that "
        "differ. The page of a sweep shows its best trial, and all trials, sorted by the metric. The page is one file, "
        "which needs no server and no network.\n",
    .run = report_command};

}  // namespace trainrt::cli::plugins
