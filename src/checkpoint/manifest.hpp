#pragma once
#include <string>
#include <vector>

#include "checkpoint/checkpoint.hpp"
#include "checkpoint/format.hpp"

namespace trainrt::checkpoint {

struct Manifest {
  Meta meta;
  std::vector<FileRecord> files;  ///< shards and state.h5
};

/// JSON that ends with a digest of all text before it, so that every flipped bit of a manifest is found. NaN metrics are
/// null.
std::string to_text(const Manifest& manifest);

/// Reads what to_text() wrote, and nothing else: each wrong type, missing or unknown key, other digest or version, and each
/// file name that is absolute or leaves the directory throws Error naming `path`.
Manifest manifest_from(const std::string& text, const std::string& path);

/// The manifest of a checkpoint directory; Error where there is none that can be trusted.
Manifest read_manifest(const std::string& checkpoint_dir);

}  // namespace trainrt::checkpoint
