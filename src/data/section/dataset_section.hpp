#pragma once
#include <string>

#include <trainrt/error.hpp>

#include "core/options.hpp"
#include "data/section/dataset_listing.hpp"
#include "data/source/format.hpp"
#include "data/text/in_context.hpp"

namespace trainrt::data {

/// Returns "[data.NAME]".
std::string section_of(const std::string& name);

/// Returns the format that the key `format` names. Throws UsageError if this format does not exist; the message lists
/// all formats.
const Format& format_named(const std::string& section, const OptionValue& given);

/// Returns the format that the key `format` names. If the key is not set, the name of the source or of its first file
/// determines the format. Throws UsageError if no format is found.
const Format& format_of(const std::string& section, const Options& options);

/// Returns the keys of the section and their values, with defaults for missing keys. Throws UsageError for unknown keys,
/// invalid values, and keys that cannot be combined.
Options checked_options(const std::string& section, const Options& options, const Format& format);
Options checked_options(const std::string& section, const Options& options, const Listing& listing);

/// Returns `message`, an error of the section, after the origin of a key and the name of the section: "train.ini:9:
/// [data.train]: MESSAGE". If `message` begins with the origin or the name of a key, uses the origin of this key.
/// Otherwise uses `source`, or else `format`, or else the first key of the section. An origin or section name that
/// `message` already contains is not added again.
std::string located(const std::string& section, const Options& options, const std::string& message);

/// Returns call(), and adds the name of the section to the messages of the errors that it throws.
template <class Call>
auto in_section(const std::string& section, const Call& call) try {
  return call();
} catch (const UsageError& error) {
  throw UsageError(section + ": " + error.what());
} catch (const Error& error) {
  throw Error(section + ": " + error.what(), error.code());
}

}  // namespace trainrt::data
