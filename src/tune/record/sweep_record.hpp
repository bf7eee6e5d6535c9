#pragma once
#include <map>
#include <optional>
#include <string>

namespace trainrt::tune {

/// Key with the names of the classes that decide in the script of a Tuner (trainrt/tune/_sweep_record.py).
inline constexpr const char* decided_in_script = "loop.param_space._decided_in_script";

/// The content of sweep.json in a sweep's directory: the config of the sweep, and an authentication code that proves
/// which user wrote it.
struct SweepRecord {
  std::map<std::string, std::string> config;  ///< every key of the config
  bool has_code = false;
};

/// Returns the text of sweep.json. It contains the authentication code of this user (core/files/user_key.hpp) if the
/// user's key can be used. Tuner.restore() of Python executes programs of a record only if the code is valid.
std::string sweep_record_text(const std::map<std::string, std::string>& config);

/// Returns the record in `text`, the content of sweep.json. Returns nullopt if `text` is not a JSON object. Replaces
/// old names of keys by their new names, and ignores values that are not strings.
std::optional<SweepRecord> sweep_record_from(const std::string& text);

/// Describes the keys that differ between two configs, with both values. Keys that may change during a sweep are ignored.
/// Returns "" if no other key differs.
std::string differences(const std::map<std::string, std::string>& before, const std::map<std::string, std::string>& now);

}  // namespace trainrt::tune
