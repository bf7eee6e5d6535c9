#pragma once
#include <map>
#include <string>

#include "core/options.hpp"
#include "data/section/dataset_listing.hpp"

namespace trainrt::data {

/// Lists the datasets of one run by list_dataset(). If [data.train] is among `sections` and has class names, image
/// folders without the key `classes` use its class numbers. In this case, throws UsageError if an image folder has a
/// class that [data.train] lacks.
std::map<std::string, Listing> list_datasets(const std::map<std::string, Options>& sections);

/// Copies [data.train] from `all` to `chosen` if a section of `chosen` uses the class numbers of [data.train].
void add_train_of_classes(std::map<std::string, Options>& chosen, const std::map<std::string, Options>& all);

}  // namespace trainrt::data
