#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "data/source/source.hpp"

namespace trainrt::cli::datasets {

using SharedSource = std::shared_ptr<const data::Source>;

/// Returns the samples that meet a condition (data::RowPredicate), in their order. Reads the fields of the condition,
/// `at_once` samples at a time, by `threads` threads. Throws UsageError if no sample meets it.
SharedSource select_rows(const SharedSource& source, const std::string& condition, std::uint64_t at_once, int threads,
                         bool quiet);

/// Splits the samples into two parts, each in their order. `share`: share of the samples in the first part, rounded. A
/// random permutation from the seed chooses them. Throws UsageError if a part would be empty.
std::array<SharedSource, 2> split_rows(const SharedSource& source, double share, std::uint64_t seed);

}  // namespace trainrt::cli::datasets
