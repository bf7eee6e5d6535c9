#pragma once
#include <string_view>

namespace trainrt::checkpoint {

/// Throws UsageError if a text of the user's, which a manifest is to carry as its metadata, is no JSON object, or
/// is nested deeper than a manifest may be.
void check_metadata(std::string_view json);

}  // namespace trainrt::checkpoint
