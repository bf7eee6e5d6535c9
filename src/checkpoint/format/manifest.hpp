#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/format/names.hpp"

namespace trainrt::checkpoint {

/// What a manifest says of a checkpoint besides its files.
struct Meta {
  std::int64_t number = 0;                ///< NNNNNN of checkpoint_NNNNNN
  std::int64_t iteration = 0;             ///< reports that it includes
  std::int64_t step = 0;                  ///< steps that it includes
  int ranks = 0;                          ///< that wrote it
  int attempt = 0;                        ///< 0: a CheckpointStore's, which counts neither reports nor steps
  std::string created;                    ///< UTC
  std::map<std::string, double> metrics;  ///< numbers of the last report (NaN if it was NaN)
  std::string metadata = "{}";            ///< a JSON object of the user's
  bool at_stop = false;                   ///< taken only because the run stopped there: a quiet run has none
  bool has_directory = false;             ///< files/ has what report() was given a directory of
  std::string validation;                 ///< a JSON object: it is to be validated, and how; "" if it is not
  bool awaits_validation = false;         ///< that has not ended (with_validation(); no part of the manifest)
  double iteration_s = 0;                 ///< time that the iteration under way has taken up to here, in all attempts
};

/// Where a rank's index lies in a shard file, and its XXH3-128 over all those bytes.
struct PartRecord {
  int rank = 0;
  std::uint64_t at = 0;
  std::uint64_t bytes = 0;
  std::string digest;
};

/// A shard file. Its HDF5 part ends where the first index begins; the indices follow each other to the end.
struct ShardRecord {
  std::string name;
  std::uint64_t bytes = 0;
  std::vector<PartRecord> parts;  ///< in the order in which they lie in the file

  std::uint64_t hdf5_bytes() const { return parts.front().at; }
};

/// One of the user's files, below files/. The digest is digest_of_blocks() (index.hpp) of its blocks of names.hpp's
/// block_bytes.
struct FileRecord {
  std::string name;  ///< from the checkpoint's directory: "files/vocabulary.txt"
  std::uint64_t bytes = 0;
  std::string digest;
  int rank = -1;  ///< whose it is; -1: all ranks'
};

struct Manifest {
  Meta meta;
  std::vector<ShardRecord> shards;
  std::vector<FileRecord> files;
};

/// JSON that ends with a digest of all text before it, so that every flipped bit of a manifest is found. NaN metrics are
/// null.
std::string to_text(const Manifest& manifest);

/// Reads what to_text() wrote, and nothing else: each wrong type, missing or unknown key, other digest or version, parts
/// that leave a gap, and each file name that is absolute or leaves the directory throws Error naming `path`.
Manifest manifest_from(const std::string& text, const std::string& path);

/// The manifest of a checkpoint directory; Error if there is none that can be trusted.
Manifest read_manifest(const std::string& checkpoint_dir);

/// Throws UsageError if a text of the user's, which a manifest is to carry as its metadata, is no JSON object, or
/// is nested deeper than a manifest may be.
void check_metadata(std::string_view json);

/// Two texts that check_metadata() lets through as one: the keys of both, and of a key that both have `over`'s value.
std::string merged_metadata(const std::string& base, const std::string& over);

}  // namespace trainrt::checkpoint
