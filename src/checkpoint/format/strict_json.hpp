#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>

namespace trainrt::checkpoint {

using Json = nlohmann::ordered_json;

/// Parses JSON. Throws Error naming `path` if the text is not JSON, or is nested deeper than `max_json_depth` levels, which
/// protects the stack.
Json parse_json(std::string_view text, const std::string& path);

/// Returns whether `text` has 32 lower-case hexadecimal digits.
bool is_digest(std::string_view text);

/// Reads a JSON object with known keys and types. All functions throw Error naming `path` and `what`, the name of
/// the object, for missing keys and wrong types. `json` and `path` must outlive the reader.
class StrictObject {
 public:
  StrictObject(const Json& json, std::string what, const std::string& path);

  const Json& at(const std::string& key);
  /// Returns nullptr if the key is missing, for keys that older files lack.
  const Json* find(const std::string& key);
  const Json& list(const std::string& key);
  const Json& object(const std::string& key);
  std::string text(const std::string& key);
  std::string digest(const std::string& key);
  std::int64_t count(const std::string& key);  ///< an integer from 0 to the maximum of std::int64_t
  std::uint64_t bytes(const std::string& key) { return static_cast<std::uint64_t>(count(key)); }
  int small_count(const std::string& key);  ///< an integer from 0 to the maximum of int
  /// Requires that the key has this value.
  void expect(const std::string& key, const Json& value);
  /// Throws Error if the object has a key that no function was called with.
  void end() const;
  /// Throws Error with the message "'PATH': WHAT `text`".
  [[noreturn]] void fail(const std::string& text) const;

 private:
  const Json& json_;
  std::string what_;
  const std::string& path_;
  std::set<std::string> read_;
};

}  // namespace trainrt::checkpoint
