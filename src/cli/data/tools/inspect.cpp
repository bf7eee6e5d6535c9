// Shows the content of a dataset, statistics of its values, and how a run would read it.
#include <algorithm>

#include <fmt/format.h>

#include "batch/signals.hpp"
#include "cli/data/data_tool.hpp"
#include "cli/data/inspect/inspection.hpp"
#include "cli/terminal/print.hpp"
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
  const auto number = [&](const char* name, std::int64_t default_value, std::int64_t min) {
    return static_cast<std::uint64_t>(number_option(arguments, name, default_value, min));
  };
  constexpr std::uint64_t max_shown = 1000;
  const auto rows = number("rows", 100'000, 1), first = number("first", 5, 0), previews = number("pictures", 3, 0);
  const auto ranks = number("ranks", 1, 1);
  const auto threads = threads_option(arguments);
  const auto opened = open_data(choice);
  batch::install_stop_signals();
  Inspection inspection{.opened = opened, .facts = reading_facts(opened, ranks)};
  inspection.scanned = arguments.has("all") ? opened.size() : std::min(opened.size(), rows);
  inspection.first = read_good_samples(opened, 0, std::min({opened.size(), std::max(first, previews), max_shown}));
  const std::uint64_t readable = inspection.first.numbers.size();
  inspection.shown = std::min(readable, first);
  inspection.previews = std::min(readable, previews);
  inspection.statistics = gather_statistics(opened, inspection.scanned, threads, arguments.has("quiet"));
  const auto terminal = terminal_of_output();
  constexpr std::size_t default_width = 120;
  if (arguments.has("json"))
    print_text(printable_json(json_text(inspection)));
  else
    fmt::print("{}", page_text(inspection, terminal ? terminal->columns : default_width, terminal.has_value()));
  return ExitCode::finished;
}

}  // namespace

extern const DataTool inspect;
const DataTool inspect{.name = "inspect",
                       .usage = inspect_data_usage,
                       .help = "show fields, statistics and first samples of a dataset, and how a run would read it",
                       .details =
                           "  shows files, fields, statistics of the first N samples (100000; --all: of all), the first\n"
                           "  samples (--first 5), u8 images as characters (--pictures 3), and how N ranks would read the\n"
                           "  dataset, with advice. std is that of the population. missing counts NaN and empty texts.\n",
                       .run = inspect_data};

}  // namespace trainrt::cli::datasets::plugins
