#include "data/section/by_key.hpp"

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
  if (json.is_discarded()) throw UsageError("it is no JSON");
  return json;
}

std::string text_of_file(const std::string& path) try { return io::read_file(path); } catch (const Error& error) {
  throw UsageError(error.what());  // it is a file that a key names
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

/// Without what was learned.
std::string description_of(PreprocessorImpl preprocessor) {
  for (auto& stage : preprocessor.stages) stage.stats = nullptr;
  return json_of(preprocessor).dump();
}

bool is_fitted(const PreprocessorImpl& preprocessor) {
  for (const auto& stage : preprocessor.stages)
    if (!stage.is_fitted()) return false;
  return true;
}

/// What is to be used: fitted, as far as it can be without the data.
PreprocessorImpl known(const std::string& wanted, std::string_view kept) {
  auto given = preprocessor_from(parsed(wanted));
  if (is_fitted(given) || kept.empty()) return given;
  auto earlier = preprocessor_from(parsed(kept));
  return is_fitted(earlier) && description_of(earlier) == description_of(given) ? earlier : given;
}

}  // namespace

std::string preprocessor_of_key(const std::string& text) try {
  if (text.empty()) return "";
  return json_of(text.front() == '@' ? from_file(trim(text.substr(1))) : preprocessor_from_text(text)).dump();
} catch (const UsageError& error) {
  throw UsageError(std::string("preprocess: ") + error.what());
}

std::string preprocess_by_key(DatasetImpl& dataset, const Listing& listing, std::string_view stored) {
  if (listing.preprocessor.empty()) return "";
  const auto section = section_of(dataset.name);
  return in_section(section, [&] {
    auto preprocessor = known(listing.preprocessor, stored);
    if (!is_fitted(preprocessor)) preprocessor = fitted(preprocessor, dataset);
    dataset.source = preprocessed(dataset.source, preprocessor);
    return json_of(preprocessor).dump();
  });
}

}  // namespace trainrt::data
