#include "data/section/prepare.hpp"

#include <vector>

#include "data/reshape/operation.hpp"
#include "data/section/dataset_section.hpp"
#include "data/section/dataset_values.hpp"
#include "data/section/preprocess_key.hpp"
#include "data/transform/augmentation.hpp"

namespace trainrt::data {

namespace {

Options good_options(const std::string& section, const Options& options, const Listing& listing) {
  return checked_options(section, options, find_plugin(format_table(), listing.format, "data format"));
}

/// Adds the steps that keys of the section request, such as `where`. With `precede_preprocess`, adds the steps that are
/// applied before the key `preprocess`, otherwise those after it.
void add_steps(DatasetImpl& dataset, const Options& options, bool precede_preprocess, const Preparation& preparation) {
  for (const auto& requested : requested_steps(options)) {
    if (requested.kind->precedes_preprocess() != precede_preprocess) continue;
    preparation.collectively([&] {
      in_section(section_of(dataset.plan().name),
                 [&] { in_operation(requested, [&] { dataset.add(std::string(requested.kind->name), requested.step); }); });
    });
  }
}

}  // namespace

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
      plan.maps =
          std::make_shared<const SampleMaps>(augmented(plan.source->fields(), good_options(section, options, listing)));
    });
    dataset.replace(std::move(plan));
  });
  return fitted;
}

std::vector<Dataset::Field> fields_before_fitting(const std::string& name, const Options& given, const Listing& listing) {
  const auto section = section_of(name);
  const auto options = good_options(section, given, listing);
  return in_section(section, [&] {
    auto fields = transformed_fields(options, listing);
    for (const auto& requested : requested_steps(options)) {
      if (!requested.kind->precedes_preprocess() && !listing.preprocessor.empty()) break;
      fields = in_operation(requested, [&] { return requested.step->fields(fields); });
    }
    return listing.preprocessor.empty() ? augmented(fields, options).fields() : fields;
  });
}

void require_steps(const std::map<std::string, Options>& sections, const std::map<std::string, Listing>& listings) {
  for (const auto& [name, options] : sections)
    if (!requested_steps(options).empty()) fields_before_fitting(name, options, listings.at(name));
}

}  // namespace trainrt::data
