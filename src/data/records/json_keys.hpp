#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <trainrt/dataset.hpp>

#include "data/bytes/coding/packed.hpp"
#include "data/records/record_file.hpp"
#include "data/text/field_types.hpp"

namespace trainrt::data {

/// A key of the objects of a file of JSON lines, and what its values are. Each is a field.
struct JsonKey {
  std::string name;
  ValueType type;
  bool is_list = false;
  bool varies = false;       ///< lists of any length
  std::uint64_t length = 0;  ///< of each list otherwise
  bool must_fit = false;     ///< the type f64 was inferred: a whole number that it would round is an error
};

/// What the keys of a section say about JSON lines.
struct JsonOptions {
  std::vector<std::string> columns;  ///< keys that are read; if there is none, all that the first objects have
  GivenTypes types;
  bool skips_errors = false;  ///< objects that are none are left to whoever reads them
};

/// Finds the keys of the first `looked_at` objects, in the order in which they occur, and infers the types of their values.
/// A key that some objects lack has missing values. Throws UsageError that names file, row and key if the values of a key
/// are of different kinds, or of a kind that a field cannot hold.
std::vector<JsonKey> json_keys(const RecordFile& records, const JsonOptions& options, std::uint64_t looked_at);

std::vector<Dataset::Field> fields_of(std::span<const JsonKey> keys);

void pack(std::span<const JsonKey> keys, PackedWriter& into);
std::vector<JsonKey> unpacked_keys(PackedReader& from);

/// Hands the object of a record to the visitor; what is wrong with it is said with file and row.
void visit_record(const std::string& path, const Record& record, class JsonVisitor& visitor);

}  // namespace trainrt::data
