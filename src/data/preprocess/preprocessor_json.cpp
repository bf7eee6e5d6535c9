// Preprocessors as JSON, which may come from anywhere: what is wrong with it is a UsageError.
#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/text/text.hpp"
#include "data/preprocess/preprocessor_impl.hpp"

namespace trainrt::data {

namespace {

using Json = nlohmann::json;

constexpr std::string_view chain_name = "Chain";
constexpr std::int64_t json_version = 1;
constexpr std::size_t most_stages = 1000;

const Json& json_member(const Json& json, const char* key, Json::value_t type, const char* what) {
  const auto found = json.find(key);
  if (found == json.end() || found->type() != type)
    throw UsageError(fmt::format("a preprocessor's JSON needs \"{}\", {}", key, what));
  return *found;
}

void require_version(const Json& json) {
  const auto found = json.find("version");
  if (found == json.end() || !found->is_number_integer() || *found != json_version)
    throw UsageError(fmt::format("a preprocessor's JSON needs \"version\": {}", json_version));
}

const PreprocessorKind& kind_named(std::string_view name) {
  if (name == "Tokenizer")
    throw UsageError(
        "the preprocessor Tokenizer was removed. Convert the texts to token files once with jobs/python/token_files.py, "
        "and "
        "read these with format = tokens. CountVectorizer and HashingVectorizer take texts as they are");
  return find_plugin(preprocessor_table(), name, "preprocessor");
}

void add_stages(const Json& json, int depth, PreprocessorImpl& into) {
  constexpr int deepest = 8;
  if (!json.is_object()) throw UsageError("a preprocessor's JSON is an object");
  if (depth > deepest) throw UsageError("more Chains stand inside one another than anybody needs");
  const auto name = json_member(json, "preprocessor", Json::value_t::string, "its name").get<std::string>();
  require_version(json);
  const auto& parameters = json_member(json, "parameters", Json::value_t::object, "an object");
  if (name == chain_name) {
    into.is_chain = true;
    for (const auto& each : json_member(parameters, "preprocessors", Json::value_t::array, "a list of preprocessors"))
      add_stages(each, depth + 1, into);
    return;
  }
  if (into.stages.size() == most_stages) throw UsageError(fmt::format("a Chain has {} preprocessors at most", most_stages));
  const auto& kind = kind_named(excerpt(name, 60));
  const auto stats = json.find("stats");
  into.stages.push_back(stage_of(kind, parameters, stats == json.end() ? Json() : *stats));
}

Json stage_json(const PreprocessorImpl::Stage& stage) {
  Json json = {{"preprocessor", stage.kind->name}, {"version", json_version}, {"parameters", stage.parameters}};
  if (!stage.stats.is_null()) json["stats"] = stage.stats;
  return json;
}

/// "NAME(key: values; key: values)", from `at` on, which moves behind it.
PreprocessorImpl::Stage stage_from_text(std::string_view text, std::size_t& at) {
  const auto open = text.find('(', at), close = text.find(')', at);
  if (open == std::string_view::npos || close == std::string_view::npos || close < open)
    throw UsageError(
        fmt::format("'{}' is not of the form NAME(columns: A, B; PARAMETER: VALUE)", excerpt(text.substr(at), 80)));
  const auto& kind = kind_named(trim(text.substr(at, open - at)));
  auto parameters = Json::object();
  for (auto rest = text.substr(open + 1, close - open - 1); !rest.empty();) {
    const auto end = std::min(rest.find(';'), rest.size());
    const auto each = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const auto colon = each.find(':');
    if (colon == std::string_view::npos)
      throw UsageError(fmt::format("'{}' of {} is not of the form PARAMETER: VALUE", trim(each), kind.name));
    const auto key = trim(each.substr(0, colon));
    if (parameters.contains(key)) throw UsageError(fmt::format("{} has {} twice", kind.name, key));
    parameters[key] = trim(each.substr(colon + 1));
  }
  at = close + 1;
  return stage_of(kind, parameters, nullptr);
}

}  // namespace

PreprocessorImpl::Stage stage_of(const PreprocessorKind& kind, const Json& parameters, const Json& stats) try {
  Parameters given(parameters);
  std::shared_ptr<Preprocessing> work = kind.make(given);
  given.require_all_used();
  if (!stats.is_null()) {
    if (!stats.is_object() || !work->learns())
      throw UsageError("\"stats\" must be an object, of one that learns something");
    work->set_stats(stats);
  }
  return {&kind, given.used(), stats, std::move(work)};
} catch (const UsageError& error) {
  throw UsageError(fmt::format("{}: {}", kind.name, error.what()));
}

PreprocessorImpl preprocessor_from(const Json& json) {
  PreprocessorImpl made;
  add_stages(json, 0, made);
  if (made.stages.empty()) throw UsageError("a Chain needs a preprocessor at least");
  return made;
}

PreprocessorImpl preprocessor_from_text(std::string_view text) {
  PreprocessorImpl made;
  for (std::size_t at = 0;;) {
    made.stages.push_back(stage_from_text(text, at));
    const auto rest = trim(text.substr(at));
    if (rest.empty()) break;
    if (rest.front() != ',') throw UsageError(fmt::format("'{}': preprocessors stand between commas", excerpt(rest, 80)));
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

}  // namespace trainrt::data
