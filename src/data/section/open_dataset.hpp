#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/options.hpp"
#include "data/batches/dataset_impl.hpp"
#include "data/node_memory/unit_layout.hpp"
#include "data/section/dataset_listing.hpp"
#include "data/section/file_verification.hpp"

namespace trainrt::data {

// In all functions, `options` are the keys of a section [data.NAME] as in the user's config, without the section's name.
// For unknown keys, invalid values and unsuitable files, the functions throw UsageError, which names the section.

/// Returns where the values are stored in the memory that the ranks of a node share. Returns nothing if the values are
/// not kept in shared memory, for example because they need more than the key `memory` allows. All ranks get the same
/// result.
std::optional<UnitLayout> shared_layout(const std::string& name, const Options& options, const Listing& listing);

/// Opens the listed files for one rank. The caller must then set the team of the dataset's plan and call prepare().
/// `seed` is run.seed. If shared_layout() returned a layout, `share` is the shared memory for it. Verifies each file
/// when it is opened, unless `verification` already has a result for the file. If `verification` is nullptr, uses the
/// result of verification_of().
std::shared_ptr<DatasetImpl> open_dataset(const std::string& name, const Options& options, const Listing& listing,
                                          Shard shard, std::uint64_t seed, const NodeShare& share = {},
                                          std::shared_ptr<FileVerification> verification = nullptr);

/// Returns a plan that has only the first `samples` samples of `plan`, in the same order.
DatasetPlan first_samples(DatasetPlan plan, std::uint64_t samples);

/// Returns the verification of the listed files for open_dataset(), according to the key `verify`.
std::shared_ptr<FileVerification> verification_of(const std::string& name, const Options& options, const Listing& listing);

}  // namespace trainrt::data
