#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/text/text.hpp"
#include "data/section/dataset_options.hpp"
#include "data/section/dataset_section.hpp"
#include "data/section/dataset_values.hpp"
#include "data/section/prepare.hpp"
#include "data/section/scan_files.hpp"
#include "data/source/row_ranges.hpp"

namespace trainrt::data {

namespace {

const std::string train = "train";

bool takes_classes(const std::string& name, const Options& options) {
  if (options.find("classes") != nullptr) return false;
  const auto section = section_of(name);
  const auto& format = format_of(section, options);
  return std::ranges::find(format.options, "classes", &OptionSpec::key) != format.options.end();
}

Options with_classes(Options options, const std::vector<std::string>& classes) {
  for (const auto& name : classes)
    if (name.find(',') != name.npos)
      throw UsageError(
          fmt::format("the class '{}' of [data.train] has a comma in its name, "
                      "which the key 'classes' of other datasets cannot contain; rename the folder of the class",
                      excerpt(name, 60)));
  options.set("classes", {join(classes), "classes of [data.train]"});
  return options;
}

/// Throws UsageError if the key `subset` chooses no samples, or samples that do not exist.
void require_rows(const Listing& listing, std::uint64_t samples) {
  if (listing.rows.empty()) return;
  const auto rows = in_section("subset", [&] { return RowRanges(listing.rows); });
  if (rows.size() == 0) throw UsageError("subset chooses no samples; valid is a range such as 0:800");
  if (rows.max() >= samples)
    throw UsageError(fmt::format("subset chooses sample {}, but there are {}, numbered from 0", rows.max(), samples));
}

}  // namespace

void check_options(const std::string& name, const Options& options) {
  const auto section = section_of(name);
  require_not_removed(section, options);
  if (const auto* given = options.find("format")) checked_options(section, options, format_named(section, *given));
}

Listing list_dataset(const std::string& name, const Options& options) {
  const auto section = section_of(name);
  const auto list = [&] {
    const auto& format = format_of(section, options);
    const auto good = checked_options(section, options, format);
    Listing listing{std::string(format.name), {}};
    scan_files(section, listing, good, format);
    const auto samples = samples_of(listing);
    if (samples == 0) {
      const auto& path = listing.entries.front().file.path;
      throw UsageError("the files of source contain no samples" + (path.empty() ? "" : fmt::format(": '{}'", path)));
    }
    listing.preprocessor = preprocessor_of_key(good.text("preprocess"));
    listing.rows = in_section("subset", [&] { return text_of_rows(good.text("subset")); });
    require_rows(listing, samples);
    if (!listing.files_of_sources.empty()) mixed_parts_of(listing, good);
    require_materializable(good, listing);
    const auto fields = transformed_fields(good, listing);
    if (!needs_preparation(good, listing)) FieldMaps(fields, augmentation_table(), good);
    return listing;
  };
  try {
    return list();
  } catch (const UsageError& error) {
    throw UsageError(located(section, options, error.what()));
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {}", section, error.what()), error.code());
  }
}

std::map<std::string, Listing> list_datasets(const std::map<std::string, Options>& sections) {
  std::map<std::string, Listing> listings;
  std::vector<std::string> classes;
  if (const auto found = sections.find(train); found != sections.end()) {
    const auto& listing = listings.emplace(train, list_dataset(train, found->second)).first->second;
    classes = listing.entries.front().content.classes;
  }
  for (const auto& [name, options] : sections) {
    if (name == train) continue;
    const bool shares = !classes.empty() && takes_classes(name, options);
    listings.emplace(name, list_dataset(name, shares ? with_classes(options, classes) : options));
  }
  return listings;
}

void add_train_of_classes(std::map<std::string, Options>& chosen, const std::map<std::string, Options>& all) {
  const auto found = all.find(train);
  if (found == all.end() || chosen.contains(train)) return;
  const auto takes = [](const auto& section) { return takes_classes(section.first, section.second); };
  if (std::ranges::any_of(chosen, takes) && takes_classes(train, found->second)) chosen.emplace(train, found->second);
}

}  // namespace trainrt::data
