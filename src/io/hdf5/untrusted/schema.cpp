#include "io/hdf5/untrusted/schema.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <trainrt/error.hpp>

#include "core/text/text.hpp"
#include "io/hdf5/h5_members.hpp"
#include "io/hdf5/h5_types.hpp"
#include "io/hdf5/untrusted/h5_open.hpp"

namespace trainrt::io {

namespace {

struct SchemaEntry {
  std::string path;
  std::vector<std::string> dtypes;  // allowed types of a dataset; empty for a group
  std::optional<std::size_t> rank;
  std::map<std::string, std::string> attributes;
  bool required = false;
  bool seen = false;
};

SchemaEntry entry_from(const nlohmann::json& json) {
  SchemaEntry entry;
  entry.path = json.at("path").get<std::string>();
  if (json.contains("dtype")) {
    const auto& dtype = json.at("dtype");
    entry.dtypes = dtype.is_array() ? dtype.get<std::vector<std::string>>() : std::vector{dtype.get<std::string>()};
  }
  if (json.contains("rank")) entry.rank = json.at("rank").get<std::size_t>();
  if (json.contains("attributes")) entry.attributes = json.at("attributes").get<std::map<std::string, std::string>>();
  entry.required = json.value("required", false);
  return entry;
}

std::vector<SchemaEntry> load_schema(std::string_view name) {
  std::vector<std::string> names;
  for (const auto& text : schema_texts()) {
    names.emplace_back(text.name);
    if (text.name != name) continue;
    try {
      std::vector<SchemaEntry> entries;
      for (const auto& json : nlohmann::json::parse(text.json)) entries.push_back(entry_from(json));
      return entries;
    } catch (const nlohmann::json::exception& error) {
      throw Error("hdf5_schemas/" + std::string(name) + ".json, which was compiled in, is not a schema: " + error.what());
    }
  }
  throw Error("unknown HDF5 schema '" + std::string(name) + "'; valid: " + join(names));
}

/// Returns whether the HDF5 path `path` matches `pattern`, in which * matches any characters except '/', and ** any
/// characters.
bool matches(std::string_view pattern, std::string_view path) {
  if (pattern.empty()) return path.empty();
  const bool deep = pattern.starts_with("**");
  if (pattern.front() != '*')
    return !path.empty() && path.front() == pattern.front() && matches(pattern.substr(1), path.substr(1));
  const auto rest = pattern.substr(deep ? 2 : 1);
  for (std::size_t length = 0; length <= path.size(); ++length) {
    if (matches(rest, path.substr(length))) return true;
    if (length < path.size() && path[length] == '/' && !deep) return false;
  }
  return false;
}

/// The properties of a group or dataset of an HDF5 file that a schema can describe.
struct ObjectProperties {
  bool dataset = false;
  std::string dtype;
  std::size_t rank = 0;
  std::map<std::string, std::string> attributes;
};

ObjectProperties properties_of(hid_t object) {
  ObjectProperties seen;
  seen.dataset = H5Iget_type(object) == H5I_DATASET;
  if (seen.dataset) {
    seen.dtype = h5_dataset_type(object);
    seen.rank = h5_dataset_shape(object).size();
  }
  for (const auto& name : h5_attribute_names(object)) seen.attributes[name] = h5_attribute_type(object, name);
  return seen;
}

std::vector<std::string> differences(const SchemaEntry& entry, const ObjectProperties& seen) {
  std::vector<std::string> findings;
  if (seen.dataset && std::find(entry.dtypes.begin(), entry.dtypes.end(), seen.dtype) == entry.dtypes.end())
    findings.push_back("is of type " + seen.dtype + ", not " + join(entry.dtypes, " or "));
  if (seen.dataset && entry.rank && *entry.rank != seen.rank)
    findings.push_back("has rank " + std::to_string(seen.rank) + ", not " + std::to_string(*entry.rank));
  for (const auto& [name, type] : entry.attributes) {
    const auto found = seen.attributes.find(name);
    if (found == seen.attributes.end())
      findings.push_back("lacks the attribute '" + name + "'");
    else if (found->second != type)
      findings.push_back("has the attribute '" + name + "' of type " + found->second + ", not " + type);
  }
  for (const auto& [name, type] : seen.attributes)
    if (!entry.attributes.contains(name)) findings.push_back("has the unknown attribute '" + name + "'");
  return findings;
}

/// Returns an empty list if an entry of the schema matches the group or dataset at `path`, otherwise the differences from
/// the most similar entry. Marks the matching entry as seen.
std::vector<std::string> differences_of(std::vector<SchemaEntry>& entries, const std::string& path,
                                        const ObjectProperties& seen) {
  std::optional<std::vector<std::string>> nearest_findings;
  for (auto& entry : entries) {
    if (entry.dtypes.empty() == seen.dataset || !matches(entry.path, path)) continue;
    auto findings = differences(entry, seen);
    if (findings.empty()) {
      entry.seen = true;
      return {};
    }
    if (!nearest_findings || findings.size() < nearest_findings->size()) nearest_findings = std::move(findings);
  }
  if (nearest_findings) return *nearest_findings;
  return {std::string("is a ") + (seen.dataset ? "dataset" : "group") + " that is not part of the schema"};
}

}  // namespace

std::vector<std::string> check_schema(const std::string& file, std::string_view schema) {
  auto entries = load_schema(schema);
  std::vector<std::string> findings;
  const auto add = [&](const std::string& path, const std::string& text) {
    findings.push_back(file + ": " + path + " " + text);
  };
  try {
    const auto lock = h5_lock();
    const auto opened = h5_open(file);
    h5_walk(
        opened,
        [&](const std::string& path, hid_t object) {
          for (const auto& text : differences_of(entries, path, properties_of(object))) add(path, text);
        },
        add);
  } catch (const Error& error) {
    return {error.what()};
  }
  for (const auto& entry : entries)
    if (entry.required && !entry.seen) add(entry.path, "is missing, or differs from the schema " + std::string(schema));
  return findings;
}

}  // namespace trainrt::io
