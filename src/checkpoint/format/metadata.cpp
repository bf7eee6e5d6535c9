#include "checkpoint/format/metadata.hpp"

#include <string>

#include <nlohmann/json.hpp>
#include <trainrt/error.hpp>

#include "core/excerpt.hpp"
#include "core/json_depth.hpp"

namespace trainrt::checkpoint {

namespace {

constexpr int deepest = deepest_json - 1;  // the manifest is one more around it

}  // namespace

void check_metadata(std::string_view json) try {
  if (is_nested_deeper(json, deepest))
    throw UsageError("checkpoint metadata is nested too deep: at most " + std::to_string(deepest) +
                     " arrays and objects may stand inside one another");
  if (!nlohmann::json::parse(json).is_object())
    throw UsageError("checkpoint metadata must be a JSON object, {\"key\": value, ...}, not: " +
                     std::string(json.substr(0, 80)));
} catch (const nlohmann::json::exception& error) {
  throw UsageError(std::string("checkpoint metadata is no JSON: ") + excerpt(error.what()));
}

}  // namespace trainrt::checkpoint
