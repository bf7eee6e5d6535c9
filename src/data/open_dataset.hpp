#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "core/options.hpp"
#include "data/dataset_impl.hpp"

namespace trainrt::data {

/// A [data.NAME] section has the keys `format` (may be left out if the file name tells it), `shuffle` (boolean, default
/// false), and those of its format. `options` holds the section's keys without the section's name, as the user gave them.
/// Unknown keys, bad values and files that will not do are UsageErrors that say [data.NAME].

/// A quick look without reading the data.
void check_dataset(const std::string& name, const Options& options);

/// Opens the data for one rank. `seed` is the run's.
std::shared_ptr<DatasetImpl> open_dataset(const std::string& name, const Options& options, Shard shard, std::uint64_t seed);

/// The keys of every section beside those of its format, for help and lists.
const std::vector<OptionSpec>& common_options();

}  // namespace trainrt::data
