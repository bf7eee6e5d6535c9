#pragma once
#include <string>
#include <string_view>

#include "data/batches/dataset_impl.hpp"
#include "data/section/listing.hpp"

namespace trainrt::data {

/// Converts the value of the key `preprocess` to the JSON form of a preprocessor: "NAME(columns: A), NAME(...)", or @FILE
/// with the JSON form of a fitted one. Returns "" for "". Throws UsageError if the value or the file is invalid.
std::string preprocessor_of_key(const std::string& text);

/// Applies the preprocessor listing.preprocessor to the dataset, if there is one, and returns its fitted JSON form. Takes
/// the stats from `stored`, the result of an earlier call, if that has the same parameters; else fits it, which is
/// collective over dataset.team. Must be called before the first epoch.
std::string preprocess_by_key(DatasetImpl& dataset, const Listing& listing, std::string_view stored);

}  // namespace trainrt::data
