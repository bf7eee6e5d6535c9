#pragma once
#include <cstdint>
#include <string>
#include <string_view>

// Names and versions of what lies in a checkpoint directory: hdf5_schemas/shard.json and state.json have the rest.
namespace trainrt::checkpoint {

inline constexpr std::int64_t format_version = 1;
inline constexpr std::string_view shard_format = "trainrt shard";
inline constexpr std::string_view view_format = "trainrt state";
inline constexpr std::string_view manifest_format = "trainrt checkpoint";

inline const std::string manifest_name = "manifest.json";
inline const std::string view_name = "state.h5";

std::string shard_name(int rank);        ///< "shard-00000.h5"
inline constexpr int values_writer = 0;  ///< the rank whose shard holds the values

/// Where an entry lies in a shard and in the view: "/model/w".
inline std::string object_path(const std::string& entry) { return "/" + entry; }

/// A file of a checkpoint, as its writer knows it and the manifest lists it.
struct FileRecord {
  std::string name;
  std::uint64_t bytes = 0;
  std::string xxh3_128;
};

/// What the attribute "placement" says of a value; tensors have name_of(Placement).
inline constexpr std::string_view value_placement = "value";

}  // namespace trainrt::checkpoint
