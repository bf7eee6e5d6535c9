#pragma once
#include <string>
#include <string_view>

#include "data/batches/dataset_impl.hpp"
#include "data/section/dataset_listing.hpp"

namespace trainrt::data {

/// Returns the preprocessor that the key `preprocess` describes, as JSON. `text` is "NAME(columns: A), NAME(...)", or
/// @FILE, a file with a fitted preprocessor as JSON. Returns "" for an empty text. Throws UsageError that describes the
/// error.
std::string preprocessor_of_key(const std::string& text);

/// Applies listing.preprocessor to the dataset, if there is one, and returns the fitted preprocessor as JSON. No fit is
/// needed if the preprocessor is already fitted, or if `stored`, the result of an earlier call, is the same
/// preprocessor. Otherwise fits it first, collectively over the plan's team. Must be called before the first epoch.
std::string apply_preprocessor(DatasetImpl& dataset, const Listing& listing, std::string_view stored);

}  // namespace trainrt::data
