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

// In all functions, `options` are the keys of a section [data.NAME] as the user gave them, without the section's name.
// Unknown keys, invalid values and unsuitable files are UsageErrors that name the section.

/// Returns the layout of the values in memory that the ranks of a node share. Returns nothing if the values are not to
/// be kept there. The result is the same on all ranks.
std::optional<UnitLayout> shared_layout(const std::string& name, const Options& options, const Listing& listing);

/// Opens the listed files for one rank. Afterwards, set the team of the dataset's plan and call prepare(). `seed` is
/// run.seed. `share` is the memory for shared_layout(), if that returned a layout. Each file is verified when it is
/// opened, unless `verification` already has the result for it; `verification` may be nullptr.
std::shared_ptr<DatasetImpl> open_dataset(const std::string& name, const Options& options, const Listing& listing,
                                          Shard shard, std::uint64_t seed, const NodeShare& share = {},
                                          std::shared_ptr<FileVerification> verification = nullptr);

/// Returns a plan that has only the first `samples` samples of `plan`, in the same order.
DatasetPlan first_samples(DatasetPlan plan, std::uint64_t samples);

/// Returns the verification of the listed files for open_dataset(). The key `verify` determines what it verifies.
std::shared_ptr<FileVerification> verification_of(const std::string& name, const Options& options, const Listing& listing);

}  // namespace trainrt::data
