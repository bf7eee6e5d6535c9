#pragma once
#include <string>

#include "core/options.hpp"

namespace trainrt::data {

/// Throws UsageError if `given`, the keys of a section [data.NAME], has a key of earlier versions that was removed; the
/// message names the replacement. `section` is "[data.NAME]".
void refuse_removed_keys(const std::string& section, const Options& given);

}  // namespace trainrt::data
