#include "program/protocol/run_request.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "program/protocol/fields.hpp"

namespace trainrt::program {

namespace {

std::map<std::string, std::string> settings_in(const Json& body, const char* name) {
  std::map<std::string, std::string> settings;
  for (const auto& [key, value] : field(body, name, Json::value_t::object).items()) {
    if (!value.is_string())
      throw UsageError(
          fmt::format("train.program: the setting '{}' of open_run must be a string, as in a config file", key));
    settings[key] = value.get<std::string>();
  }
  return settings;
}

}  // namespace

StoreKeys take_store_keys(Json& body) {
  const auto found = body.find("store_keys");
  if (found == body.end()) return {};
  StoreKeys keys;
  for (auto [name, target] : {std::pair{"key", &keys.key}, {"secret", &keys.secret}, {"token", &keys.token}})
    *target = text_field(*found, name, "");
  body.erase(found);
  if (keys.key.empty() || keys.secret.empty())
    throw UsageError("train.program: \"store_keys\" must have \"key\" and \"secret\"");
  return keys;
}

RunRequest run_request_from(const Json& body) {
  RunRequest request;
  request.settings = settings_in(body, "settings");
  if (body.contains("defaults")) request.defaults = settings_in(body, "defaults");
  if (body.contains("number"))
    request.number =
        static_cast<int>(std::clamp<std::int64_t>(number_field(body, "number"), 1, std::numeric_limits<int>::max()));
  return request;
}

Json finished_fields(const Rendezvous& rendezvous, const RequestedRun& run) {
  return {{"finished", true},
          {"world_rank", rendezvous.rank},
          {"world_size", rendezvous.size},
          {"local_rank", rendezvous.local_rank},
          {"local_world_size", rendezvous.local_size},
          {"node_rank", rendezvous.node_rank},
          {"gpus", rendezvous.gpus},
          {"run_name", run.name},
          {"run_dir", run.run_dir},
          {"seed", 0},
          {"step", 0},
          {"step_seed", 0}};
}

}  // namespace trainrt::program
