#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "data/batches/dataset_plan.hpp"
#include "data/section/dataset_listing.hpp"

namespace trainrt::data {

// Texts that checkpoints contain: a position inside an epoch is valid only for the same files in the same order. Texts of
// existing datasets must never change.

/// Returns the identity of the files: one line per file with size, digest of its first bytes, and name; for many files one
/// line with a digest of all lines.
std::string files_text_of(const Listing& listing);
/// Returns the number of samples and their order in words, for a plan without steps.
std::string order_text_of(const Listing& listing, const DatasetPlan& plan);

/// Returns `plan` with the shuffle of the first versions if `order`, the text of a checkpoint, was written by one of them;
/// it is empty if it was written by the very first versions. Otherwise returns `plan` unchanged.
/// Throws UsageError if there is not enough memory for that shuffle.
DatasetPlan with_legacy_shuffle(DatasetPlan plan, std::string_view order);

/// Returns the first difference between two results of files_text_of() in words; nothing if they are equal.
std::optional<std::string> difference_of_files(std::string_view before, std::string_view now);

/// Returns the digest of the first 4 KiB of a file.
std::string head_digest(const DataFile& file);

}  // namespace trainrt::data
