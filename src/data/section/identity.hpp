#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "data/batches/dataset_plan.hpp"
#include "data/section/dataset_listing.hpp"

namespace trainrt::data {

// Texts that identify the files of a dataset and the order of its samples. Checkpoints contain these identities. A
// position inside an epoch is restored only if both identities are unchanged, so trainrt must compute the same identities
// in all versions.

/// Returns the identity of the files: one line per file with its size, a digest of its first bytes, and its name. For
/// more than 200 files, the identity is a single line with the number of files and a digest of all these lines.
std::string files_text_of(const Listing& listing);
/// Returns the identity of the order: the number of samples and a description of their order. Precondition: `plan` has no
/// steps, such as filters.
std::string order_text_of(const Listing& listing, const DatasetPlan& plan);

/// Returns `plan` with the legacy shuffle of the first trainrt versions, if such a version wrote the checkpoint. `order` is
/// the identity of the order in the checkpoint; the very first versions wrote "". If another version wrote the checkpoint,
/// returns `plan` unchanged. Throws UsageError if there is not enough memory for the legacy shuffle.
DatasetPlan with_legacy_shuffle(DatasetPlan plan, std::string_view order);

/// Returns a description of the first difference between two results of files_text_of(), or nothing if they are equal.
std::optional<std::string> difference_of_files(std::string_view before, std::string_view now);

/// Returns the digest of the first 4 KiB of a file.
std::string head_digest(const DataFile& file);

}  // namespace trainrt::data
