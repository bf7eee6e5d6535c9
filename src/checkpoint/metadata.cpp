#include "checkpoint/metadata.hpp"

#include <nlohmann/json.hpp>
#include <trainrt/error.hpp>

#include "core/excerpt.hpp"

namespace trainrt::checkpoint {

void check_metadata(std::string_view json) try {
  if (!nlohmann::json::parse(json).is_object())
    throw UsageError("checkpoint metadata must be a JSON object, {\"key\": value, ...}, not: " +
                     std::string(json.substr(0, 80)));
} catch (const nlohmann::json::exception& error) {
  throw UsageError(std::string("checkpoint metadata is no JSON: ") + excerpt(error.what()));
}

}  // namespace trainrt::checkpoint
