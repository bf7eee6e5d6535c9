// Reads validation.json of a checkpoint.
#include "checkpoint/format/validation.hpp"

#include "support/fuzz/fuzz.hpp"

namespace trainrt::fuzz {

std::vector<std::string> seeds() {
  return {R"({"format": "trainrt validation", "version": 1, "metrics": {"accuracy": 0.5, "who": "me"}, "error": null})",
          R"({"format": "trainrt validation", "version": 1, "metrics": {}, "error": "no such luck"})", deep_json()};
}

std::vector<std::string> words() {
  return {"\"format\"",  "\"trainrt validation\"",
          "\"version\"", "\"metrics\"",
          "\"error\"",   "null",
          "true",        "{}",
          "[]",          "1e999",
          "-1"};
}

void read(const std::string& input) {
  const auto found =
      unless_refused([&] { return checkpoint::validation_from(input, "run/checkpoint_000007/validation.json"); });
  if (found) require(found->metrics.size() <= input.size(), "a validation has no more metrics than bytes");
}

}  // namespace trainrt::fuzz
