#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trainrt::io {

/// A file of hdf5_schemas, compiled into the program: a JSON list of the objects that such an HDF5 file may contain. The
/// keys of an entry:
///   "path"        absolute path of the group or dataset; * matches any characters except '/', ** any characters
///   "dtype"       type of a dataset, or a list of types: f64 f32 f16 bf16 i64 i32 i16 i8 u8 bool string; default: a group
///   "rank"        number of axes; default: any
///   "attributes"  {name: dtype}: exactly these attributes
///   "required"    true: at least one object of the file must match this entry
/// Every object of a file, including the root group "/", must match all keys of some entry.
struct SchemaText {
  std::string_view name;  ///< file name without suffix: "shard", "state", "metrics"
  std::string_view json;
};
std::span<const SchemaText> schema_texts();

/// Compares an HDF5 file with the schema of that name. Returns the differences, each a line with the file and the path in
/// it; empty if the file matches. Throws Error if the schema is unknown or invalid.
std::vector<std::string> check_schema(const std::string& file, std::string_view schema);

}  // namespace trainrt::io
