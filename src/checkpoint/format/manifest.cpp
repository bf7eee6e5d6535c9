#include "checkpoint/format/manifest.hpp"

#include <nlohmann/json.hpp>
#include <trainrt/error.hpp>

#include "checkpoint/format/strict_json.hpp"
#include "core/text/json_depth.hpp"
#include "core/text/json_number.hpp"
#include "core/text/text.hpp"
#include "io/files/digest.hpp"
#include "io/files/file.hpp"
#include "io/storage_retry.hpp"

namespace trainrt::checkpoint {

namespace {

/// Returns the last lines of manifest.json, which contain the digest of `body`. `body` is the text of the file before
/// these lines.
std::string seal(std::string_view body) { return ",\n \"xxh3_128\": \"" + io::digest_of(body) + "\"\n}\n"; }

bool is_users_file(const std::string& name) {
  for (std::size_t at = 0; at <= name.size();) {
    const auto slash = std::min(name.find('/', at), name.size());
    const auto part = name.substr(at, slash - at);
    if (part.empty() || part == "." || part == ".." || part.find('\0') != std::string::npos) return false;
    at = slash + 1;
  }
  return name.starts_with(files_folder + "/");
}

std::map<std::string, double> metrics_from(StrictObject& reader) {
  std::map<std::string, double> metrics;
  for (const auto& [key, value] : reader.object("metrics").items()) {
    const auto number = number_of_json(value);
    if (!number) reader.fail("has the metric '" + key + "' that is not a number");
    metrics[key] = *number;
  }
  return metrics;
}

/// Returns the value of an optional boolean key of a JSON object; false if the key is missing.
bool flag_from(StrictObject& reader, const char* key) {
  const auto* flag = reader.find(key);
  if (flag != nullptr && !flag->is_boolean()) reader.fail("has '" + std::string(key) + "' that is neither true nor false");
  return flag != nullptr && flag->get<bool>();
}

Meta meta_from(StrictObject& reader) {
  Meta meta;
  meta.number = reader.count("index");
  meta.iteration = reader.count("iteration");
  meta.step = reader.count("step");
  meta.ranks = reader.small_count("ranks");
  if (meta.ranks == 0) reader.fail("has 'ranks' 0");
  meta.attempt = reader.small_count("attempt");
  meta.created = reader.text("created");
  meta.metrics = metrics_from(reader);
  meta.metadata = reader.object("metadata").dump();
  if (reader.find("bits") != nullptr) meta.bits = reader.object("bits").dump();
  meta.at_stop = flag_from(reader, "at_stop");
  meta.has_directory = flag_from(reader, "directory");
  if (reader.find("validation") != nullptr) meta.validation = reader.object("validation").dump();
  if (const auto* seconds = reader.find("iteration_s")) {
    if (!seconds->is_number() || !(seconds->get<double>() >= 0))
      reader.fail("has 'iteration_s' that is not a number of seconds");
    meta.iteration_s = seconds->get<double>();
  }
  return meta;
}

PartRecord part_from(const Json& json, const std::string& path) {
  StrictObject reader(json, "an entry of 'parts'", path);
  PartRecord part;
  part.rank = reader.small_count("rank");
  part.at = reader.bytes("at");
  part.bytes = reader.bytes("bytes");
  part.digest = reader.digest("xxh3_128");
  reader.end();
  if (part.bytes == 0) reader.fail("has 'bytes' 0");
  return part;
}

ShardRecord shard_from(const Json& json, std::size_t number, const std::string& path) {
  StrictObject reader(json, "an entry of 'shards'", path);
  ShardRecord shard;
  shard.name = reader.text("name");
  shard.bytes = reader.bytes("bytes");
  for (const auto& part : reader.list("parts")) shard.parts.push_back(part_from(part, path));
  reader.end();
  if (const auto name = shard_name(static_cast<int>(number)); shard.name != name)
    reader.fail("has the name '" + shard.name + "', not '" + name + "'");
  if (shard.parts.empty()) reader.fail("has no 'parts'");
  auto end = shard.hdf5_bytes();
  for (const auto& part : shard.parts) {
    if (part.at != end) reader.fail("has 'parts' with a gap or an overlap");
    end += part.bytes;
    // `end` cannot overflow, because the sum of two 63-bit numbers fits into 64 bits.
    if (end > shard.bytes) reader.fail("has 'parts' that end after the end of the file");
  }
  if (end != shard.bytes) reader.fail("has 'parts' that end before the end of the file");
  return shard;
}

FileRecord file_from(const Json& json, const std::string& path) {
  StrictObject reader(json, "an entry of 'files'", path);
  FileRecord file;
  file.name = reader.text("name");
  file.bytes = reader.bytes("bytes");
  file.digest = reader.digest("xxh3_128");
  if (!reader.at("rank").is_null()) file.rank = reader.small_count("rank");
  reader.end();
  if (!is_users_file(file.name)) reader.fail("has the name '" + file.name + "', which is not a file below 'files'");
  return file;
}

/// Checks that the manifest lists exactly one index per rank, and no file twice.
void check_unique(const Manifest& manifest, const StrictObject& reader) {
  std::set<int> ranks;
  for (const auto& shard : manifest.shards)
    for (const auto& part : shard.parts) {
      if (part.rank >= manifest.meta.ranks) reader.fail("has a part of rank " + std::to_string(part.rank));
      if (!ranks.insert(part.rank).second) reader.fail("has two parts of rank " + std::to_string(part.rank));
    }
  if (ranks.size() != static_cast<std::size_t>(manifest.meta.ranks))
    reader.fail("has parts of " + std::to_string(ranks.size()) + " of " + std::to_string(manifest.meta.ranks) + " ranks");
  std::set<std::string> names;
  for (const auto& file : manifest.files) {
    if (file.rank >= manifest.meta.ranks) reader.fail("has a file of rank " + std::to_string(file.rank));
    if (!names.insert(file.name).second) reader.fail("lists '" + file.name + "' twice");
  }
}

Manifest manifest_from(const Json& json, const std::string& path) {
  StrictObject reader(json, "the manifest", path);
  reader.expect("format", manifest_format);
  reader.expect("version", format_version);
  Manifest manifest;
  manifest.meta = meta_from(reader);
  for (const auto& shard : reader.list("shards"))
    manifest.shards.push_back(shard_from(shard, manifest.shards.size(), path));
  for (const auto& file : reader.list("files")) manifest.files.push_back(file_from(file, path));
  reader.text("xxh3_128");
  reader.end();
  if (manifest.shards.empty()) reader.fail("has no 'shards'");
  check_unique(manifest, reader);
  return manifest;
}

Json to_json(const Meta& meta) {
  Json json{{"format", manifest_format},   {"version", format_version}, {"index", meta.number},
            {"iteration", meta.iteration}, {"step", meta.step},         {"ranks", meta.ranks},
            {"attempt", meta.attempt},     {"created", meta.created},   {"metrics", Json::object()}};
  for (const auto& [key, value] : meta.metrics) json["metrics"][key] = json_of_number(value);
  json["metadata"] = parse_json(meta.metadata, "metadata");
  if (!json["metadata"].is_object())
    throw UsageError("the metadata of a checkpoint is not a JSON object: " + meta.metadata);
  if (!meta.bits.empty()) json["bits"] = parse_json(meta.bits, "bits");
  if (meta.at_stop) json["at_stop"] = true;
  if (meta.has_directory) json["directory"] = true;
  if (!meta.validation.empty()) json["validation"] = parse_json(meta.validation, "validation");
  if (meta.iteration_s > 0) json["iteration_s"] = meta.iteration_s;
  return json;
}

Json to_json(const ShardRecord& shard) {
  Json json{{"name", shard.name}, {"bytes", shard.bytes}, {"parts", Json::array()}};
  for (const auto& part : shard.parts)
    json["parts"].push_back({{"rank", part.rank}, {"at", part.at}, {"bytes", part.bytes}, {"xxh3_128", part.digest}});
  return json;
}

Json to_json(const FileRecord& file) {
  return {{"name", file.name},
          {"bytes", file.bytes},
          {"xxh3_128", file.digest},
          {"rank", file.rank < 0 ? Json(nullptr) : Json(file.rank)}};
}

}  // namespace

std::string to_text(const Manifest& manifest) {
  auto json = to_json(manifest.meta);
  json["shards"] = Json::array();
  json["files"] = Json::array();
  for (const auto& shard : manifest.shards) json["shards"].push_back(to_json(shard));
  for (const auto& file : manifest.files) json["files"].push_back(to_json(file));
  auto body = json.dump(1, ' ', false, Json::error_handler_t::replace);
  body.resize(body.rfind('\n'));  // removes the closing bracket, which seal() appends again
  return body + seal(body);
}

Manifest manifest_from(const std::string& text, const std::string& path) {
  const auto seal_bytes = seal("").size();
  if (text.size() < seal_bytes) throw Error("'" + path + "' is truncated");
  const auto body = std::string_view(text).substr(0, text.size() - seal_bytes);
  if (text.substr(body.size()) != seal(body)) throw Error("'" + path + "' is damaged: its text does not match its digest");
  return manifest_from(parse_json(text, path), path);
}

Manifest read_manifest(const std::string& checkpoint_dir) {
  const auto path = checkpoint_dir + "/" + manifest_name;
  return manifest_from(io::retried_in(run_of(checkpoint_dir), [&] { return io::read_file(path); }), path);
}

namespace {

/// Maximum number of nested levels of the user's metadata: one less than for a manifest, because a manifest contains the
/// metadata.
constexpr int max_metadata_depth = max_json_depth - 1;

}  // namespace

void check_metadata(std::string_view json) try {
  if (is_nested_deeper(json, max_metadata_depth))
    throw UsageError("checkpoint metadata is nested too deeply: at most " + std::to_string(max_metadata_depth) +
                     " levels of arrays and objects are allowed");
  if (!nlohmann::json::parse(json).is_object())
    throw UsageError("checkpoint metadata must be a JSON object, {\"key\": value, ...}, not: " +
                     std::string(json.substr(0, 80)));
} catch (const nlohmann::json::exception& error) {
  throw UsageError(std::string("checkpoint metadata is not JSON: ") + excerpt(error.what()));
}

std::string merged_metadata(const std::string& base, const std::string& over) {
  auto merged = Json::parse(base);
  merged.update(Json::parse(over));
  return merged.dump();
}

}  // namespace trainrt::checkpoint
