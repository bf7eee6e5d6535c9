// Writes a dataset as one file that is fast to read.
#include <algorithm>

#include <fmt/format.h>
#include <malloc.h>

#include "batch/signals.hpp"
#include "cli/data/convert/conversion.hpp"
#include "cli/data/data_tool.hpp"
#include "cli/terminal/print.hpp"
#include "core/text/text.hpp"
#include "data/section/dataset_section.hpp"
#include "data/source/skipping_reader.hpp"

namespace trainrt::cli::datasets::plugins {

namespace {

constexpr std::string_view convert_usage = "data convert SOURCE... -o FILE.h5|.parquet|.npz|.csv|.jsonl [OPTION...]";

constexpr Example convert_examples[] = {
    {"trainrt data convert 'csv/*.csv' -o train.h5", "many files to one"},
    {"trainrt data convert all.parquet -o all.h5 --split 0.8 --shuffle", "all-train.h5 and all-test.h5"}};

constexpr CommandOption convert_options[] = {
    {"output", "FILE",
     "file to write (required). The extension selects the format. With --split: FILE,FILE names both files"},
    {"columns", "A,B", "fields to write, in this order; default: all"},
    {"where", "CONDITION",
     "samples to write, such as 'x > 3 and (city == \"Paris\" or not flag)'; default: all. See below"},
    {"split", "SHARE",
     "write two files: a random share of the samples, such as 0.8, goes to out-train.h5, and the rest goes to out-test.h5. "
     "Both keep the order. To divide the samples at a position instead, use --subset=0:800 and --subset=800:1000"},
    {"shuffle", "",
     "shuffle the samples as a run shuffles epoch 0 of a dataset with the same name, seed and shuffle_seed: all samples "
     "if they fit into --memory=SIZE (256 MiB), else in blocks (--block=N, --window=N)"},
    {"seed", "N", "seed of --shuffle and of the samples that --split chooses; default: run.seed of the config, or 1"},
    {"compress", "NAME",
     "gzip or lz4 (HDF5's plug-in) for .h5; snappy, zstd, gzip, lz4 or brotli for .parquet; default: no compression"},
    {"checksums", "", "add checksums to .h5, in chunks of 16 KiB; .npz and .parquet always have them"},
    {"spreadsheet", "", "put an apostrophe before texts in a .csv file that a spreadsheet would interpret as a formula"},
    threads_option_help,
    config_source_option,
    key_option,
    {"force", "", "start over, and replace an existing file"},
    {"quiet", "", "do not show the progress"}};

std::optional<double> share_option(const Arguments& arguments) {
  if (!arguments.has("split")) return std::nullopt;
  const auto share = parse_real(arguments.options.at("split"));
  if (!share || !(*share > 0 && *share < 1))
    throw UsageError(fmt::format("invalid --split '{}': expected the share of the first file, between 0 and 1",
                                 excerpt(arguments.options.at("split"), 60)));
  return share;
}

/// Throws UsageError if a key makes a run skip or repeat samples. A conversion cannot obey such a key, because it
/// writes each sample once.
void require_each_sample(const SourceChoice& choice) {
  const auto refuse = [&](const char* key, std::string_view why, std::string_view help) {
    throw UsageError(fmt::format("{}: {} {}, but a conversion writes each sample once: {}", choice.keys.find(key)->origin,
                                 data::section_of(choice.name), why, help));
  };
  if (choice.keys.has("weights")) refuse("weights", "mixes its sources by weights", "remove weights");
  if (data::skips_errors(choice.keys)) refuse("on_error", "skips unreadable samples (on_error)", "set on_error = stop");
}

/// Makes malloc keep the memory of freed blocks for the next blocks. This saves page faults.
void keep_freed_memory() {
  constexpr int max_kept = 256 << 20, max_block = 32 << 20;
  mallopt(M_TRIM_THRESHOLD, max_kept);
  mallopt(M_MMAP_THRESHOLD, max_block);
}

ExitCode convert_data(std::span<const std::string> words) {
  auto choice = choose_source(words, {.options = convert_options, .usage = convert_usage});
  const auto& arguments = choice.arguments;
  const auto text = [&](const char* name) { return arguments.has(name) ? arguments.options.at(name) : std::string(); };
  if (arguments.has("where")) {
    const auto of_section = trim(choice.keys.text("where"));
    choice.keys.set("where", {of_section.empty() ? text("where") : fmt::format("({}) and ({})", of_section, text("where")),
                              std::string(command_line)});
  }
  if (text("output").empty()) throw UsageError(fmt::format("missing option: -o FILE; usage: trainrt {}", convert_usage));
  ConversionSpec spec{.output = text("output"),
                      .columns = words_in(text("columns")),
                      .split = share_option(arguments),
                      .shuffle = arguments.has("shuffle"),
                      .checksums = arguments.has("checksums"),
                      .compression = text("compress") == "none" ? "" : text("compress"),
                      .threads = threads_option(arguments),
                      .force = arguments.has("force"),
                      .quiet = arguments.has("quiet"),
                      .escapes_formulas = arguments.has("spreadsheet")};
  require_each_sample(choice);
  keep_freed_memory();
  const auto opened = open_data(choice);
  batch::install_stop_signals();  // before this call, no file has been written, and a signal ends the command at once
  Conversion conversion(opened, std::move(spec));
  conversion.run();
  for (const auto& line : conversion.summary()) print_safely("{}\n", line);
  return ExitCode::finished;
}

}  // namespace

extern const DataTool convert;
const DataTool convert{
    .name = "convert",
    .group = CommandGroup::data,
    .order = 2,
    .usage = convert_usage,
    .help = "write a dataset as one file that is fast to read: select, split, shuffle",
    .examples = convert_examples,
    .options = convert_options,
    .notes =
        "FILE appears only when it is complete. If the command is killed, run it again to resume (with --compress or "
        "--checksums of .h5 it starts over).\n"
        "Keys that change values (cast, normalize, one_hot) and preprocess are applied, random augmentations are not. "
        "weights and on_error=skip are errors, because each sample is written once.\n"
        "A CONDITION consists of numbers, texts in quotes, fields (in backquotes if the name is not a word; x[3] of a "
        "vector), == != < <= > >=, and, or, not. NaN is unequal to everything: x == x leaves missing values out. It is the "
        "key where, which is applied before preprocess and the keys that make samples (explode, sequence, pack).\n"
        ".h5 and .npz need samples of one size; use .parquet, .csv or .jsonl for texts.\n",
    .run = convert_data};

}  // namespace trainrt::cli::datasets::plugins
