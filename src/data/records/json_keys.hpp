#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <trainrt/dataset.hpp>

#include "data/records/json_object.hpp"
#include "data/records/record_file.hpp"
#include "data/text/field_types.hpp"

namespace trainrt::data {

/// A key of the objects of a JSON lines file, and the type of its values. Each key is a field.
struct JsonKey {
  std::string name;
  ValueType type;
  bool is_list = false;
  bool varies = false;       ///< whether the lists vary in length
  std::uint64_t length = 0;  ///< length of each list, unless `varies`
  bool must_fit = false;     ///< true if f64 was inferred: then an integer that f64 would round is an error

  static auto packed_members(auto& self) {
    return std::tie(self.name, self.type, self.is_list, self.varies, self.length, self.must_fit);
  }
};

/// The values of the keys for JSON lines files in a section [data.NAME].
struct JsonOptions {
  std::vector<std::string> columns;  ///< keys to read; empty: all keys of the first objects
  GivenTypes types;
  bool skips_errors = false;  ///< whether lines that are not valid objects are ignored
};

/// Finds the keys of the first `probed` objects, in the order of their first occurrence, and infers the types of their
/// values. If an object lacks a key, the value counts as missing. Throws UsageError, with file, row and key, if the values
/// of a key have different kinds, or a kind that a field cannot hold.
std::vector<JsonKey> json_keys(const RecordFile& records, const JsonOptions& options, std::uint64_t probed);

std::vector<Dataset::Field> fields_of(std::span<const JsonKey> keys);

/// Passes the JSON object in a record to `visitor`, by `reader`. If `reader` or `visitor` throws UsageError, adds file and
/// row to the message.
void visit_record(JsonObjectReader& reader, const std::string& path, const Record& record, JsonVisitor& visitor);

}  // namespace trainrt::data
