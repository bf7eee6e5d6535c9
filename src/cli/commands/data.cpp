// Tools for datasets, which are plug-ins in cli/data_tools.
#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/datasets/data_tool.hpp"

namespace trainrt::cli::plugins {

namespace {

constexpr std::string_view data_usage = "data inspect|convert|bench SOURCE... [--KEY=VALUE ...] | data serve";

ExitCode data_command(std::span<const std::string> words) {
  if (words.empty() || words.front().starts_with("-"))
    throw UsageError(fmt::format("{}a tool comes first: {}; usage: trainrt {}",
                                 words.empty() ? "" : fmt::format("'{}': ", words.front()),
                                 join(names_of(datasets::data_tool_table())), data_usage));
  return find_plugin(datasets::data_tool_table(), words.front(), "tool for data").run(words.subspan(1));
}

}  // namespace

extern const Command data;
const Command data{
    .name = "data",
    .usage = data_usage,
    .help = "what a dataset holds, one good file of it, and how fast this storage gives it",
    .details =
        "SOURCE is a file, a folder or a pattern, as the key source of a [data.NAME] takes it; the other keys of such a\n"
        "section are --KEY=VALUE: --format=csv --vector=x. --config FILE NAME takes a section [data.NAME] of a config, "
        "and\n"
        "--KEY=VALUE beats it. A key that is also an option of the tool is --data.KEY=VALUE: --data.subset=0:1000.\n"
        "\n"
        "data inspect [--rows N|--all] [--first N] [--pictures N] [--ranks N] [--threads N] [--json] [--quiet]\n"
        "  shows files, fields, statistics of the first N samples (100000; --all: of all), the first samples (--first 5), "
        "samples\n"
        "  of u8 images as characters (--pictures 3), and how so many ranks would read it, with advice. std is that of "
        "the\n"
        "  population; missing are NaN, and texts without a character; of distinct values the most frequent are named.\n"
        "\n"
        "data convert SOURCE... -o FILE.h5|.parquet|.npz|.csv|.jsonl [--columns A,B] [--where CONDITION] [--split SHARE] "
        "[--shuffle]\n"
        "             [--seed N] [--compress NAME|none] [--checksums] [--spreadsheet] [--threads N] [--force] [--quiet]\n"
        "  writes one file that appears whole or not at all. Killed, it goes on when the same command is given again (but "
        "with\n"
        "  --compress or --checksums, which begin anew); --force begins anew and replaces what is there. Keys that change "
        "values (cast,\n"
        "  normalize, one_hot) are applied, and so is preprocess; those that draw at random are not. weights and "
        "on_error=skip are\n"
        "  refused: each sample is written once.\n"
        "  --where 'x > 3 and (city == \"Paris\" or not flag)': numbers, texts in quotes, fields (in backquotes if the "
        "name is no\n"
        "  word; x[3] of a vector) and == != < <= > >= and or not. NaN equals nothing: x == x leaves missing values out.\n"
        "  --split 0.8 -o out.h5 writes out-train.h5 and out-test.h5, -o a.h5,b.h5 those: which samples are in the first\n"
        "  one --seed decides, their order stays. For a cut in the middle: --data.subset=0:800 and "
        "--data.subset=800:1000.\n"
        "  --shuffle: all samples among each other if they fit into --memory=SIZE (256 MiB), else in blocks (--block=N,\n"
        "  --window=N), the order of epoch 0 of a dataset of that name, seed and shuffle_seed.\n"
        "  In .h5 and .npz a field has as many values of each sample; texts need .parquet, .csv or .jsonl. --compress: "
        "gzip, or\n"
        "  lz4 by HDF5's plug-in, of .h5; snappy, zstd, gzip, lz4 or brotli of .parquet.\n"
        "  --checksums: an .h5 file whose values and metadata have checksums, in chunks of 16 KiB; .npz and .parquet "
        "always "
        "have\n"
        "  some.\n"
        "  --spreadsheet: an apostrophe before texts of a .csv file that a spreadsheet would take for a formula; without "
        "it\n"
        "  they are written as they are.\n"
        "\n"
        "data bench [--seconds S] [--batch N] [--threads N] [--json]\n"
        "  measures, in about 10 s, what files and keys give here: bytes, in order and at random, by each way of reading; "
        "samples\n"
        "  in order; batches in order and shuffled, with 1 and N threads, and where the time goes; and says what to "
        "change.\n"
        "\n"
        "data serve gives the Python package trainrt.data its datasets outside of a run; the package starts it.\n",
    .run = data_command};

}  // namespace trainrt::cli::plugins
