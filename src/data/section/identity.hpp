#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "data/batches/dataset_plan.hpp"
#include "data/section/dataset_listing.hpp"

namespace trainrt::data {

// Identities of datasets, which checkpoints contain. A position inside an epoch can be restored only if the files and
// their order have the same identity. The identities of existing datasets must never change.

/// Returns the identity of the files: one line per file with its size, a digest of its first bytes, and its name. For
/// more than 200 files, the identity is a single line with the number of files and a digest of all these lines.
std::string files_text_of(const Listing& listing);
/// Returns the identity of the order: the number of samples and a description of their order. Precondition: the plan
/// has no steps.
std::string order_text_of(const Listing& listing, const DatasetPlan& plan);

/// Returns `plan` with the legacy shuffle (of the first trainrt versions) if such a version wrote `order`, the order text
/// of a checkpoint. An empty `order` is from the very first versions. Otherwise returns `plan` unchanged. Throws
/// UsageError if there is not enough memory for that shuffle.
DatasetPlan with_legacy_shuffle(DatasetPlan plan, std::string_view order);

/// Returns a description of the first difference between two results of files_text_of(), or nothing if they are equal.
std::optional<std::string> difference_of_files(std::string_view before, std::string_view now);

/// Returns the digest of the first 4 KiB of a file.
std::string head_digest(const DataFile& file);

}  // namespace trainrt::data
