#include "data/section/preprocess_key.hpp"

#include <algorithm>

#include <trainrt/error.hpp>

#include "core/text/text.hpp"
#include "data/preprocess/preprocessor_impl.hpp"
#include "data/section/dataset_section.hpp"
#include "io/files/file.hpp"

namespace trainrt::data {

namespace {

std::string text_of_file(const std::string& path) try { return io::read_file(path); } catch (const Error& error) {
  throw UsageError(error.what());  // the user named the file in the config
}

PreprocessorImpl preprocessor_in_file(const std::string& path) {
  const auto text = text_of_file(path);
  try {
    auto found = preprocessor_from_json_text(text);
    for (const auto& stage : found.stages)
      if (!stage.is_fitted()) throw UsageError(std::string(stage.kind->name) + " is not fitted");
    return found;
  } catch (const UsageError& error) {
    throw UsageError("'" + path + "': " + error.what());
  }
}

/// Returns the JSON form of the preprocessor without the results of a fit.
std::string unfitted_json(PreprocessorImpl preprocessor) {
  for (auto& stage : preprocessor.stages) stage.stats = nullptr;
  return json_of(preprocessor).dump();
}

/// Returns the preprocessor `stored` if it is fitted and otherwise equal to `requested`, which is not fitted. In all
/// other cases, returns `requested`. Both are JSON; `stored` may be "".
PreprocessorImpl fitted_earlier(const std::string& requested, std::string_view stored) {
  auto given = preprocessor_from_json_text(requested);
  if (given.is_fitted() || stored.empty()) return given;
  auto earlier = preprocessor_from_json_text(stored);
  return earlier.is_fitted() && unfitted_json(earlier) == unfitted_json(given) ? earlier : given;
}

}  // namespace

std::string preprocessor_of_key(const std::string& text) try {
  if (text.empty()) return "";
  return json_of(text.front() == '@' ? preprocessor_in_file(trim(text.substr(1))) : preprocessor_from_text(text)).dump();
} catch (const UsageError& error) {
  throw UsageError(std::string("preprocess: ") + error.what());
}

std::string apply_preprocessor(DatasetImpl& dataset, const Listing& listing, std::string_view stored) {
  if (listing.preprocessor.empty()) return "";
  auto plan = dataset.plan();
  return in_section(section_of(plan.name), [&] {
    auto preprocessor = fitted_earlier(listing.preprocessor, stored);
    if (!preprocessor.is_fitted()) preprocessor = fitted(preprocessor, plan);
    plan.source = preprocessed(plan.source, preprocessor);
    dataset.replace(std::move(plan));
    return json_of(preprocessor).dump();
  });
}

}  // namespace trainrt::data
