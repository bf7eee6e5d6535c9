#include "checkpoint/manifest.hpp"

#include <cmath>
#include <initializer_list>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <trainrt/error.hpp>

#include "io/digest.hpp"
#include "io/file.hpp"

namespace trainrt::checkpoint {

namespace {

using Json = nlohmann::ordered_json;

/// The last lines of a manifest whose text before them is `body`.
std::string seal(std::string_view body) { return ",\n \"xxh3_128\": \"" + io::digest_of(body) + "\"\n}\n"; }

/// A JSON object that is read strictly: every key once, of its type, and no others.
class Reader {
 public:
  Reader(const Json& json, std::string what, const std::string& path) : json_(json), what_(std::move(what)), path_(path) {
    if (!json.is_object()) fail("is no object");
  }

  const Json& at(const std::string& key) {
    read_.insert(key);
    const auto found = json_.find(key);
    if (found == json_.end()) fail("lacks '" + key + "'");
    return *found;
  }
  std::string text(const std::string& key) {
    const auto& value = at(key);
    if (!value.is_string()) fail("has a '" + key + "' that is no text");
    return value.get<std::string>();
  }
  /// A whole number, zero or more.
  std::int64_t count(const std::string& key) {
    const auto& value = at(key);
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > max_count) fail("has a '" + key + "' that is no count");
    return value.get<std::int64_t>();
  }
  int small_count(const std::string& key) {
    const auto value = count(key);
    if (value > std::numeric_limits<int>::max()) fail("has a '" + key + "' that is too large");
    return static_cast<int>(value);
  }
  void expect(const std::string& key, const Json& value) {
    if (at(key) != value) fail("has '" + key + "' " + at(key).dump() + ", where this trainrt reads " + value.dump());
  }
  void end() const {
    for (const auto& [key, value] : json_.items())
      if (!read_.contains(key)) fail("has the unknown key '" + key + "'");
  }
  [[noreturn]] void fail(const std::string& text) const { throw Error("'" + path_ + "': " + what_ + " " + text); }

 private:
  static constexpr std::uint64_t max_count = std::numeric_limits<std::int64_t>::max();
  const Json& json_;
  std::string what_;
  const std::string& path_;
  std::set<std::string> read_;
};

bool stays_inside(const std::string& name) {
  for (std::size_t at = 0; at <= name.size();) {
    const auto slash = std::min(name.find('/', at), name.size());
    const auto part = name.substr(at, slash - at);
    if (part.empty() || part == "." || part == ".." || part.find('\0') != std::string::npos) return false;
    at = slash + 1;
  }
  return name != manifest_name;
}

bool is_digest(const std::string& text) {
  return text.size() == 32 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

FileRecord file_from(const Json& json, const std::string& path) {
  Reader reader(json, "an entry of 'files'", path);
  FileRecord file;
  file.name = reader.text("name");
  file.bytes = static_cast<std::uint64_t>(reader.count("bytes"));
  file.xxh3_128 = reader.text("xxh3_128");
  reader.end();
  if (!stays_inside(file.name)) reader.fail("has the name '" + file.name + "', which is no file of this directory");
  if (!is_digest(file.xxh3_128)) reader.fail("has an 'xxh3_128' that is no digest");
  return file;
}

std::map<std::string, double> metrics_from(const Json& json, const Reader& reader) {
  if (!json.is_object()) reader.fail("has 'metrics' that are no object");
  std::map<std::string, double> metrics;
  for (const auto& [key, value] : json.items()) {
    if (!value.is_number() && !value.is_null()) reader.fail("has the metric '" + key + "' that is no number");
    metrics[key] = value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
  }
  return metrics;
}

Manifest manifest_from(const Json& json, const std::string& path) {
  Reader reader(json, "the manifest", path);
  reader.expect("format", manifest_format);
  reader.expect("version", format_version);
  Manifest manifest;
  auto& meta = manifest.meta;
  meta.index = reader.count("index");
  meta.iteration = reader.count("iteration");
  meta.step = reader.count("step");
  meta.ranks = reader.small_count("ranks");
  meta.attempt = reader.small_count("attempt");
  meta.created = reader.text("created");
  meta.metrics = metrics_from(reader.at("metrics"), reader);
  const auto& files = reader.at("files");
  if (!files.is_array()) reader.fail("has 'files' that are no list");
  std::set<std::string> names;
  for (const auto& file : files) {
    manifest.files.push_back(file_from(file, path));
    if (!names.insert(manifest.files.back().name).second) reader.fail("lists '" + manifest.files.back().name + "' twice");
  }
  reader.text("xxh3_128");
  reader.end();
  for (int rank = 0; rank < meta.ranks; ++rank)
    if (!names.contains(shard_name(rank))) reader.fail("does not list '" + shard_name(rank) + "'");
  if (!names.contains(view_name)) reader.fail("does not list '" + view_name + "'");
  return manifest;
}

}  // namespace

std::string to_text(const Manifest& manifest) {
  const auto& meta = manifest.meta;
  Json json{{"format", manifest_format},   {"version", format_version}, {"index", meta.index},
            {"iteration", meta.iteration}, {"step", meta.step},         {"ranks", meta.ranks},
            {"attempt", meta.attempt},     {"created", meta.created},   {"metrics", Json::object()},
            {"files", Json::array()}};
  for (const auto& [key, value] : meta.metrics) json["metrics"][key] = std::isfinite(value) ? Json(value) : Json(nullptr);
  for (const auto& file : manifest.files)
    json["files"].push_back({{"name", file.name}, {"bytes", file.bytes}, {"xxh3_128", file.xxh3_128}});
  auto body = json.dump(1, ' ', false, Json::error_handler_t::replace);
  body.resize(body.rfind('\n'));  // without the closing bracket, which comes with the seal
  return body + seal(body);
}

Manifest manifest_from(const std::string& text, const std::string& path) {
  const auto seal_bytes = seal("").size();
  if (text.size() < seal_bytes) throw Error("'" + path + "' is cut short");
  const auto body = text.substr(0, text.size() - seal_bytes);
  if (text.substr(body.size()) != seal(body)) throw Error("'" + path + "' is damaged: its digest does not fit its text");
  try {
    return manifest_from(Json::parse(text), path);
  } catch (const nlohmann::json::exception& error) {
    throw Error("'" + path + "' is no manifest: " + error.what());
  }
}

Manifest read_manifest(const std::string& checkpoint_dir) {
  const auto path = checkpoint_dir + "/" + manifest_name;
  return manifest_from(io::read_file(path), path);
}

}  // namespace trainrt::checkpoint
