#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// Names and versions of what lies in a checkpoint directory:
//   manifest.json   what belongs to the checkpoint, with digests; ends with its own
//   shard-00000.h5  an HDF5 file (hdf5_schemas/shard.json), and behind its end one index for each rank that wrote into it:
//                   where its slabs lie, and the XXH3-128 of every block that it wrote (index.hpp)
//   state.h5        the whole view (hdf5_schemas/state.json), derived from the shards; behind its end, its digest
//   files/          the user's own
//   validation.json what was found in the checkpoint after it was committed, if the manifest asks for that (validation.hpp)
namespace trainrt::checkpoint {

inline constexpr std::int64_t format_version = 2;
inline constexpr std::string_view shard_format = "trainrt shard";
inline constexpr std::string_view index_format = "trainrt index";
inline constexpr std::string_view view_format = "trainrt state";
inline constexpr std::string_view manifest_format = "trainrt checkpoint";
inline constexpr std::string_view validation_format = "trainrt validation";

inline const std::string manifest_name = "manifest.json";
inline const std::string view_name = "state.h5";
inline const std::string validation_name = "validation.json";
inline const std::string files_folder = "files";

/// Bytes that are written, read and checked at a time.
inline constexpr std::size_t block_bytes = std::size_t{4} << 20;

/// Of one rank's index, which is read whole. A few million tensors; a State with more on one rank is refused.
inline constexpr std::uint64_t most_index_bytes = std::uint64_t{512} << 20;

std::string directory_name(std::int64_t number);  ///< "checkpoint_000012"

/// NNNNNN of "checkpoint_NNNNNN", nullopt for any other name.
std::optional<std::int64_t> number_of(const std::string& directory_name);

/// The directory that a checkpoint's directory lies in: of its run.
std::string run_of(const std::string& checkpoint_dir);

std::string shard_name(int file);  ///< "shard-00000.h5"

/// Where an entry lies in a shard and in the view: "/model/w". One of several slabs lies in a shard at
/// "/trainrt/slabs/3/model/w": its number in the tensor's layout comes first, so that few groups are needed.
inline std::string object_path(const std::string& entry) { return "/" + entry; }
std::string slab_path(const std::string& entry, std::size_t number);

/// The last bytes of state.h5: "trainrt xxh3_128 DIGEST\n" over all bytes before.
inline constexpr std::size_t view_seal_bytes = 17 + 32 + 1;
std::string view_seal(std::string_view digest);

/// What the attribute "placement" says of a value; tensors have name_of(Placement).
inline constexpr std::string_view value_placement = "value";

}  // namespace trainrt::checkpoint
