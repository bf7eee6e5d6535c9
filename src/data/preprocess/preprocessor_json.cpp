// Parses the JSON form and the config text of preprocessors. Both may be from an untrusted source, so every error in them
// throws UsageError.
#include <algorithm>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/text/json_depth.hpp"
#include "core/text/text.hpp"
#include "data/preprocess/preprocessor_impl.hpp"

namespace trainrt {

data::Fields PreprocessorImpl::Stage::fields(const data::Fields& before) const {
  if (!is_fitted()) throw UsageError("it is not fitted");
  return work->fields(before);
}

bool PreprocessorImpl::is_fitted() const {
  return std::all_of(stages.begin(), stages.end(), [](const auto& stage) { return stage.is_fitted(); });
}

namespace data {

namespace {

using Json = nlohmann::json;

constexpr std::string_view chain_name = "Chain";
constexpr std::int64_t json_version = 1;

const Json& json_member(const Json& json, const char* key, Json::value_t type, const char* valid) {
  const auto found = json.find(key);
  if (found == json.end() || found->type() != type)
    throw UsageError(fmt::format("invalid JSON of a preprocessor: it must have the key \"{}\", {}", key, valid));
  return *found;
}

const PreprocessorKind& kind_named(std::string_view name) {
  if (name == "Tokenizer")
    throw UsageError(
        "the preprocessor Tokenizer was removed: "
        "make token files once with jobs/python/token_files.py (Hugging Face tokenizers)");
  return find_plugin(preprocessor_table(), name, "preprocessor");
}

void add_stages(const Json& json, int depth, PreprocessorImpl& into) {
  constexpr int max_depth = 8;
  constexpr std::size_t max_stages = 1000;
  if (!json.is_object()) throw UsageError("invalid JSON of a preprocessor: it is not an object");
  if (depth > max_depth) throw UsageError(fmt::format("Chains are nested in more than {} levels", max_depth));
  const auto name = json_member(json, "preprocessor", Json::value_t::string, "the name of its class").get<std::string>();
  if (const auto version = json.find("version");
      version == json.end() || !version->is_number_integer() || *version != json_version)
    throw UsageError(fmt::format("invalid JSON of a preprocessor: it needs \"version\": {}", json_version));
  const auto& parameters = json_member(json, "parameters", Json::value_t::object, "an object");
  if (name == chain_name) {
    into.is_chain = true;
    for (const auto& each : json_member(parameters, "preprocessors", Json::value_t::array, "a list of preprocessors"))
      add_stages(each, depth + 1, into);
    return;
  }
  if (into.stages.size() == max_stages) throw UsageError(fmt::format("a Chain has more than {} preprocessors", max_stages));
  const auto& kind = kind_named(excerpt(name, 60));
  const auto stats = json.find("stats");
  into.stages.push_back(stage_of(kind, parameters, stats == json.end() ? Json() : *stats));
}

Json stage_json(const PreprocessorImpl::Stage& stage) {
  Json json = {{"preprocessor", stage.kind->name}, {"version", json_version}, {"parameters", stage.parameters}};
  if (!stage.stats.is_null()) json["stats"] = stage.stats;
  return json;
}

/// Parses "NAME(key: values; key: values)" in `text` from the position `at` on, and sets `at` to the position after it.
PreprocessorImpl::Stage stage_from_text(std::string_view text, std::size_t& at) {
  const auto open = text.find('(', at), close = text.find(')', at);
  if (open == std::string_view::npos || close == std::string_view::npos || close < open)
    throw UsageError(
        fmt::format("'{}' is invalid; it must be NAME(columns: A, B; PARAMETER: VALUE)", excerpt(text.substr(at), 80)));
  const auto& kind = kind_named(trim(text.substr(at, open - at)));
  auto parameters = Json::object();
  for (auto rest = text.substr(open + 1, close - open - 1); !rest.empty();) {
    const auto end = std::min(rest.find(';'), rest.size());
    const auto each = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const auto colon = each.find(':');
    if (colon == std::string_view::npos)
      throw UsageError(fmt::format("{}: '{}' is invalid; it must be PARAMETER: VALUE", kind.name, trim(each)));
    const auto key = trim(each.substr(0, colon));
    if (parameters.contains(key)) throw UsageError(fmt::format("{}: the parameter {} is set twice", kind.name, key));
    parameters[key] = trim(each.substr(colon + 1));
  }
  at = close + 1;
  return stage_of(kind, parameters, nullptr);
}

}  // namespace

PreprocessorImpl::Stage stage_of(const PreprocessorKind& kind, const Json& parameters, const Json& stats) {
  return in_context(std::string(kind.name), [&]() -> PreprocessorImpl::Stage {
    const Parameters given(kind.parameters, parameters);
    std::shared_ptr<Preprocessing> work = kind.make(given);
    if (!stats.is_null()) {
      if (!stats.is_object() || !work->needs_fit())
        throw UsageError(work->needs_fit() ? "\"stats\" must be a JSON object"
                                           : "a preprocessor that needs no fit() must not have \"stats\"");
      work->set_stats(stats);
    }
    return {&kind, given.recorded(), stats, std::move(work)};
  });
}

PreprocessorImpl preprocessor_from(const Json& json) {
  PreprocessorImpl made;
  add_stages(json, 0, made);
  if (made.stages.empty()) throw UsageError("a Chain needs at least one preprocessor");
  return made;
}

PreprocessorImpl preprocessor_from_json_text(std::string_view text) {
  if (is_nested_deeper(text, max_json_depth)) throw UsageError("invalid JSON of a preprocessor: it is nested too deeply");
  const auto json = Json::parse(text, nullptr, false);
  if (json.is_discarded())
    throw UsageError(fmt::format("'{}' is not valid JSON", excerpt(join(printable_lines(text)), 80)));
  return preprocessor_from(json);
}

PreprocessorImpl preprocessor_from_text(std::string_view text) {
  PreprocessorImpl made;
  for (std::size_t at = 0;;) {
    made.stages.push_back(stage_from_text(text, at));
    const auto rest = trim(text.substr(at));
    if (rest.empty()) break;
    if (rest.front() != ',')
      throw UsageError(
          fmt::format("a comma is missing before '{}': preprocessors are separated by commas", excerpt(rest, 80)));
    at = text.find(',', at) + 1;
  }
  made.is_chain = made.stages.size() > 1;
  return made;
}

Json json_of(const PreprocessorImpl& preprocessor) {
  if (!preprocessor.is_chain) return stage_json(preprocessor.stages.front());
  auto stages = Json::array();
  for (const auto& stage : preprocessor.stages) stages.push_back(stage_json(stage));
  return {{"preprocessor", chain_name}, {"version", json_version}, {"parameters", {{"preprocessors", std::move(stages)}}}};
}

}  // namespace data

}  // namespace trainrt
