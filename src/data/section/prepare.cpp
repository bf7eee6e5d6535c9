#include "data/section/prepare.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <trainrt/error.hpp>

#include "core/text/text.hpp"
#include "data/reshape/operation.hpp"
#include "data/section/by_key.hpp"
#include "data/section/dataset_section.hpp"
#include "data/source/concatenated_source.hpp"
#include "data/transform/augmentation.hpp"
#include "data/transform/transform.hpp"

namespace trainrt::data {

namespace {

Options good_options(const std::string& section, const Options& options, const Listing& listing) {
  return checked_options(section, options, find_plugin(format_table(), listing.format, "data format"));
}

void apply_operations(DatasetImpl& dataset, const Options& options, When when, const Preparation& preparation) {
  for (const auto& wanted : operations_of(options, when)) {
    Operation::OfOthers others;
    for (const auto& name : wanted.operation->others()) others[name] = preparation.other(name);
    preparation.together([&] {
      in_section(section_of(dataset.name),
                 [&] { in_operation(wanted, [&] { wanted.operation->apply(dataset, others); }); });
    });
  }
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

/// Follows the fields of listed datasets through their keys.
class FieldsOfSections {
 public:
  using Fields = std::optional<std::vector<Dataset::Field>>;  ///< nothing: a preprocessor is fitted before they are known

  FieldsOfSections(const std::map<std::string, Options>& sections, const std::map<std::string, Listing>& listings)
      : sections_(sections), listings_(listings) {}

  Fields of(const std::string& name) {
    path_.push_back(name);
    const auto section = section_of(name);
    const auto& listing = listings_.at(name);
    const auto options = good_options(section, sections_.at(name), listing);
    auto fields = in_section(section, [&]() -> Fields {
      const auto none = std::make_shared<ConcatenatedSource>(listing.entries.front().content.fields,
                                                             std::vector<std::uint64_t>{0}, nullptr, false);
      return transformed(none, options)->fields();
    });
    fields = follow(name, std::move(fields), operations_of(options, When::before_preprocess));
    if (!listing.preprocessor.empty()) fields = std::nullopt;
    fields = follow(name, std::move(fields), operations_of(options, When::after_preprocess));
    if (fields) in_section(section, [&] { augmented(*fields, options); });
    path_.pop_back();
    return fields;
  }

 private:
  Fields follow(const std::string& name, Fields fields, const std::vector<WantedOperation>& operations) {
    for (const auto& wanted : operations) {
      bool are_known = true;
      Operation::FieldsOfOthers others;
      for (const auto& other : wanted.operation->others()) {
        in_section(section_of(name), [&] { in_operation(wanted, [&] { require_other(other); }); });
        auto found = of(other);
        are_known = are_known && found;
        if (found) others[other] = *std::move(found);
      }
      if (!are_known) fields = std::nullopt;
      if (fields)
        fields = in_section(section_of(name), [&] {
          return in_operation(wanted, [&] { return Fields(wanted.operation->fields(name, *fields, others)); });
        });
    }
    return fields;
  }

  void require_other(const std::string& name) const {
    std::vector<std::string> names;
    for (const auto& [known, options] : sections_) names.push_back(known);
    if (!sections_.contains(name))
      throw UsageError(fmt::format("there is no [data.{}]{}; there are: {}", name, did_you_mean(name, names), join(names)));
    if (name == path_.back()) throw UsageError(fmt::format("'{}' takes samples of itself", name));
    if (std::ranges::find(path_, name) != path_.end())
      throw UsageError(fmt::format("'{}' takes samples of itself, by {} -> {}", name, fmt::join(path_, " -> "), name));
  }

  const std::map<std::string, Options>& sections_;
  const std::map<std::string, Listing>& listings_;
  std::vector<std::string> path_;  ///< the datasets that are being followed, each for the one before it
};

}  // namespace

std::map<std::string, Options> with_others(const std::string& name, const std::map<std::string, Options>& sections) {
  std::map<std::string, Options> found;
  std::vector<std::string> open{name};
  while (!open.empty()) {
    const auto next = std::move(open.back());
    open.pop_back();
    const auto section = sections.find(next);
    if (section == sections.end() || !found.insert(*section).second) continue;
    in_section(section_of(next), [&] {
      for (const auto& wanted : operations_of(section->second))
        for (auto& other : wanted.operation->others()) open.push_back(std::move(other));
    });
  }
  return found;
}

void require_operations(const std::map<std::string, Options>& sections, const std::map<std::string, Listing>& listings) {
  FieldsOfSections fields(sections, listings);
  for (const auto& [name, options] : sections)
    if (!operations_of(options).empty()) fields.of(name);
}

}  // namespace trainrt::data
