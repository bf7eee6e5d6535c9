#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>

namespace trainrt::checkpoint {

using Json = nlohmann::ordered_json;

/// Parses; what is no JSON, or is nested deeper than anything of ours (no stack may overflow on it), throws Error naming
/// `path`.
Json parse_json(std::string_view text, const std::string& path);

/// 32 hexadecimal digits, in lower case.
bool is_digest(std::string_view text);

/// A JSON object that is read strictly: every key of its type, and no others. `what` and `path` are for the errors, and
/// must outlive the reader.
class StrictObject {
 public:
  StrictObject(const Json& json, std::string what, const std::string& path);

  const Json& at(const std::string& key);
  /// nullptr if there is no such key, which older files lack.
  const Json* find(const std::string& key);
  const Json& list(const std::string& key);
  std::string text(const std::string& key);
  std::string digest(const std::string& key);
  std::int64_t count(const std::string& key);
  std::uint64_t bytes(const std::string& key) { return static_cast<std::uint64_t>(count(key)); }
  int small_count(const std::string& key);
  void expect(const std::string& key, const Json& value);
  /// Every key was asked for.
  void end() const;
  [[noreturn]] void fail(const std::string& text) const;

 private:
  const Json& json_;
  std::string what_;
  const std::string& path_;
  std::set<std::string> read_;
};

}  // namespace trainrt::checkpoint
