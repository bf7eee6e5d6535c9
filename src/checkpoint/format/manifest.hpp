#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/format/names.hpp"

namespace trainrt::checkpoint {

/// Metadata of a checkpoint: everything that its manifest contains except the lists of files.
struct Meta {
  std::int64_t number = 0;                ///< NNNNNN of checkpoint_NNNNNN
  std::int64_t iteration = 0;             ///< number of calls of report() before the checkpoint
  std::int64_t step = 0;                  ///< number of training steps before the checkpoint
  int ranks = 0;                          ///< number of ranks that wrote the checkpoint
  int attempt = 0;                        ///< attempt of the run that wrote the checkpoint; 0: written by a CheckpointStore
  std::string created;                    ///< time of the commit in UTC, "2026-11-21T01:02:03Z"
  std::map<std::string, double> metrics;  ///< numeric metrics of the last report, including NaN
  std::string metadata = "{}";            ///< JSON object from the user
  std::string bits;                       ///< JSON object with conditions that affect the bits of results; "": unknown
  bool at_stop = false;                   ///< the only reason for the save was that the run stopped
  bool has_directory = false;  ///< the folder files/ contains files from directories that were passed to report()
  std::string validation;      ///< JSON object with the parameters of a requested validation; "": no validation requested
  bool awaits_validation = false;  ///< the requested validation is not done; set by with_validation(), not stored
  /// Duration of the current iteration, from the last report() to the save of the checkpoint, in seconds. The time
  /// between attempts of the run does not count.
  double iteration_s = 0;
};

/// Byte range and checksum of the index that one rank wrote into a shard file (index.hpp).
struct PartRecord {
  int rank = 0;
  std::uint64_t at = 0;     ///< offset of the index in the file, in bytes
  std::uint64_t bytes = 0;  ///< size of the index, including the blanks at its end
  std::string digest;       ///< XXH3-128 of the index, 32 hexadecimal digits
};

/// The manifest's entry for a shard file. A shard file is an HDF5 file, followed by one index per rank that wrote into the
/// file, without gaps.
struct ShardRecord {
  std::string name;
  std::uint64_t bytes = 0;
  std::vector<PartRecord> parts;  ///< one index per rank that wrote into the file, sorted by offset

  /// Returns the size of the HDF5 file, which is the offset of the first index.
  std::uint64_t hdf5_bytes() const { return parts.front().at; }
};

/// The manifest's entry for a file of the user, which is stored below the folder files/ of the checkpoint.
struct FileRecord {
  std::string name;  ///< path relative to the checkpoint directory, "files/vocabulary.txt"
  std::uint64_t bytes = 0;
  std::string digest;  ///< digest_of_blocks() (index.hpp) of the file, divided into blocks of block_bytes bytes
  int rank = -1;       ///< rank that the file belongs to; -1: the file belongs to all ranks
};

/// The contents of manifest.json, which describes all files of a checkpoint.
struct Manifest {
  Meta meta;
  std::vector<ShardRecord> shards;
  std::vector<FileRecord> files;
};

/// Returns the text of manifest.json. The text ends with a digest of all text before the digest, so that every flipped bit
/// is detected. NaN metrics are written as null.
std::string to_text(const Manifest& manifest);

/// Parses the text of a manifest.json. Throws Error naming `path` if the text is invalid:
/// - its digest or its version does not match
/// - keys are missing or unknown, or values have the wrong type
/// - the indices of a shard file have gaps or overlap
/// - a file name is not a path below files/
Manifest manifest_from(const std::string& text, const std::string& path);

/// Reads and parses manifest.json of a checkpoint directory. Throws Error if the file is missing or damaged.
Manifest read_manifest(const std::string& checkpoint_dir);

/// Checks the metadata that the user passed for a checkpoint. Throws UsageError if `json` is not a JSON object, or has more
/// nested levels than a manifest can contain.
void check_metadata(std::string_view json);

/// Merges two JSON objects with metadata of the user. If both have a key, the result has the value of `over`.
std::string merged_metadata(const std::string& base, const std::string& over);

}  // namespace trainrt::checkpoint
