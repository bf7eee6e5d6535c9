#pragma once
#include <string>

#include <trainrt/error.hpp>

#include "core/options.hpp"
#include "data/source/format.hpp"

namespace trainrt::data {

/// "[data.NAME]"
std::string section_of(const std::string& name);

/// The format that the key names. UsageError that lists all if there is none of that name.
const Format& format_named(const std::string& section, const OptionValue& given);

/// Told by the key `format`, by the name of the source, or by that of its first file. UsageError if nothing tells.
const Format& format_of(const std::string& section, const Options& options);

/// With the defaults of all keys. UsageError for unknown keys, bad values, and keys that do not go together.
Options checked_options(const std::string& section, const Options& options, const Format& format);

/// What `call` throws about files, with the section in front.
template <class Call>
auto in_section(const std::string& section, const Call& call) try {
  return call();
} catch (const UsageError& error) {
  throw UsageError(section + ": " + error.what());
} catch (const Error& error) {
  throw Error(section + ": " + error.what(), error.code());
}

}  // namespace trainrt::data
