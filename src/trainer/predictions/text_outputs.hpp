#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <trainrt/communicator.hpp>
#include <trainrt/dataset.hpp>

#include "trainer/predictions/prediction.hpp"

namespace trainrt::trainer {

// Text fields of the dataset in the output of a prediction, where all texts of a field have the same size in bytes.

/// Returns whether --keep copies a field as text.
bool is_text(const Dataset::Field& field);

/// Returns the size in bytes, at least 1, of the longest text of each text field in `kept`, by name. Reads the dataset
/// once; the ranks divide it. Collective. Throws AgreedError if a text is not UTF-8 or contains a NUL, since shorter texts
/// are padded with NULs.
std::map<std::string, std::int64_t> text_sizes(const Dataset& dataset, const std::string& dataset_name,
                                               const std::vector<KeptField>& kept, Communicator& communicator);

/// Returns the texts of a field of a batch, each padded with NULs to `size` bytes.
std::string padded_texts(const Batch& batch, const std::string& field, std::int64_t size);

}  // namespace trainrt::trainer
