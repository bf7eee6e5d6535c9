#pragma once
#include <cstdint>
#include <span>
#include <string>

#include "data/source/source.hpp"

namespace trainrt::data {

/// The number of a sample that there is not.
inline constexpr std::uint64_t no_sample = ~std::uint64_t{0};

/// UsageError if a value of the field cannot be missing: NaN stands for a missing float, and nothing for a missing text
/// or list; whole numbers have no such value. `where`: "the join with 'users' by 'id'".
void require_missing_value(const Dataset::Field& field, const std::string& where);

/// `column` has the field of the samples that there are: puts the missing value where a place is no_sample.
void fill_missing(const Dataset::Field& field, std::span<const std::uint64_t> places, Column& column);

}  // namespace trainrt::data
