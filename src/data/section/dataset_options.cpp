#include "data/section/dataset_options.hpp"

#include <fmt/format.h>

#include "core/text/text.hpp"
#include "data/bytes/expansion.hpp"
#include "data/bytes/file_reader.hpp"
#include "data/bytes/verify.hpp"
#include "data/reshape/operation.hpp"
#include "data/source/format.hpp"
#include "data/transform/augmentation.hpp"
#include "data/transform/transform.hpp"

namespace trainrt::data {

namespace {

/// Which samples, in which order.
std::vector<OptionSpec> options_of_samples() {
  return {
      {.key = "format",
       .default_value = "",
       .help = "format of the data; by default told from the name of the first file",
       .choices = names_of(format_table())},
      {.key = "source",
       .type = OptionType::path,
       .default_value = "",
       .help = "a file, a folder, a pattern (*, ?, [a-z]), @FILE with a list of such, or several between commas"},
      {.key = "shuffle",
       .type = OptionType::boolean,
       .default_value = "false",
       .help = "visit the samples in another order in each epoch"},
      {.key = "shuffle_seed",
       .type = OptionType::integer,
       .default_value = "0",
       .help = "another number, other orders of shuffle = true; they hang on the run's seed too"},
      {.key = "subset",
       .default_value = "",
       .help =
           "numbers of the samples to use, in this order: ranges FIRST:END (0:800) and single numbers, separated by commas, "
           "or @FILE with them; all by default"},
      {.key = "weights",
       .default_value = "",
       .help = "mixes the sources between commas: how much of an epoch each one is (0.7, 0.3); needs shuffle = true. The "
               "smaller ones are repeated, of the larger ones later epochs bring other samples"},
      {.key = "split",
       .type = OptionType::boolean,
       .default_value = "true",
       .help = "each rank gets its part of the samples; false: each rank gets all of them"},
      {.key = "block",
       .type = OptionType::integer,
       .default_value = "0",
       .help = "shuffle in blocks of so many neighbours, each read in one piece, for data that fit into no memory; 0: all "
               "samples among each other",
       .range = {.least = 0, .most = 0x1p40},
       .unit = "samples"},
      {.key = "window",
       .type = OptionType::integer,
       .default_value = "512",
       .help = "blocks that are shuffled among each other, and are in each rank's memory together",
       .range = {.least = 1, .most = 0x1p20},
       .unit = "blocks"}};
}

std::string ways_in_words() {
  std::vector<std::string> words;
  for (const auto* way : read_way_table()) words.push_back(fmt::format("{} ({})", way->name, way->help));
  return join(words);
}

/// How they are read.
std::vector<OptionSpec> options_of_reading() {
  return {
      {.key = "on_error",
       .default_value = "stop",
       .help = "what happens if a sample cannot be read, or a file not be opened at first: stop, or skip it, count it and "
               "warn; batches are smaller then, and files are not kept in memory",
       .choices = {"stop", "skip"}},
      {.key = "threads",
       .type = OptionType::integer,
       .default_value = "2",
       .help = "threads of each rank that read batches ahead, if the data are not in memory; 0: none. If it is not said: 4 "
               "for objects of a store",
       .range = {.least = 0, .most = 256}},
      {.key = "read",
       .default_value = "pread",
       .help = "how the bytes of files that are not in memory are read: " + ways_in_words(),
       .choices = names_of(read_way_table())},
      {.key = "memory",
       .type = OptionType::bytes,
       .default_value = "256 MiB",
       .help = "of each node, for the dataset: values that are no larger are kept in it, once for all ranks, else it holds "
               "batches that are read ahead"},
      {.key = "materialize",
       .type = OptionType::boolean,
       .default_value = "false",
       .help = "keep values in memory as cast, normalize and the like have made them, so that these work once; they must "
               "fit into memory"},
      verify_option()};
}

std::vector<OptionSpec> options_of_all() {
  auto specs = options_of_samples();
  for (auto& option : options_of_reading()) specs.push_back(std::move(option));
  specs.push_back(max_expanded_option());
  for (auto& option : transform_options()) specs.push_back(std::move(option));
  specs.push_back({.key = "preprocess",
                   .default_value = "",
                   .help = "preprocessors of columns, one after the other, fitted to the data at the start of a run: "
                           "StandardScaler(columns: a, b), OneHotEncoder(columns: c); or @FILE, a fitted one as JSON"});
  for (auto& option : operation_options()) specs.push_back(std::move(option));
  for (auto& option : augmentation_options()) specs.push_back(std::move(option));
  return specs;
}

}  // namespace

const std::vector<OptionSpec>& common_options() {
  static const auto specs = options_of_all();
  return specs;
}

bool is_split(const Options& options) {
  const auto* const given = options.find("split");
  return given == nullptr || parse_boolean(given->text).value_or(true);
}

}  // namespace trainrt::data
