#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trainrt::io {

/// A schema of HDF5 files: a JSON file of the folder hdf5_schemas, compiled into the program. It lists the objects (groups
/// and datasets) that an HDF5 file of this kind may contain. The keys of an entry of the list:
///   "path"        absolute path of the group or dataset; * matches any characters except '/', ** any characters
///   "dtype"       type of a dataset, or a list of types: a name of a DType ("f32", "bool") or "string"; default: a group
///   "rank"        number of axes; default: any
///   "attributes"  {name: dtype}: exactly these attributes
///   "required"    true: at least one object of the file must match this entry
/// Every object of a file, including the root group "/", must match all keys of some entry.
struct SchemaText {
  std::string_view name;  ///< file name without suffix: "shard", "state", "metrics"
  std::string_view json;
};
std::span<const SchemaText> schema_texts();

/// Compares an HDF5 file with the schema named `schema`. Returns a line for each difference, with the file and the path
/// of the group or dataset; empty if the file matches. A file that cannot be opened counts as one difference. Throws
/// Error if the schema is unknown or invalid.
std::vector<std::string> check_schema(const std::string& file, std::string_view schema);

}  // namespace trainrt::io
