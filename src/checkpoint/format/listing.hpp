#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/format/manifest.hpp"

namespace trainrt::checkpoint {

/// Numbers of all checkpoint directories of a run, whole or damaged, ascending; none if there is no such run.
std::vector<std::int64_t> numbers_in(const std::string& run_dir);

/// Metas of the committed checkpoints of a run, oldest first, with what their validations have found. Damaged manifests are
/// left out. Not collective.
std::vector<Meta> list(const std::string& run_dir);

/// The newest of them; nullopt if there is none. Reads no older manifest unless the newer ones are damaged. Not collective.
std::optional<Meta> newest(const std::string& run_dir);

/// Highest NNNNNN of any checkpoint_NNNNNN in the run, damaged ones too; -1 if there is none.
std::int64_t highest_number(const std::string& run_dir);

/// The number of the checkpoint that follows `highest`. UsageError if that is beyond all that a run can reach: then
/// somebody else has made a directory of such a name in `run_dir`.
std::int64_t number_after(std::int64_t highest, const std::string& run_dir);

}  // namespace trainrt::checkpoint
