// A dataset as one good file.
#include <algorithm>

#include <fmt/format.h>
#include <malloc.h>

#include "batch/signals.hpp"
#include "cli/datasets/conversion.hpp"
#include "cli/datasets/data_tool.hpp"
#include "cli/datasets/opened_data.hpp"
#include "cli/print.hpp"
#include "core/text/text.hpp"
#include "data/section/dataset_section.hpp"
#include "data/source/on_error.hpp"

namespace trainrt::cli::datasets::plugins {

namespace {

constexpr std::string_view convert_usage =
    "data convert SOURCE...|--config FILE NAME -o FILE.h5|.parquet|.npz|.csv|.jsonl [--KEY=VALUE ...] [--columns A,B] "
    "[--where CONDITION] [--split SHARE] [--shuffle] [--seed N] [--compress NAME|none] [--checksums] [--threads N] "
    "[--spreadsheet] [--force] [--quiet]";

std::optional<double> share_option(const Arguments& arguments) {
  if (!arguments.has("split")) return std::nullopt;
  const auto share = parse_real(arguments.options.at("split"));
  if (!share || !(*share > 0 && *share < 1))
    throw UsageError(fmt::format("--split: '{}' is no number between 0 and 1: the share of the first file",
                                 excerpt(arguments.options.at("split"), 60)));
  return share;
}

/// Keys by which a run does not take each sample once: a file that is made as if they were not there is not what they say.
void require_each_sample(const SourceChoice& choice) {
  const auto refuse = [&](const char* key, std::string_view why, std::string_view way_out) {
    throw UsageError(fmt::format("{}: {} {}; a conversion writes each sample once: {}", choice.keys.find(key)->origin,
                                 data::section_of(choice.name), why, way_out));
  };
  if (choice.keys.has("weights")) refuse("weights", "mixes its sources by weights", "leave weights out");
  if (data::skips_errors(choice.keys)) refuse("on_error", "skips what cannot be read (on_error)", "say on_error = stop");
}

/// Blocks come and go: their memory is kept, instead of being given back and faulted in again.
void keep_freed_memory() {
  constexpr int most_kept = 256 << 20, largest_block = 32 << 20;
  mallopt(M_TRIM_THRESHOLD, most_kept);
  mallopt(M_MMAP_THRESHOLD, largest_block);
}

ExitCode convert_data(std::span<const std::string> words) {
  std::vector<std::string> long_words(words.begin(), words.end());
  std::replace(long_words.begin(), long_words.end(), std::string("-o"), std::string("--output"));
  auto choice = choose_source(long_words, {.with_value = {"output", "columns", "where", "split", "compress", "threads"},
                                           .switches = {"shuffle", "checksums", "spreadsheet", "force", "quiet"},
                                           .usage = std::string(convert_usage)});
  const auto& arguments = choice.arguments;
  const auto text = [&](const char* name) { return arguments.has(name) ? arguments.options.at(name) : std::string(); };
  if (arguments.has("where")) choice.keys.set("where", {text("where"), std::string(command_line)});
  if (text("output").empty()) throw UsageError(fmt::format("which file? usage: trainrt {}", convert_usage));
  constexpr std::int64_t most_threads = 256;
  ConversionWishes wishes{
      .output = text("output"),
      .columns = words_in(text("columns")),
      .split = share_option(arguments),
      .shuffle = arguments.has("shuffle"),
      .checksums = arguments.has("checksums"),
      .compression = text("compress") == "none" ? "" : text("compress"),
      .threads = static_cast<int>(std::min(number_option(arguments, "threads", default_threads()), most_threads)),
      .force = arguments.has("force"),
      .quiet = arguments.has("quiet"),
      .for_spreadsheets = arguments.has("spreadsheet")};
  require_each_sample(choice);
  keep_freed_memory();
  batch::install_stop_signals();
  const auto opened = open_data(choice);
  Conversion conversion(opened, std::move(wishes));
  conversion.run();
  for (const auto& line : conversion.summary()) print_safely("{}\n", line);
  return ExitCode::finished;
}

}  // namespace

extern const DataTool convert;
const DataTool convert{.name = "convert",
                       .usage = convert_usage,
                       .help = "one file of it that is read fast: some fields, some samples, split, shuffled",
                       .run = convert_data};

}  // namespace trainrt::cli::datasets::plugins
