#pragma once
#include <string>
#include <vector>

namespace trainrt::cli {

/// A config file whose renamed keys have their new names.
struct RenamedConfig {
  std::string text;                  ///< all bytes of the file, except for the names of these keys
  std::vector<std::string> changes;  ///< "train.ini:12: checkpoint.replicas is now checkpoint.replica_check"
};

/// Reads the config file `path` and gives its renamed keys their new names (config/renamed_keys.hpp). Throws a UsageError
/// if it is not a valid config file, or if it sets a key under both names.
RenamedConfig renamed_config(const std::string& path);

}  // namespace trainrt::cli
