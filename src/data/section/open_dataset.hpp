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

/// Returns the layout of the values in the memory that the ranks of a node share. Returns nothing if the values must not be
/// kept in shared memory. The result is the same on all ranks.
std::optional<UnitLayout> shared_layout(const std::string& name, const Options& options, const Listing& listing);

/// Opens the listed files for one rank. The caller must then set the team of the dataset's plan and call prepare(). `seed`
/// is run.seed. `share` is the shared memory for the layout that shared_layout() returned, if any. Each file is verified
/// when it is opened, unless `verification` already has a result for the file; `verification` may be nullptr.
std::shared_ptr<DatasetImpl> open_dataset(const std::string& name, const Options& options, const Listing& listing,
                                          Shard shard, std::uint64_t seed, const NodeShare& share = {},
                                          std::shared_ptr<FileVerification> verification = nullptr);

/// Returns a plan that has only the first `samples` samples of `plan`, in the same order.
DatasetPlan first_samples(DatasetPlan plan, std::uint64_t samples);

/// Returns the verification of the listed files for open_dataset(), according to the key `verify`.
std::shared_ptr<FileVerification> verification_of(const std::string& name, const Options& options, const Listing& listing);

}  // namespace trainrt::data
