#pragma once
#include <map>
#include <string>

#include "core/options.hpp"
#include "data/section/dataset_listing.hpp"

namespace trainrt::data {

/// Lists the datasets of one run by list_dataset(). Image folders without the key `classes` use the class numbers of
/// [data.train], if [data.train] is among `sections` and has class names. Throws UsageError if such a folder has a
/// class that [data.train] lacks.
std::map<std::string, Listing> list_datasets(const std::map<std::string, Options>& sections);

/// Adds [data.train] of `all` to `chosen` if a section of `chosen` gets its class numbers from it.
void add_train_of_classes(std::map<std::string, Options>& chosen, const std::map<std::string, Options>& all);

}  // namespace trainrt::data
