#pragma once
#include <string>
#include <string_view>

#include "data/batches/dataset_impl.hpp"
#include "data/section/listing.hpp"

namespace trainrt::data {

/// The JSON of what the key `preprocess` says: "NAME(columns: A), NAME(...)", or @FILE with a fitted one as JSON. An empty
/// text is none. UsageError that says what is wrong.
std::string preprocessor_of_key(const std::string& text);

/// Changes the dataset as listing.preprocessor says, if it says anything, and returns the fitted one as JSON. Fits it,
/// which is collective over dataset.team, unless it is fitted, or `stored`, what an earlier call has returned, is the same
/// one. Before the first epoch.
std::string preprocess_by_key(DatasetImpl& dataset, const Listing& listing, std::string_view stored);

}  // namespace trainrt::data
