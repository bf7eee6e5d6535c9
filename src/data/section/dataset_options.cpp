#include "data/section/dataset_options.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/text/text.hpp"
#include "data/bytes/by_order.hpp"
#include "data/bytes/expansion.hpp"
#include "data/bytes/read_method.hpp"
#include "data/bytes/verify.hpp"
#include "data/reshape/operation.hpp"
#include "data/source/format.hpp"
#include "data/transform/transform.hpp"

namespace trainrt::data {

namespace {

/// Returns the specifications of the keys that choose and order samples.
std::vector<OptionSpec> options_of_samples() {
  return {
      {.key = "format",
       .default_value = "",
       .help = "format of the files; by default, the name of the first file determines it",
       .choices = names_of(format_table()),
       .synonyms = "type, kind, file_format"},
      {.key = "source",
       .type = OptionType::path,
       .default_value = "",
       .help =
           "files to read, separated by commas: a file, a folder, a pattern (*, ?, [a-z]), or @FILE with a list of these",
       .synonyms = "path, paths, file, files, filename, filenames, dataset, data, url, dir, folder, directory"},
      {.key = "shuffle",
       .type = OptionType::boolean,
       .default_value = "false",
       .help = "whether each epoch uses the samples in a new random order"},
      {.key = "shuffle_seed",
       .type = OptionType::integer,
       .default_value = "0",
       .help = "number that selects the shuffle order; the order also depends on the seed of the run"},
      {.key = "subset",
       .default_value = "",
       .help =
           "samples to use, in this order: ranges FIRST:END (0:800) and numbers, separated by commas, or @FILE with these; "
           "empty: all samples"},
      {.key = "weights",
       .default_value = "",
       .help =
           "share of an epoch's samples that each source provides, separated by commas (0.7, 0.3); needs shuffle = true. "
           "A small source is repeated; a large source continues in the next epoch"},
      {.key = "split",
       .type = OptionType::boolean,
       .default_value = "true",
       .help = "whether the samples are divided among the ranks; false: each rank gets all samples"},
      {.key = "block",
       .type = OptionType::integer,
       .default_value = "0",
       .help = "number of neighbouring samples that are read together as a block, for data much larger than memory. "
               "The blocks are shuffled, then the samples of each window. 0: single samples are shuffled",
       .range = {.least = 0, .most = 0x1p40},
       .unit = "samples"},
      {.key = "window",
       .type = OptionType::integer,
       .default_value = "512",
       .help =
           "number of blocks whose samples are shuffled together (a window); each rank holds up to two windows in memory",
       .range = {.least = 1, .most = 0x1p20},
       .unit = "blocks"}};
}

std::string read_methods_in_words() {
  std::vector<std::string> words;
  for (const auto* method : read_method_table()) words.push_back(fmt::format("{} ({})", method->name, method->help));
  return join(words);
}

/// Returns the specifications of the keys that control how files are read.
std::vector<OptionSpec> options_of_reading() {
  return {{.key = "on_error",
           .default_value = "stop",
           .help = "action if a sample cannot be read, or a file cannot be opened before the run: "
                   "stop, or skip it with a warning. With skip, reports contain the number of skipped samples, "
                   "batches may be smaller, and values are not kept in memory",
           .choices = {"stop", "skip"}},
          {.key = "threads",
           .type = OptionType::integer,
           .default_value = "2",
           .help = "number of threads per rank that read batches ahead, if the data are not in memory; "
                   "0: batches are read when they are needed. The default for object stores is 4. "
                   "Ranks that share CPUs have fewer threads, even if this key is set",
           .range = {.least = 0, .most = 256}},
          {.key = "read_method",
           .default_value = "pread",
           .help = "method of reading the bytes of files that are not in memory: " + read_methods_in_words(),
           .choices = names_of(read_method_table())},
          {.key = "memory",
           .type = OptionType::bytes,
           .default_value = "256 MiB",
           .help = "maximum memory per node for this dataset. "
                   "If all values of the dataset fit, they are kept in memory once for all ranks of the node; "
                   "otherwise the memory is used for batches that are read ahead"},
          {.key = "materialize",
           .type = OptionType::boolean,
           .default_value = "false",
           .help = "whether to keep the values in memory after keys such as cast and normalize were applied to them. "
                   "Each key is then applied only once; the values must fit into memory"},
          verify_option()};
}

std::vector<OptionSpec> options_of_all() {
  auto specs = options_of_samples();
  for (auto& option : options_of_reading()) specs.push_back(std::move(option));
  specs.push_back(max_expanded_option());
  for (auto& option : field_options(transform_table())) specs.push_back(std::move(option));
  specs.push_back(
      {.key = "preprocess",
       .default_value = "",
       .help =
           "preprocessors of columns, applied in this order and fitted to the data at the start of a run: "
           "StandardScaler(columns: a, b), OneHotEncoder(columns: c); or @FILE, a JSON file with a fitted preprocessor"});
  for (auto& option : operation_options()) specs.push_back(std::move(option));
  for (auto& option : field_options(augmentation_table())) specs.push_back(std::move(option));
  return specs;
}

/// Returns the names of all keys, of any format, that have paths as values.
std::set<std::string> path_keys() {
  std::set<std::string> keys;
  const auto add = [&keys](std::span<const OptionSpec> options) {
    for (const auto& option : options)
      if (option.type == OptionType::path) keys.insert(option.key);
  };
  add(common_options());
  for (const auto* format : format_table()) add(format->options);
  return keys;
}

/// Returns the names of the keys that may have @FILE as value, in the order in which the keys are applied.
std::vector<std::string> marked_keys() {
  std::vector<std::string> keys{"subset", "preprocess"};
  for (const auto* kind : by_order(operation_table()))
    if (kind->reads_file) keys.emplace_back(kind->name);
  return keys;
}

constexpr RemovedKey removed[] = {
    RemovedKey{"join", "Join the tables before the run, with DuckDB or pandas, and use the joined file as source"},
    RemovedKey{
        "tokenize",
        "Convert the texts to token files once with jobs/python/token_files.py, and read these with format = tokens"},
};

}  // namespace

const std::vector<OptionSpec>& common_options() {
  static const auto specs = options_of_all();
  return specs;
}

bool is_split(const Options& options) {
  const auto* const given = options.find("split");
  return given == nullptr || parse_boolean(given->text).value_or(true);
}

bool names_files(const std::string& key, const std::string& text) {
  static const auto paths = path_keys();
  static const auto marked = marked_keys();
  return paths.contains(key) || (text.starts_with('@') && std::ranges::find(marked, key) != marked.end());
}

std::vector<DataFile> referenced_files(const Options& options) {
  std::vector<DataFile> files;
  for (const auto& key : marked_keys())
    if (const auto text = options.text(key); text.starts_with('@'))
      for (auto& file : list_data_files(trim(std::string_view(text).substr(1)))) files.push_back(std::move(file));
  return files;
}

std::span<const RemovedKey> removed_keys() { return removed; }

void require_not_removed(const std::string& section, const Options& options) {
  for (const auto& row : removed)
    if (const auto* given = options.find(row.key))
      throw UsageError(fmt::format("{}: the key '{}' in {} was removed. {}", given->origin, row.key, section, row.advice));
}

}  // namespace trainrt::data
