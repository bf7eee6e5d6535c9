#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/options.hpp"
#include "data/batches/dataset_impl.hpp"
#include "data/node_memory/node_share.hpp"
#include "data/node_memory/unit_layout.hpp"
#include "data/section/dataset_listing.hpp"
#include "data/section/file_verification.hpp"

namespace trainrt::data {

/// A [data.NAME] section has the common keys and those of its format. `options` holds the section's keys without the
/// section's name, as the user gave them. Unknown keys, bad values and files that will not do are UsageErrors that say
/// [data.NAME].

/// Looks at the section's keys, and at no file but, if the format is not told otherwise, at the names.
void check_options(const std::string& name, const Options& options);

/// Finds the files and what they hold: on one rank, for all. Says each minute how far it is.
Listing list_dataset(const std::string& name, const Options& options);

/// How its values would lie in memory that the ranks of a node share; nothing if they are not to be kept there. The same on
/// all ranks.
std::optional<UnitLayout> shared_layout(const std::string& name, const Options& options, const Listing& listing);

/// Opens what was listed for one rank; prepare() must follow, once the plan has its team. `seed` is the run's. `share` has
/// memory for shared_layout(), or none. Files are verified when they are opened, unless `verification` of the listing has
/// their results already.
std::shared_ptr<DatasetImpl> open_dataset(const std::string& name, const Options& options, const Listing& listing,
                                          Shard shard, std::uint64_t seed, const NodeShare& share = {},
                                          std::shared_ptr<FileVerification> verification = nullptr);

/// Returns a plan of the first `samples` samples of `plan`, in their order.
DatasetPlan first_samples(DatasetPlan plan, std::uint64_t samples);

/// Returns the verification of the listed files, as the key `verify` says: for open_dataset().
std::shared_ptr<FileVerification> verification_of(const std::string& name, const Options& options, const Listing& listing);

}  // namespace trainrt::data
