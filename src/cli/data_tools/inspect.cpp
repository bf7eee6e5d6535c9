// What a dataset holds, what its values are like, and how a run would read it.
#include <algorithm>

#include <fmt/format.h>

#include "batch/signals.hpp"
#include "cli/datasets/data_tool.hpp"
#include "cli/datasets/inspect/inspection.hpp"
#include "cli/print.hpp"
#include "core/output/terminal.hpp"
#include "core/text/printable.hpp"

namespace trainrt::cli::datasets::plugins {

namespace {

constexpr std::string_view inspect_data_usage =
    "data inspect SOURCE...|--config FILE NAME [--KEY=VALUE ...] [--rows N|--all] [--first N] [--pictures N] [--ranks N] "
    "[--threads N] [--json] [--quiet]";

ExitCode inspect_data(std::span<const std::string> words) {
  const auto choice = choose_source(words, {.with_value = {"rows", "first", "pictures", "ranks", "threads"},
                                            .switches = {"all", "json", "quiet"},
                                            .usage = std::string(inspect_data_usage)});
  const auto& arguments = choice.arguments;
  constexpr std::uint64_t most_shown = 1000;
  constexpr std::int64_t usual_rows = 100'000, usual_first = 5, usual_pictures = 3;
  const auto rows = static_cast<std::uint64_t>(number_option(arguments, "rows", usual_rows));
  const auto first = static_cast<std::uint64_t>(number_option(arguments, "first", usual_first, 0));
  const auto pictures = static_cast<std::uint64_t>(number_option(arguments, "pictures", usual_pictures, 0));
  const auto ranks = static_cast<std::uint64_t>(number_option(arguments, "ranks", 1));
  const auto threads =
      static_cast<int>(std::min<std::int64_t>(number_option(arguments, "threads", default_threads()), 256));
  const auto opened = open_data(choice);
  batch::install_stop_signals();
  const auto size = opened.size(), looked_at = arguments.has("all") ? size : std::min(size, rows);
  Inspection inspection{.opened = opened, .facts = reading_facts(opened, ranks)};
  inspection.looked_at = looked_at;
  inspection.first = read_good_samples(opened, 0, std::min({size, std::max(first, pictures), most_shown}));
  const std::uint64_t readable = inspection.first.numbers.size();
  inspection.shown = std::min(readable, first);
  inspection.pictures = std::min(readable, pictures);
  inspection.statistics = gather(opened, looked_at, threads, arguments.has("quiet"));
  const auto terminal = terminal_of_output();
  constexpr std::size_t usual_width = 120;
  if (arguments.has("json"))
    print_text(printable_json(json_text(inspection)));
  else
    fmt::print("{}", page_text(inspection, terminal ? terminal->columns : usual_width, terminal.has_value()));
  return ExitCode::finished;
}

}  // namespace

extern const DataTool inspect;
const DataTool inspect{.name = "inspect",
                       .usage = inspect_data_usage,
                       .help = "fields, statistics, first samples, and how a run would read it",
                       .run = inspect_data};

}  // namespace trainrt::cli::datasets::plugins
