#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/format/names.hpp"

namespace trainrt::checkpoint {

/// The properties of a checkpoint that its manifest records, except the files.
struct Meta {
  std::int64_t number = 0;                ///< NNNNNN of checkpoint_NNNNNN
  std::int64_t iteration = 0;             ///< number of reports before it
  std::int64_t step = 0;                  ///< number of steps before it
  int ranks = 0;                          ///< number of ranks that wrote it
  int attempt = 0;                        ///< number of the attempt; 0 if a CheckpointStore wrote it
  std::string created;                    ///< UTC, "2026-11-21T01:02:03Z"
  std::map<std::string, double> metrics;  ///< numbers of the last report, including NaN
  std::string metadata = "{}";            ///< JSON object of the user
  bool at_stop = false;                   ///< saved only because the run stopped
  bool has_directory = false;             ///< files/ contains files from directories passed to report()
  std::string validation;                 ///< JSON object with the parameters of a requested validation; "" if none
  bool awaits_validation = false;         ///< its validation is not done; set by with_validation(), not stored
  double iteration_s = 0;                 ///< seconds spent in the current iteration until the save, over all attempts
};

/// The position of a rank's index in a shard file, and its checksum.
struct PartRecord {
  int rank = 0;
  std::uint64_t at = 0;     ///< position in the file, bytes
  std::uint64_t bytes = 0;  ///< including the blanks at its end
  std::string digest;       ///< XXH3-128 of these bytes, 32 hexadecimal digits
};

/// A shard file: an HDF5 file up to the first index, then the indices, without gaps, to the end.
struct ShardRecord {
  std::string name;
  std::uint64_t bytes = 0;
  std::vector<PartRecord> parts;  ///< one per rank that wrote into the file, sorted by position

  std::uint64_t hdf5_bytes() const { return parts.front().at; }
};

/// A file of the user below files/.
struct FileRecord {
  std::string name;  ///< path in the checkpoint directory, "files/vocabulary.txt"
  std::uint64_t bytes = 0;
  std::string digest;  ///< digest_of_blocks() (index.hpp) of its blocks of block_bytes
  int rank = -1;       ///< rank that the file belongs to; -1: all ranks
};

/// The contents of manifest.json.

struct Manifest {
  Meta meta;
  std::vector<ShardRecord> shards;
  std::vector<FileRecord> files;
};

/// Returns the manifest as JSON. It ends with a digest of all text before, so that every flipped bit is detected. NaN
/// metrics are written as null.
std::string to_text(const Manifest& manifest);

/// Parses the text of to_text(). Throws Error naming `path` for anything else: wrong types, missing or unknown keys,
/// another digest or version, gaps between parts, and file names that are absolute or leave the directory.
Manifest manifest_from(const std::string& text, const std::string& path);

/// Reads and parses the manifest of a checkpoint directory. Throws Error if it is missing or damaged.
Manifest read_manifest(const std::string& checkpoint_dir);

/// Throws UsageError if `json`, metadata from the user, is not a JSON object or is nested too deeply for a manifest.
void check_metadata(std::string_view json);

/// Returns a JSON object with the keys of two metadata objects. For a key in both, the value of `over` is used.
std::string merged_metadata(const std::string& base, const std::string& over);

}  // namespace trainrt::checkpoint
