#include "data/section/preprocess_key.hpp"

#include <algorithm>

#include <trainrt/error.hpp>

#include "core/text/json_depth.hpp"
#include "core/text/text.hpp"
#include "data/preprocess/fit.hpp"
#include "data/preprocess/preprocessed_source.hpp"
#include "data/section/dataset_section.hpp"
#include "io/files/file.hpp"

namespace trainrt::data {

namespace {

nlohmann::json parsed(std::string_view text) {
  const bool is_deep = is_nested_deeper(text, max_json_depth);
  auto json = is_deep ? nlohmann::json(nlohmann::json::value_t::discarded) : nlohmann::json::parse(text, nullptr, false);
  if (json.is_discarded()) throw UsageError("is not valid JSON");
  return json;
}

std::string text_of_file(const std::string& path) try { return io::read_file(path); } catch (const Error& error) {
  throw UsageError(error.what());  // the file is named in the config
}

PreprocessorImpl from_file(const std::string& path) {
  const auto text = text_of_file(path);
  try {
    auto found = preprocessor_from(parsed(text));
    for (const auto& stage : found.stages)
      if (!stage.is_fitted()) throw UsageError(std::string(stage.kind->name) + " is not fitted");
    return found;
  } catch (const UsageError& error) {
    throw UsageError("'" + path + "': " + error.what());
  }
}

/// Returns the preprocessor as JSON without its fitted statistics.
std::string description_of(PreprocessorImpl preprocessor) {
  for (auto& stage : preprocessor.stages) stage.stats = nullptr;
  return json_of(preprocessor).dump();
}

bool is_fitted(const PreprocessorImpl& preprocessor) {
  return std::ranges::all_of(preprocessor.stages, &PreprocessorImpl::Stage::is_fitted);
}

/// Returns the requested preprocessor: `stored` if it is the same one, fitted.
PreprocessorImpl with_stored(const std::string& requested, std::string_view stored) {
  auto given = preprocessor_from(parsed(requested));
  if (is_fitted(given) || stored.empty()) return given;
  auto earlier = preprocessor_from(parsed(stored));
  return is_fitted(earlier) && description_of(earlier) == description_of(given) ? earlier : given;
}

}  // namespace

std::string preprocessor_of_key(const std::string& text) try {
  if (text.empty()) return "";
  return json_of(text.front() == '@' ? from_file(trim(text.substr(1))) : preprocessor_from_text(text)).dump();
} catch (const UsageError& error) {
  throw UsageError(std::string("preprocess: ") + error.what());
}

std::string apply_preprocessor(DatasetImpl& dataset, const Listing& listing, std::string_view stored) {
  if (listing.preprocessor.empty()) return "";
  auto plan = dataset.plan();
  return in_section(section_of(plan.name), [&] {
    auto preprocessor = with_stored(listing.preprocessor, stored);
    if (!is_fitted(preprocessor)) preprocessor = fitted(preprocessor, plan);
    plan.source = preprocessed(plan.source, preprocessor);
    dataset.replace(std::move(plan));
    return json_of(preprocessor).dump();
  });
}

}  // namespace trainrt::data
