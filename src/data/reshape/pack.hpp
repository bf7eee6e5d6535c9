#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "data/batches/dataset_impl.hpp"

namespace trainrt::data {

/// What a packed sample is. UsageError if the field does not vary in length, or cannot hold the separator.
Dataset::Field packed_field(const Dataset::Field& before, std::uint64_t length, std::optional<std::int64_t> separator);

/// Puts the values of a field one behind the other and cuts them into samples of `length`, as Dataset::pack() says. 8 bytes
/// a sample of before are kept.
void pack(DatasetImpl& dataset, std::string_view field, std::uint64_t length, std::optional<std::int64_t> separator);

}  // namespace trainrt::data
