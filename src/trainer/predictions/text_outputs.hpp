#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <trainrt/communicator.hpp>
#include <trainrt/dataset.hpp>

#include "trainer/predictions/prediction.hpp"

namespace trainrt::trainer {

// Functions that copy text fields of a dataset to the output of a prediction. In the output, all texts of a field have the
// same size in bytes.

/// Returns whether option --keep copies `field` as text: a field of bytes that varies in length.
bool is_text(const Dataset::Field& field);

/// Returns the size in bytes, at least 1, of the longest text of each text field in `kept`, by name of the field. Each rank
/// reads some of the samples. Collective. Throws AgreedError if a text is not UTF-8 or contains a NUL, since NULs pad
/// shorter texts.
std::map<std::string, std::int64_t> text_sizes(const Dataset& dataset, const std::string& dataset_name,
                                               const std::vector<KeptField>& kept, Communicator& communicator);

/// Returns the texts of field `field` in `batch`, concatenated. Each text is padded with NULs to `size` bytes.
std::string padded_texts(const Batch& batch, const std::string& field, std::int64_t size);

}  // namespace trainrt::trainer
