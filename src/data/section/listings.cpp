#include "data/section/listings.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/text/text.hpp"
#include "data/section/dataset_section.hpp"
#include "data/section/open_dataset.hpp"

namespace trainrt::data {

namespace {

const std::string train = "train";

bool takes_classes(const std::string& name, const Options& options) {
  if (options.find("classes") != nullptr) return false;
  const auto& format = format_of(section_of(name), options);
  return std::ranges::find(format.options, "classes", &OptionSpec::key) != format.options.end();
}

Options with_classes(Options options, const std::vector<std::string>& classes) {
  for (const auto& name : classes)
    if (name.find(',') != name.npos)
      throw UsageError(
          fmt::format("the class '{}' of [data.train] has a comma in its name, "
                      "which the key 'classes' of other datasets cannot contain: rename its folder",
                      excerpt(name, 60)));
  options.set("classes", {join(classes), "classes of [data.train]"});
  return options;
}

}  // namespace

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
