#include "tune/record/sweep_record.hpp"

#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <trainrt/error.hpp>

#include "config/renamed_keys.hpp"
#include "core/files/user_key.hpp"
#include "core/output/log.hpp"
#include "core/text/text.hpp"

namespace trainrt::tune {

namespace {

using Json = nlohmann::ordered_json;
using Texts = std::map<std::string, std::string>;

constexpr const char* code_name = "_code";
constexpr const char* algorithm = "hmac_sha256";

void put(std::string& bytes, std::string_view text) { bytes += fmt::format("{}:{}", text.size(), text); }

/// Returns the bytes from which the authentication code is computed. They differ for any two configs.
/// trainrt/tune/_sweep_record.py computes the same bytes.
std::string signed_bytes(const Texts& config) {
  std::string bytes;
  put(bytes, "trainrt sweep 1");
  for (const auto& [key, text] : config) {
    put(bytes, key);
    put(bytes, text);
  }
  return bytes;
}

/// Returns whether the key may change during a sweep. The path and the name may change, because the directory may be
/// moved. Older versions did not record the classes that decide in the script.
bool may_change(const std::string& key) {
  return key == "run.storage_path" || key == "run.name" || key == "checkpoint.mirror" || key == "tune.num_samples" ||
         key == "tune.place" || key == "tune.max_concurrent_trials" || key == "tune.max_failures" ||
         key == "tune.fail_fast" || key == decided_in_script;
}

/// Returns the authentication code of a config, computed with the user's key. If the key cannot be used, prints a
/// warning and returns nothing.
std::optional<std::string> code_of(const Texts& config) try {
  return code_of_user(signed_bytes(config));
} catch (const Error& error) {
  log::warning(
      fmt::format("{}. sweep.json is not signed, so Tuner.restore() needs the programs as arguments", error.what()));
  return std::nullopt;
}

}  // namespace

std::string sweep_record_text(const Texts& config) {
  Json json = Json::object();
  for (const auto& [key, text] : config) json[key] = text;
  if (const auto code = code_of(config)) json[code_name] = {{algorithm, *code}};
  return json.dump(2) + "\n";
}

std::optional<SweepRecord> sweep_record_from(const std::string& text) {
  const auto json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  SweepRecord record;
  for (const auto& [key, value] : json.items())
    if (value.is_string()) record.config[key] = value.get<std::string>();
  record.config = config::with_new_names(record.config);
  record.has_code = json.contains(code_name);
  return record;
}

std::string differences(const Texts& before, const Texts& now) {
  std::vector<std::string> found;
  const auto had = [&](const std::string& key) { return before.contains(key) ? before.at(key) : std::string(); };
  for (const auto& [key, value] : now)
    if (!may_change(key) && had(key) != value) found.push_back(fmt::format("{} was '{}', now '{}'", key, had(key), value));
  for (const auto& [key, value] : before)
    if (!may_change(key) && !now.contains(key)) found.push_back(fmt::format("{} was '{}', now not set", key, value));
  return join(found);
}

}  // namespace trainrt::tune
