#pragma once
#include <string_view>
#include <vector>

#include "data/batches/dataset_impl.hpp"

namespace trainrt::data {

/// The fields of windows over samples with these. UsageError if one of them varies in length (but for that of the groups),
/// if that of the groups holds neither whole numbers nor texts, and for windows of no sample.
std::vector<Dataset::Field> windowed_fields(const std::vector<Dataset::Field>& before, const Dataset::Windows& windows);

/// Makes samples of neighbours, as Dataset::window() says. With groups each rank looks at its part of their field once; 8
/// bytes a sample are kept, unless each group lies together already.
void window(DatasetImpl& dataset, const Dataset::Windows& windows);

}  // namespace trainrt::data
