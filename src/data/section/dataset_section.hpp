#pragma once
#include <string>

#include <trainrt/error.hpp>

#include "core/options.hpp"
#include "data/source/format.hpp"

namespace trainrt::data {

/// Returns "[data.NAME]".
std::string section_of(const std::string& name);

/// Returns the format that the key `format` names. Throws UsageError that lists all formats if it does not exist.
const Format& format_named(const std::string& section, const OptionValue& given);

/// Returns the format that the key `format` names, or that the name of the source or of its first file shows. Throws
/// UsageError if neither names a format.
const Format& format_of(const std::string& section, const Options& options);

/// Returns the keys with the defaults of missing ones added. Throws UsageError for unknown keys, invalid values, and keys
/// that cannot be combined.
Options checked_options(const std::string& section, const Options& options, const Format& format);

/// Calls `call` and adds the section to the errors that it throws.
template <class Call>
auto in_section(const std::string& section, const Call& call) try {
  return call();
} catch (const UsageError& error) {
  throw UsageError(section + ": " + error.what());
} catch (const Error& error) {
  throw Error(section + ": " + error.what(), error.code());
}

}  // namespace trainrt::data
