#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trainrt::cli::listing {

// The train functions, config sections and plug-ins that `trainrt list` shows, with their keys.

struct Key {
  std::string name;  ///< name inside its section: "num_to_keep"
  std::string help;
  std::string facts;  ///< valid values and default: "a whole number, 0 or more; default 0"; may be empty
};

/// A train function, a config section or a plug-in.
struct Entry {
  std::string name;
  std::string help;
  std::string section = {};  ///< section that contains the keys: "checkpoint", "data.NAME"; "": the keys are in no section
  std::vector<Key> keys = {};
  std::string note = {};  ///< further text, or ""

  /// Returns the name of a key for the output. It includes the section, unless the section is [data.NAME].
  std::string shown_name(const Key& key) const;
};

/// All entries of one kind.
struct Kind {
  std::string word;      ///< name for `trainrt list`: "formats"
  std::string title;     ///< title of the list of its entries: "data formats"
  std::string singular;  ///< "data format"
  std::vector<Entry> entries;
};

/// Returns all train functions, config sections and plug-ins, by kind. Reads the index files of the modules.
std::vector<Kind> catalog();

/// Returns the train function `name` of a shared library, or its first function if `name` is "". Throws UsageError if the
/// library cannot be loaded or has no such function.
Kind function_of_library(const std::string& name, const std::string& library);

/// Result of find_named(): an entry, or one key of an entry.
struct Found {
  const Kind* kind = nullptr;
  const Entry* entry = nullptr;
  const Key* key = nullptr;  ///< nullptr: the entry itself
};

/// Returns the entries with the name or section `name`. If there are none, returns the keys with this name, with or
/// without their section. Accepts the forms "[section]" and "--section.key=value". Throws UsageError that lists similar
/// names if nothing is found. The result refers to `kinds`.
std::vector<Found> find_named(std::span<const Kind> kinds, std::string_view name);

}  // namespace trainrt::cli::listing
