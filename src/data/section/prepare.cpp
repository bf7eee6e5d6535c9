#include "data/section/prepare.hpp"

#include <vector>

#include <trainrt/error.hpp>

#include "core/text/text.hpp"
#include "data/preprocess/preprocessor_impl.hpp"
#include "data/reshape/operation.hpp"
#include "data/section/dataset_section.hpp"
#include "data/section/dataset_values.hpp"
#include "io/files/file.hpp"

namespace trainrt::data {

namespace {

std::string text_of_file(const std::string& path) try { return io::read_file(path); } catch (const Error& error) {
  throw UsageError(error.what());  // because the path of the file is from the user's config
}

PreprocessorImpl preprocessor_in_file(const std::string& path) {
  const auto text = text_of_file(path);
  return in_context("'" + path + "'", [&] {
    auto found = preprocessor_from_json_text(text);
    for (const auto& stage : found.stages)
      if (!stage.is_fitted()) throw UsageError(std::string(stage.kind->name) + " is not fitted");
    return found;
  });
}

/// Returns the JSON form of the preprocessor without the results of a fit.
std::string unfitted_json(PreprocessorImpl preprocessor) {
  for (auto& stage : preprocessor.stages) stage.stats = nullptr;
  return json_of(preprocessor).dump();
}

/// Returns the preprocessor `stored` if it is fitted and differs from `requested` only in this respect. In all other cases,
/// returns `requested`. Both are JSON; `stored` may be "".
PreprocessorImpl fitted_earlier(const std::string& requested, std::string_view stored) {
  auto given = preprocessor_from_json_text(requested);
  if (given.is_fitted() || stored.empty()) return given;
  auto earlier = preprocessor_from_json_text(stored);
  return earlier.is_fitted() && unfitted_json(earlier) == unfitted_json(given) ? earlier : given;
}

/// Applies listing.preprocessor to the dataset, and returns the fitted preprocessor as JSON. Returns "" if there is no
/// preprocessor. `stored` is the result of an earlier call, or "". Collective if the preprocessor must be fitted.
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

/// Adds the steps of keys such as `where` to the dataset. If `precede_preprocess` is true, adds only the steps that are
/// applied before the key `preprocess`. Otherwise adds only the steps that are applied after it.
void add_steps(DatasetImpl& dataset, const Options& options, bool precede_preprocess, const Preparation& preparation) {
  for (const auto& requested : requested_steps(options)) {
    if (requested.kind->precedes_preprocess() != precede_preprocess) continue;
    preparation.collectively([&] {
      in_section(section_of(dataset.plan().name),
                 [&] { requested.in_key([&] { dataset.add(std::string(requested.kind->name), requested.step); }); });
    });
  }
}

}  // namespace

std::string preprocessor_of_key(const std::string& text) {
  if (text.empty()) return "";
  return in_context("preprocess", [&] {
    return json_of(text.front() == '@' ? preprocessor_in_file(trim(text.substr(1))) : preprocessor_from_text(text)).dump();
  });
}

bool needs_preparation(const Options& options, const Listing& listing) {
  return !listing.preprocessor.empty() || !requested_steps(options).empty();
}

std::string prepare(DatasetImpl& dataset, const Options& options, const Listing& listing, const Preparation& preparation) {
  if (!needs_preparation(options, listing)) return "";
  add_steps(dataset, options, true, preparation);
  std::string fitted;
  preparation.collectively([&] { fitted = apply_preprocessor(dataset, listing, preparation.stored); });
  add_steps(dataset, options, false, preparation);
  preparation.collectively([&] {
    auto plan = dataset.plan();
    const auto section = section_of(plan.name);
    in_section(section, [&] {
      plan.maps = std::make_shared<const FieldMaps>(plan.source->fields(), augmentation_table(),
                                                    checked_options(section, options, listing));
    });
    dataset.replace(std::move(plan));
  });
  return fitted;
}

std::vector<Dataset::Field> fields_before_fitting(const std::string& name, const Options& given, const Listing& listing) {
  const auto section = section_of(name);
  const auto options = checked_options(section, given, listing);
  return in_section(section, [&] {
    auto fields = transformed_fields(options, listing);
    for (const auto& requested : requested_steps(options)) {
      if (!requested.kind->precedes_preprocess() && !listing.preprocessor.empty()) break;
      fields = requested.in_key([&] { return requested.step.fields(fields); });
    }
    return listing.preprocessor.empty() ? FieldMaps(fields, augmentation_table(), options).fields() : fields;
  });
}

void require_steps(const std::map<std::string, Options>& sections, const std::map<std::string, Listing>& listings) {
  for (const auto& [name, options] : sections)
    if (!requested_steps(options).empty()) fields_before_fitting(name, options, listings.at(name));
}

}  // namespace trainrt::data
