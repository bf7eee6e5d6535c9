#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// Names and versions of the files in a checkpoint directory:
//   manifest.json   lists the files of the checkpoint with their digests, and ends with a digest of itself
//   shard-00000.h5  an HDF5 file (hdf5_schemas/shard.json), followed by one index per rank that wrote into it (index.hpp):
//                   the positions of its slabs, and the XXH3-128 of every block that it wrote
//   state.h5        the combined view (hdf5_schemas/state.json), derived from the shards, followed by its digest
//   files/          files of the user
//   validation.json the result of a validation after the commit, if the manifest requests one (validation.hpp)
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

/// Maximum size in bytes of a block, the unit that is written, read and verified.
inline constexpr std::size_t block_bytes = std::size_t{4} << 20;

/// Maximum size in bytes of one rank's index, which is read into memory: a few million tensors per rank.
inline constexpr std::uint64_t max_index_bytes = std::uint64_t{512} << 20;

std::string directory_name(std::int64_t number);  ///< "checkpoint_000012"

/// Returns the number NNNNNN of "checkpoint_NNNNNN", nullopt for any other name.
std::optional<std::int64_t> number_of(const std::string& directory_name);

/// Returns the parent of a checkpoint directory, which is the run directory; "." if the path has no parent.
std::string run_of(const std::string& checkpoint_dir);

std::string shard_name(int file);  ///< "shard-00000.h5"

/// Returns the HDF5 path of an undivided entry in its shard, and of every entry in the combined view: "/model/w".
inline std::string object_path(const std::string& entry) { return "/" + entry; }
/// Returns the HDF5 path in a shard of the slab with that number: "/trainrt/slabs/model/w/3".
std::string slab_path(const std::string& entry, std::size_t number);

/// Size of the end of state.h5, which view_seal() returns.
inline constexpr std::size_t view_seal_bytes = 17 + 32 + 1;
/// Returns "trainrt xxh3_128 DIGEST\n", where `digest` is that of all bytes of state.h5 before.
std::string view_seal(std::string_view digest);

/// Value of the attribute "placement" for values; tensors have name_of(Placement).
inline constexpr std::string_view value_placement = "value";

}  // namespace trainrt::checkpoint
