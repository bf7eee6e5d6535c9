#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/options.hpp"
#include "data/node_memory/unit_layout.hpp"
#include "data/section/dataset_listing.hpp"
#include "data/section/file_verification.hpp"
#include "data/source/format.hpp"
#include "data/source/source.hpp"

namespace trainrt::data {

/// All samples of a dataset's files.
struct DatasetValues {
  std::shared_ptr<const Source> source;
  bool is_cached = false;        ///< whether values are kept in memory after they were read once
  bool are_transformed = false;  ///< whether `source` already applies the section's transforms (materialize = true)
  std::uint64_t left = 0;        ///< maximum number of bytes of batches that this rank reads ahead
};

/// Returns the fields as the transforms in `options` change them. Throws UsageError if a transform cannot be applied.
std::vector<Dataset::Field> transformed_fields(const Options& options, const Listing& listing);

/// Returns the layout of the values in memory. Returns nullopt if the values must not be kept in memory, for one of these
/// reasons:
/// - samples have no values
/// - the values need more than the key `memory` allows
/// - damaged samples are skipped (on_error = skip)
/// - the values are generated, and materialize = false
///
/// Precondition: `options` have been checked.
std::optional<UnitLayout> layout_in_memory(const Options& options, const Listing& listing);

/// Throws UsageError if materialize = true, but the values cannot be kept in memory.
void require_materializable(const Options& options, const Listing& listing);

/// Opens all samples of the listed files. A single file may be opened immediately, other files at their first read.
/// `verification` verifies each file before it is opened. `name` (of the dataset) and `rank` (of this process) are for
/// messages.
DatasetValues open_values(const std::string& name, int rank, const Options& options, const Listing& listing,
                          const NodeShare& share, const std::shared_ptr<FileVerification>& verification);

}  // namespace trainrt::data
