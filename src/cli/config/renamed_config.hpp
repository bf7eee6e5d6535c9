#pragma once
#include <string>
#include <vector>

namespace trainrt::cli {

/// The text of a config file in which renamed keys have their new names.
struct RenamedConfig {
  std::string text;                  ///< the complete file, unchanged except for the names of renamed keys
  std::vector<std::string> changes;  ///< "train.ini:12: checkpoint.replicas is now checkpoint.replica_check"
};

/// Reads the config file `path`, and replaces the old names of renamed keys by the new names (config/renamed_keys.hpp).
/// Throws a UsageError if the file is not a valid config, or if it sets a key under both names.
RenamedConfig renamed_config(const std::string& path);

}  // namespace trainrt::cli
