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

constexpr std::string_view inspect_data_usage = "data inspect SOURCE... [OPTION...]";

constexpr Example inspect_data_examples[] = {{"trainrt data inspect train.csv --format=csv", "a file"},
                                             {"trainrt data inspect --config train.ini train", "[data.train] of a config"}};

constexpr CommandOption inspect_data_options[] = {
    {"rows", "N", "samples for the statistics; default: 100000"},
    {"all", "", "use all samples for the statistics"},
    {"first", "N", "number of first samples to show, at most 1000; default: 5"},
    {"pictures", "N", "number of u8 images to show as characters; default: 3"},
    {"ranks", "N", "show how N ranks would read the dataset; default: 1"},
    threads_option_help,
    config_source_option,
    key_option,
    {"seed", "N", "seed of the order in which a run reads; default: run.seed of the config, or 1"},
    {"json", "", "print one JSON object"},
    {"quiet", "", "do not show the progress"}};

ExitCode inspect_data(std::span<const std::string> words) {
  const auto choice = choose_source(words, {.options = inspect_data_options, .usage = inspect_data_usage});
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
                       .group = CommandGroup::data,
                       .order = 1,
                       .usage = inspect_data_usage,
                       .help = "show the files, fields, statistics and first samples of a dataset",
                       .examples = inspect_data_examples,
                       .options = inspect_data_options,
                       .notes =
                           "Also shows how N ranks would read the dataset, with advice.\nIn the statistics, std is the "
                           "standard deviation of the population, and missing counts NaN and empty texts.\n",
                       .run = inspect_data};

}  // namespace trainrt::cli::datasets::plugins
