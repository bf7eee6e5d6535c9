#pragma once
#include <string_view>

#include "data/batches/dataset_impl.hpp"

namespace trainrt::data {

/// Makes any number of samples of each, as Dataset::flat_map() says. How many of each is found once, each rank looking at
/// its part: 8 bytes a sample. The function is called again for each sample that is read.
void flat_map(DatasetImpl& dataset, std::string_view field, Dataset::Field made, const Dataset::FlatFunction& function);

}  // namespace trainrt::data
