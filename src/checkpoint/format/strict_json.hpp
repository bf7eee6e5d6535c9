#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>

namespace trainrt::checkpoint {

using Json = nlohmann::ordered_json;

/// Parses JSON. Throws Error naming `path` if the text is not JSON, or has more than max_json_depth nested levels. The
/// limit prevents a stack overflow.
Json parse_json(std::string_view text, const std::string& path);

/// Returns whether `text` consists of 32 lower-case hexadecimal digits, like an XXH3-128 digest.
bool is_digest(std::string_view text);

/// Reads a JSON object and checks its keys and types. All functions throw Error if a key is missing or its value has the
/// wrong type; the message names the file `path` and the object, `what`. `json` and `path` must outlive the reader.
class StrictObject {
 public:
  StrictObject(const Json& json, std::string what, const std::string& path);

  const Json& at(const std::string& key);
  /// Returns the value of an optional key, for example a key that older files lack; nullptr if the key is missing.
  const Json* find(const std::string& key);
  const Json& list(const std::string& key);
  const Json& object(const std::string& key);
  std::string text(const std::string& key);
  std::string digest(const std::string& key);
  std::int64_t count(const std::string& key);  ///< returns an integer from 0 to the maximum of std::int64_t
  std::uint64_t bytes(const std::string& key) { return static_cast<std::uint64_t>(count(key)); }
  int small_count(const std::string& key);  ///< returns an integer from 0 to the maximum of int
  /// Throws Error unless the value of `key` is `value`.
  void expect(const std::string& key, const Json& value);
  /// Throws Error if the object has an unknown key: one that was not passed to any of the functions above.
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
