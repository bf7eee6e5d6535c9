#include "program/protocol/run_request.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "program/protocol/fields.hpp"

namespace trainrt::program {

RunRequest run_request_from(const Json& body) {
  RunRequest request;
  for (const auto& [key, value] : field(body, "settings", Json::value_t::object).items()) {
    if (!value.is_string())
      throw UsageError(fmt::format("train.program: the setting '{}' of open_run must be a text, as in a config", key));
    request.settings[key] = value.get<std::string>();
  }
  if (body.contains("number"))
    request.number =
        static_cast<int>(std::clamp<std::int64_t>(number_field(body, "number"), 1, std::numeric_limits<int>::max()));
  return request;
}

Json finished_fields(const ProgramPlace& place, const RequestedRun& run) {
  return {{"finished", true},
          {"world_rank", place.rank},
          {"world_size", place.size},
          {"local_rank", place.local_rank},
          {"local_world_size", place.local_size},
          {"node_rank", place.node_rank},
          {"gpus", place.gpus},
          {"run_name", run.name},
          {"run_dir", run.run_dir},
          {"seed", 0},
          {"step", 0},
          {"step_seed", 0}};
}

}  // namespace trainrt::program
