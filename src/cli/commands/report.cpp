// A page about runs, as one file that opens anywhere.
#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "cli/command_line/arguments.hpp"
#include "cli/command_line/command.hpp"
#include "cli/files/atomic_file.hpp"
#include "cli/runs/read_runs.hpp"
#include "cli/terminal/print.hpp"
#include "core/host.hpp"
#include "core/output/log.hpp"
#include "core/text/byte_size.hpp"
#include "core/text/text.hpp"
#include "view/page/page.hpp"

namespace trainrt::cli::plugins {

namespace {

constexpr std::string_view report_usage = "report RUN_DIR|FOLDER... [-o FILE.html] [--force]";

/// The last part of the first word: "runs/fashion/" is fashion.
std::string title_of(const std::string& word) {
  const auto path = std::filesystem::absolute(word).lexically_normal();
  const auto name = path.has_filename() ? path.filename() : path.parent_path().filename();
  return name.empty() ? "runs" : name.string();
}

std::string output_of(const Arguments& arguments) {
  if (!arguments.has("output")) return title_of(arguments.operands.front()) + ".html";
  const auto& path = arguments.options.at("output");
  const auto ending = std::filesystem::path(path).extension();
  if (ending != ".html" && ending != ".htm")
    throw UsageError(fmt::format("'{}' must end in .html: it is to be a page", path));
  return path;
}

ExitCode report_command(std::span<const std::string> words) {
  std::vector<std::string> long_words(words.begin(), words.end());
  std::replace(long_words.begin(), long_words.end(), std::string("-o"), std::string("--output"));
  const auto arguments = parse_arguments(long_words, {.with_value = {"output"},
                                                      .switches = {"force"},
                                                      .min_operands = 1,
                                                      .max_operands = 10000,
                                                      .usage = std::string(report_usage)});
  const auto path = output_of(arguments);
  AtomicFile file(path, arguments.has("force"));
  auto runs = read_runs(arguments.operands);
  if (runs.empty()) throw UsageError("none of the runs can be read");
  const auto count = static_cast<std::int64_t>(runs.size());
  const auto page = count == 1 ? view::page::page_of(view::page::view_of(std::move(runs.front())), utc_now())
                               : view::page::page_of(runs, title_of(arguments.operands.front()), utc_now());
  file.write(0, page);
  file.commit();
  print_safely("{}: {}, {}\n", path, counted(count, "run"), byte_size(page.size()));
  if (!view::page::has_charts())
    log::info("its pictures stand still: trainrt was built without dygraphs (install libjs-dygraphs, and build again)");
  return ExitCode::finished;
}

}  // namespace

extern const Command report;
const Command report{
    .name = "report",
    .usage = report_usage,
    .help = "a page about a run, or several, that opens in any browser, without a network",
    .details =
        "Each word is a run directory, or a folder of such: a storage path, a sweep. The page of one run has its curves,\n"
        "attempts and why each ended, where the time went, checkpoints, step times by rank and over time, memory, CPU,\n"
        "storage and GPU, the config and what changed in it, and the last words of failures. That of several has them "
        "side\n"
        "by side, with the [loop] keys that differ. It is one file, which needs no server. Without -o it is NAME.html in "
        "the\n"
        "working directory, after the first word. --force replaces a file that is there.\n",
    .run = report_command};

}  // namespace trainrt::cli::plugins
