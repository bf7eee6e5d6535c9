#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trainrt::io {

/// A file of hdf5_schemas, as compiled in: a JSON list of what may stand in such an HDF5 file. An entry has
///   "path"        of the group or dataset, from "/"; * stands for any run of characters but '/', ** for any run
///   "dtype"       of a dataset, or a list of them: f64 f32 f16 bf16 i64 i32 i16 i8 u8 bool string; without it: a group
///   "rank"        number of axes; without it: any
///   "attributes"  {name: dtype}: exactly these
///   "required"    true: something in the file must fit this entry
/// Everything in a file must fit some entry whole; "/" is the file itself.
struct SchemaText {
  std::string_view name;  ///< the file's stem: "shard", "state", "metrics"
  std::string_view json;
};
std::span<const SchemaText> schema_texts();

/// Holds an HDF5 file against the schema of that name. Empty = it fits; else what does not, one line a finding, each with
/// the file and the path inside. A schema that is unknown or no schema throws Error.
std::vector<std::string> check_schema(const std::string& file, std::string_view schema);

}  // namespace trainrt::io
