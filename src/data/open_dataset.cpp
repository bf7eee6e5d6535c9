#include "data/open_dataset.hpp"

#include <algorithm>

#include <trainrt/error.hpp>

#include "core/memory.hpp"
#include "data/sampler.hpp"

namespace trainrt::data {

const std::vector<OptionSpec>& common_options() {
  static const std::vector<OptionSpec> specs{{.key = "format",
                                              .default_value = "",
                                              .help = "format of the data; by default told from the name of the source",
                                              .choices = names_of(format_table())},
                                             {.key = "shuffle",
                                              .type = OptionType::boolean,
                                              .default_value = "false",
                                              .help = "visit the samples in another order in each epoch"}};
  return specs;
}

namespace {

std::string section_of(const std::string& name) { return "[data." + name + "]"; }

const Format& format_of(const std::string& name, const Options& options) {
  if (const auto* given = options.find("format")) {
    try {
      return find_plugin(format_table(), given->text, "data format");
    } catch (const UsageError& error) {
      throw UsageError(given->origin + ": format in " + section_of(name) + ": " + error.what());
    }
  }
  const auto source = options.text("source");
  for (const auto* format : format_table())
    if (format->is_name_of != nullptr && format->is_name_of(source)) return *format;
  const auto names = names_of(format_table());
  throw UsageError("the key format in " + section_of(name) + " is missing" +
                   (source.empty() ? "" : ", and the name of the source '" + source + "' does not tell it") +
                   "; there are: " + join(names));
}

Options checked_options(const std::string& name, const Options& options, const Format& format) {
  auto specs = common_options();
  specs.insert(specs.end(), format.options.begin(), format.options.end());
  return checked(options, specs, section_of(name));
}

/// What a format says of its files, with the section in front.
template <class Call>
auto in_section(const std::string& name, const Call& call) {
  try {
    return call();
  } catch (const Error& error) {
    throw Error(section_of(name) + ": " + error.what(), error.code());
  }
}

/// A shuffled order is a list in memory.
void require_memory_for_order(const std::string& name, const DatasetImpl& dataset) {
  const auto samples = dataset.source->size();
  if (dataset.shuffle)
    require_memory(EpochOrder::bytes_of_shuffled(samples),
                   section_of(name) + ": the order of shuffle = true over " + std::to_string(samples) + " samples");
}

}  // namespace

void check_dataset(const std::string& name, const Options& options) {
  const auto& format = format_of(name, options);
  const auto good = checked_options(name, options, format);
  in_section(name, [&] { format.check(good); });
}

std::shared_ptr<DatasetImpl> open_dataset(const std::string& name, const Options& options, Shard shard,
                                          std::uint64_t seed) {
  const auto& format = format_of(name, options);
  const auto good = checked_options(name, options, format);
  auto dataset = std::make_shared<DatasetImpl>();
  dataset->name = name;
  dataset->source = in_section(name, [&] { return format.open(good); });
  dataset->shard = shard;
  dataset->shuffle = good.boolean("shuffle");
  require_memory_for_order(name, *dataset);
  dataset->seed = seed;
  return dataset;
}

}  // namespace trainrt::data
