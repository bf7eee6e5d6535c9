#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "core/options.hpp"
#include "data/dataset_impl.hpp"
#include "data/listing.hpp"

namespace trainrt::data {

/// A [data.NAME] section has the common keys and those of its format. `options` holds the section's keys without the
/// section's name, as the user gave them. Unknown keys, bad values and files that will not do are UsageErrors that say
/// [data.NAME].

/// Looks at the section's keys, and at no file but, if the format is not told otherwise, at the names.
void check_options(const std::string& name, const Options& options);

/// Finds the files and what they hold: on one rank, for all. Says each minute how far it is.
Listing list_dataset(const std::string& name, const Options& options);

/// Opens what was listed for one rank. `seed` is the run's.
std::shared_ptr<DatasetImpl> open_dataset(const std::string& name, const Options& options, const Listing& listing,
                                          Shard shard, std::uint64_t seed);

}  // namespace trainrt::data
