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
  bool is_cached = false;        ///< units are kept in memory once they were read
  bool are_transformed = false;  ///< the transforms of the section are applied already (materialize = true)
  std::uint64_t left = 0;        ///< bytes of this rank's part of `memory` for batches that are read ahead
};

/// Returns the fields after the transforms that `options` request. Throws UsageError if a transform cannot be applied.
std::vector<Dataset::Field> transformed_fields(const Options& options, const Listing& listing);

/// Returns the layout of the values in memory, or nullopt if they are not to be kept in memory, for one of these reasons:
/// - they have no fixed size
/// - they need more than `memory`
/// - damaged samples are to be skipped
/// - they are generated and not materialized
///
/// Precondition: `options` have been checked.
std::optional<UnitLayout> layout_in_memory(const Options& options, const Listing& listing);

/// Throws UsageError if `materialize` is set and the values cannot be kept in memory.
void require_materializable(const Options& options, const Listing& listing);

/// Opens the values of the files. Each file is opened now or when it is first read. `verification` verifies each file
/// before it is opened. `name` (of the dataset) and `rank` (of this process) are for messages.
DatasetValues open_values(const std::string& name, int rank, const Options& options, const Listing& listing,
                          const NodeShare& share, const std::shared_ptr<FileVerification>& verification);

}  // namespace trainrt::data
