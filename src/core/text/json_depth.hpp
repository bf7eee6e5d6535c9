#pragma once
#include <string_view>

namespace trainrt {

/// The maximum nesting depth of arrays and objects in JSON from untrusted sources. The JSON parser accepts any depth, but
/// destroying, comparing and printing its result are recursive, so that deeper JSON could overflow the stack.
constexpr int max_json_depth = 64;

/// Returns whether arrays and objects in the text `json` are nested more than `max_depth` levels deep. The text may be
/// invalid JSON. Pure function.
bool is_nested_deeper(std::string_view json, int max_depth);

}  // namespace trainrt
