#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "data/source/source.hpp"

namespace trainrt::cli::datasets {

using SharedSource = std::shared_ptr<const data::Source>;

/// Those samples that meet a condition (data::RowPredicate), in their order: it is read what the condition needs, `at_once`
/// samples at a time, by so many threads, and a bit a sample is kept. UsageError if none does.
SharedSource rows_where(const SharedSource& source, const std::string& condition, std::uint64_t at_once, int threads,
                        bool quiet);

/// A part of the samples and the rest, each in their order: which are in the first one a permutation from the seed decides.
/// `share`: of the first, rounded to whole samples. UsageError if one of them would be empty.
std::array<SharedSource, 2> split_rows(const SharedSource& source, double share, std::uint64_t seed);

}  // namespace trainrt::cli::datasets
