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

/// The keys that choose samples and their order.
std::vector<OptionSpec> options_of_samples() {
  return {{.key = "format",
           .default_value = "",
           .help = "format of the data; by default derived from the name of the first file",
           .choices = names_of(format_table())},
          {.key = "source",
           .type = OptionType::path,
           .default_value = "",
           .help = "a file, a folder, a pattern (*, ?, [a-z]), @FILE with a list of these, or several separated by commas"},
          {.key = "shuffle",
           .type = OptionType::boolean,
           .default_value = "false",
           .help = "visit the samples in a new random order in each epoch"},
          {.key = "shuffle_seed",
           .type = OptionType::integer,
           .default_value = "0",
           .help = "change it for another order of shuffle = true; the order also depends on the seed of the run"},
          {.key = "subset",
           .default_value = "",
           .help = "numbers of the samples to use, in this order: ranges FIRST:END (0:800) and single numbers, separated "
                   "by commas, or @FILE with them; all by default"},
          {.key = "weights",
           .default_value = "",
           .help = "shares of the sources between commas in an epoch (0.7, 0.3); needs shuffle = true. Samples of smaller "
                   "sources are repeated; larger sources continue in later epochs"},
          {.key = "split",
           .type = OptionType::boolean,
           .default_value = "true",
           .help = "divide the samples over the ranks; false: each rank gets all of them"},
          {.key = "block",
           .type = OptionType::integer,
           .default_value = "0",
           .help = "number of consecutive samples that are read in one piece and shuffled as a block, for data that do not "
                   "fit into memory; 0: no blocks",
           .range = {.least = 0, .most = 0x1p40},
           .unit = "samples"},
          {.key = "window",
           .type = OptionType::integer,
           .default_value = "512",
           .help = "number of blocks that are shuffled together; each rank has them in memory",
           .range = {.least = 1, .most = 0x1p20},
           .unit = "blocks"}};
}

std::string ways_in_words() {
  std::vector<std::string> words;
  for (const auto* way : read_way_table()) words.push_back(fmt::format("{} ({})", way->name, way->help));
  return join(words);
}

/// The keys that control reading.
std::vector<OptionSpec> options_of_reading() {
  return {{.key = "on_error",
           .default_value = "stop",
           .help = "how to treat a sample that cannot be read, and a file that cannot be opened at first: stop the run, or "
                   "skip it with a warning (batches are then smaller, and files are not kept in memory)",
           .choices = {"stop", "skip"}},
          {.key = "threads",
           .type = OptionType::integer,
           .default_value = "2",
           .help = "threads per rank that read batches ahead, if the data are not in memory; 0: no reading ahead. Default "
                   "for objects of a store: 4",
           .range = {.least = 0, .most = 256}},
          {.key = "read",
           .default_value = "pread",
           .help = "method of reading files that are not in memory: " + ways_in_words(),
           .choices = names_of(read_way_table())},
          {.key = "memory",
           .type = OptionType::bytes,
           .default_value = "256 MiB",
           .help = "memory per node for the dataset: if the values fit, they are kept there, once for all ranks; otherwise "
                   "it holds batches that are read ahead"},
          {.key = "materialize",
           .type = OptionType::boolean,
           .default_value = "false",
           .help = "keep values in memory after cast, normalize and other transforms, so that these are computed once; the "
                   "values must fit into memory"},
          verify_option()};
}

std::vector<OptionSpec> options_of_all() {
  auto specs = options_of_samples();
  for (auto& option : options_of_reading()) specs.push_back(std::move(option));
  specs.push_back(max_expanded_option());
  for (auto& option : transform_options()) specs.push_back(std::move(option));
  specs.push_back(
      {.key = "preprocess",
       .default_value = "",
       .help = "preprocessors of columns, applied one after another and fitted to the data at the start of a run: "
               "StandardScaler(columns: a, b), OneHotEncoder(columns: c); or @FILE with a fitted one as JSON"});
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
