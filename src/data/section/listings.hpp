#pragma once
#include <map>
#include <string>

#include "core/options.hpp"
#include "data/section/dataset_listing.hpp"

namespace trainrt::data {

/// Lists the datasets of one run, as list_dataset() does each. Image folders have the class numbers of [data.train], if it
/// is among `sections` and has classes by name: a class that it lacks is a UsageError. The key `classes` of a section goes
/// before.
std::map<std::string, Listing> list_datasets(const std::map<std::string, Options>& sections);

/// Adds [data.train] of `all` to `chosen` if a section of `chosen` takes its class numbers from it.
void add_train_of_classes(std::map<std::string, Options>& chosen, const std::map<std::string, Options>& all);

}  // namespace trainrt::data
