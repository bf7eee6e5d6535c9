#pragma once
#include <string_view>

#include <trainrt/dataset.hpp>

namespace trainrt {
struct DatasetImpl;
}

namespace trainrt::data {

/// UsageError unless the field has one number a sample.
void require_weights(const Dataset::Field& field);

/// As Dataset::draw_by_weight() says.
void draw_by_weight(DatasetImpl& dataset, std::string_view field);
/// The same for the samples that there are now, if they are drawn by weight at all. Collective as that is.
void draw_again(DatasetImpl& dataset);

}  // namespace trainrt::data
