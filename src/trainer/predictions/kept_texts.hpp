#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <trainrt/communicator.hpp>
#include <trainrt/dataset.hpp>

#include "trainer/predictions/prediction.hpp"

namespace trainrt::trainer {

/// A field that --keep takes as texts.
bool is_text(const Dataset::Field& field);

/// The bytes of the longest text, at least 1, of each field that is kept and holds texts. Each rank reads a part of the
/// dataset for it, once. Collective. UsageError if a text is not UTF-8, or holds a NUL, which fills up shorter ones.
std::map<std::string, std::int64_t> widths_of_texts(const Dataset& dataset, const std::string& dataset_name,
                                                    const std::vector<KeptField>& kept, Communicator& communicator);

/// The texts of a batch, each filled up to `width` bytes.
std::string padded_texts(const Batch& batch, const std::string& field, std::int64_t width);

}  // namespace trainrt::trainer
