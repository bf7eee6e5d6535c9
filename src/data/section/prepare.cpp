#include "data/section/prepare.hpp"

#include <vector>

#include "data/reshape/operation.hpp"
#include "data/section/by_key.hpp"
#include "data/section/dataset_section.hpp"
#include "data/source/joined_source.hpp"
#include "data/transform/augmentation.hpp"
#include "data/transform/transform.hpp"

namespace trainrt::data {

namespace {

Options good_options(const std::string& section, const Options& options, const Listing& listing) {
  return checked_options(section, options, find_plugin(format_table(), listing.format, "data format"));
}

void apply_operations(DatasetImpl& dataset, const Options& options, When when, const Preparation& preparation) {
  for (const auto& wanted : operations_of(options, when))
    preparation.together([&] {
      in_section(section_of(dataset.name), [&] { in_operation(wanted, [&] { wanted.operation->apply(dataset); }); });
    });
}

}  // namespace

bool needs_preparation(const Options& options, const Listing& listing) {
  return !listing.preprocessor.empty() || !operations_of(options).empty();
}

std::string prepare(DatasetImpl& dataset, const Options& options, const Listing& listing, const Preparation& preparation) {
  if (!needs_preparation(options, listing)) return "";
  apply_operations(dataset, options, When::before_preprocess, preparation);
  std::string fitted;
  preparation.together([&] { fitted = preprocess_by_key(dataset, listing, preparation.stored); });
  apply_operations(dataset, options, When::after_preprocess, preparation);
  const auto section = section_of(dataset.name);
  preparation.together([&] {
    dataset.maps = in_section(section, [&] {
      return std::make_shared<const SampleMaps>(
          augmented(dataset.source->fields(), good_options(section, options, listing)));
    });
  });
  return fitted;
}

namespace {

/// Follows the fields of a listed dataset through its keys.
void follow_fields(const std::string& name, const Options& given, const Listing& listing) {
  const auto section = section_of(name);
  const auto options = good_options(section, given, listing);
  in_section(section, [&] {
    const auto none = std::make_shared<JoinedSource>(listing.entries.front().content.fields, std::vector<std::uint64_t>{0},
                                                     nullptr, false);
    auto fields = transformed(none, options)->fields();
    const auto follow = [&](When when) {
      for (const auto& wanted : operations_of(options, when))
        fields = in_operation(wanted, [&] { return wanted.operation->fields(fields); });
    };
    follow(When::before_preprocess);
    if (!listing.preprocessor.empty()) return;  // the fields after it depend on what it learns
    follow(When::after_preprocess);
    augmented(fields, options);
  });
}

}  // namespace

void require_operations(const std::map<std::string, Options>& sections, const std::map<std::string, Listing>& listings) {
  for (const auto& [name, options] : sections)
    if (!operations_of(options).empty()) follow_fields(name, options, listings.at(name));
}

}  // namespace trainrt::data
