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

// In all functions, `options` are the keys of a section [data.NAME] as the user gave them, without the section's name.
// Unknown keys, invalid values and unsuitable files are UsageErrors that name the section.

/// Checks the keys of a section without reading a file.
void check_options(const std::string& name, const Options& options);

/// Finds the files and their contents, on one rank for all. Logs its progress once a minute.
Listing list_dataset(const std::string& name, const Options& options);

/// Returns the layout of the values in memory that the ranks of a node share; nothing if they are not to be kept there. The
/// same on all ranks.
std::optional<UnitLayout> shared_layout(const std::string& name, const Options& options, const Listing& listing);

/// Opens the listed files for one rank; prepare() must follow, once the plan has its team. `seed` is run.seed. `share` is
/// the memory for shared_layout(), if there is one. Files are verified when they are opened, unless `verification` of the
/// listing, which may be nullptr, has their results already.
std::shared_ptr<DatasetImpl> open_dataset(const std::string& name, const Options& options, const Listing& listing,
                                          Shard shard, std::uint64_t seed, const NodeShare& share = {},
                                          std::shared_ptr<FileVerification> verification = nullptr);

/// Returns a plan of the first `samples` samples of `plan`, in their order.
DatasetPlan first_samples(DatasetPlan plan, std::uint64_t samples);

/// Returns a verification of the listed files by the key `verify`, for open_dataset().
std::shared_ptr<FileVerification> verification_of(const std::string& name, const Options& options, const Listing& listing);

}  // namespace trainrt::data
