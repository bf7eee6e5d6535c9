#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// Names and versions of the files in a checkpoint directory:
//   manifest.json   lists the files of the checkpoint with their digests, and ends with a digest of itself
//   shard-00000.h5  tensors and values: an HDF5 file (hdf5_schemas/shard.json), followed by one index (index.hpp) per rank
//                   that wrote into the file. An index has the offsets of the rank's slabs (rectangular parts of tensors)
//                   and the XXH3-128 digest of every block that the rank wrote.
//   state.h5        the combined view (hdf5_schemas/state.json): links to all tensors and values in the shards, followed by
//                   a digest of the file
//   files/          files of the user; files/.other_ranks/RANK/ has files that differ from a lower rank's file of the
//   same name
//   validation.json the result of a validation after the commit, if the manifest requests a validation (validation.hpp)
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
/// Folder below files/ with files that differ from the file of the same name of a lower rank: ".other_ranks/1/model.pt" is
/// the file "model.pt" of rank 1.
inline const std::string other_ranks_folder = ".other_ranks";

/// Maximum size in bytes of a block, the unit in which the files of a checkpoint are written, read and verified.
inline constexpr std::size_t block_bytes = std::size_t{4} << 20;

/// Maximum size in bytes of one rank's index in a shard file. A limit is necessary because a load reads each index into
/// memory; this one is large enough for a few million tensors per rank.
inline constexpr std::uint64_t max_index_bytes = std::uint64_t{512} << 20;

/// Returns the name of the directory of checkpoint `number`: "checkpoint_000012".
std::string directory_name(std::int64_t number);

/// Returns the number NNNNNN of the directory name "checkpoint_NNNNNN"; nullopt for any other name.
std::optional<std::int64_t> number_of(const std::string& directory_name);

/// Returns the parent of a checkpoint directory, which is the run directory; "." if the path has no parent.
std::string run_of(const std::string& checkpoint_dir);

/// Returns the name of shard file number `file`: "shard-00000.h5".
std::string shard_name(int file);

/// Returns the HDF5 path of a tensor or value in the combined view (state.h5): "/model/w". Values, and tensors that are
/// stored as a single slab, have the same path in their shard file.
inline std::string object_path(const std::string& entry) { return "/" + entry; }
/// Returns the HDF5 path in a shard file of slab `number` of a tensor that is stored as several slabs (rectangular parts):
/// "/trainrt/slabs/model/w/3".
std::string slab_path(const std::string& entry, std::size_t number);

/// Size in bytes of the text that view_seal() returns.
inline constexpr std::size_t view_seal_bytes = 17 + 32 + 1;
/// Returns the text at the end of state.h5, "trainrt xxh3_128 DIGEST\n". `digest`: digest of all bytes of state.h5 before
/// that text.
std::string view_seal(std::string_view digest);

/// Returns whether `file`, a path relative to the checkpoint directory, is in the folder files/.other_ranks/.
inline bool is_of_other_rank(const std::string& file) {
  return file.starts_with(files_folder + "/" + other_ranks_folder + "/");
}

/// Value of the HDF5 attribute "placement" for values. For tensors, the attribute has the value name_of(Placement).
inline constexpr std::string_view value_placement = "value";

}  // namespace trainrt::checkpoint
