#pragma once
#include <map>
#include <optional>
#include <string>

namespace trainrt::tune {

/// sweep.json of a sweep's directory: the config that the sweep was begun with, and the code of the user who wrote it.
struct SweepRecord {
  std::map<std::string, std::string> config;  ///< every key of the config
  bool has_code = false;
};

/// The file's text, with the code of this user over the config (core/files/user_key.hpp), if there can be one: what
/// Tuner.restore() of Python takes programs from.
std::string sweep_record_text(const std::map<std::string, std::string>& config);

/// Returns the record in `text`, with the new names of renamed keys, or nullopt if `text` is not a JSON object. Values that
/// are not strings are ignored.
std::optional<SweepRecord> sweep_record_from(const std::string& text);

/// Returns the keys that differ between the two configs, with both values, in words; "" if none does but those that may
/// change while a sweep goes on.
std::string differences(const std::map<std::string, std::string>& before, const std::map<std::string, std::string>& now);

}  // namespace trainrt::tune
