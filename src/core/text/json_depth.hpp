#pragma once
#include <string_view>

namespace trainrt {

/// How many arrays and objects may stand inside one another in JSON that comes from outside. The parser takes any depth,
/// but destroying, comparing and printing what it made are recursive: without a limit the stack overflows.
constexpr int deepest_json = 64;

/// True if arrays and objects are nested deeper than that. The text need not be valid JSON. Looks at the text alone.
bool is_nested_deeper(std::string_view json, int levels);

}  // namespace trainrt
