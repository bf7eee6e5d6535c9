#pragma once
#include <array>
#include <cstdint>
#include <memory>

#include "data/source/source.hpp"

namespace trainrt::cli::datasets {

using SharedSource = std::shared_ptr<const data::Source>;

/// A part of the samples and the rest, each in their order: which are in the first one a permutation from the seed decides.
/// `share`: of the first, rounded to whole samples. UsageError if one of them would be empty.
std::array<SharedSource, 2> split_rows(const SharedSource& source, double share, std::uint64_t seed);

}  // namespace trainrt::cli::datasets
