#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace trainrt::checkpoint {

/// NNNNNN of "checkpoint_NNNNNN", nullopt for any other name.
std::optional<std::int64_t> index_of(const std::string& directory_name);

/// The directory that a checkpoint's directory lies in: of its run.
std::string run_of(const std::string& checkpoint_dir);

/// Indices of all checkpoint directories of a run, whole or damaged, ascending; none if there is no such run.
std::vector<std::int64_t> indices_in(const std::string& run_dir);

}  // namespace trainrt::checkpoint
