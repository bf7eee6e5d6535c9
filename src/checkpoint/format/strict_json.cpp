#include "checkpoint/format/strict_json.hpp"

#include <limits>
#include <trainrt/error.hpp>

#include "core/text/json_depth.hpp"
#include "core/text/text.hpp"

namespace trainrt::checkpoint {

namespace {

/// Returns whether a JSON value is an integer from 0 to the maximum of std::int64_t.
bool is_count(const Json& value) {
  constexpr std::uint64_t max_count = std::numeric_limits<std::int64_t>::max();
  return value.is_number_unsigned() && value.get<std::uint64_t>() <= max_count;
}

}  // namespace

Json parse_json(std::string_view text, const std::string& path) try {
  if (is_nested_deeper(text, max_json_depth)) throw Error("'" + path + "' is nested too deeply");
  return Json::parse(text);
} catch (const nlohmann::json::exception& error) {
  throw Error("'" + path + "' cannot be read: " + excerpt(error.what()));
}

bool is_digest(std::string_view text) {
  return text.size() == 32 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

StrictObject::StrictObject(const Json& json, std::string what, const std::string& path)
    : json_(json), what_(std::move(what)), path_(path) {
  if (!json.is_object()) fail("is not an object");
}

const Json& StrictObject::at(const std::string& key) {
  read_.insert(key);
  const auto found = json_.find(key);
  if (found == json_.end()) fail("lacks '" + key + "'");
  return *found;
}

const Json* StrictObject::find(const std::string& key) {
  read_.insert(key);
  const auto found = json_.find(key);
  return found == json_.end() ? nullptr : &*found;
}

const Json& StrictObject::list(const std::string& key) {
  const auto& value = at(key);
  if (!value.is_array()) fail("has '" + key + "' that are not a list");
  return value;
}

const Json& StrictObject::object(const std::string& key) {
  const auto& value = at(key);
  if (!value.is_object()) fail("has '" + key + "' that is not an object");
  return value;
}

std::string StrictObject::text(const std::string& key) {
  const auto& value = at(key);
  if (!value.is_string()) fail("has a '" + key + "' that is not a string");
  return value.get<std::string>();
}

std::string StrictObject::digest(const std::string& key) {
  auto value = text(key);
  if (!is_digest(value)) fail("has an '" + key + "' that is not a digest");
  return value;
}

std::int64_t StrictObject::count(const std::string& key) {
  const auto& value = at(key);
  if (!is_count(value)) fail("has a '" + key + "' that is not an integer from 0 to 2^63 - 1");
  return value.get<std::int64_t>();
}

int StrictObject::small_count(const std::string& key) {
  const auto value = count(key);
  if (value > std::numeric_limits<int>::max()) fail("has a '" + key + "' that is too large");
  return static_cast<int>(value);
}

void StrictObject::expect(const std::string& key, const Json& value) {
  const auto& found = at(key);
  if (found == value) return;
  fail("has '" + key + "' " + found.dump(-1, ' ', true, Json::error_handler_t::replace) + "; this trainrt reads " +
       value.dump());
}

void StrictObject::end() const {
  for (const auto& [key, value] : json_.items())
    if (!read_.contains(key)) fail("has the unknown key '" + key + "'");
}

void StrictObject::fail(const std::string& text) const { throw Error("'" + path_ + "': " + what_ + " " + text); }

}  // namespace trainrt::checkpoint
