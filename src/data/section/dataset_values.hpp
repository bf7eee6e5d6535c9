#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/options.hpp"
#include "data/node_memory/node_share.hpp"
#include "data/node_memory/unit_layout.hpp"
#include "data/section/dataset_listing.hpp"
#include "data/section/file_verification.hpp"
#include "data/source/format.hpp"
#include "data/source/source.hpp"

namespace trainrt::data {

/// All samples of a dataset's files, and where their values are kept.
struct DatasetValues {
  std::shared_ptr<const Source> source;
  bool is_cached = false;        ///< in memory, unit by unit, as they are read
  bool are_transformed = false;  ///< as `materialize` wants it
  std::uint64_t left = 0;        ///< bytes of this rank's part of `memory` for batches that are read ahead
};

/// How the values would lie in memory; nothing if they have no fixed size, are made up rather than read (unless they are to
/// be kept with `materialize`), take more than `memory`, or may be damaged and skipped. `options` are checked.
std::optional<UnitLayout> layout_in_memory(const Format& format, const Options& options, const Listing& listing);

/// UsageError if `materialize` asks for what cannot be.
void require_materializable(const Options& options, const Listing& listing);

/// Opens the files, or does so when they are first read, after `verification` of each. `name` is the dataset's, `rank` this
/// one, for messages.
DatasetValues open_values(const std::string& name, int rank, const Format& format, const Options& options,
                          const Listing& listing, const NodeShare& share,
                          const std::shared_ptr<FileVerification>& verification);

}  // namespace trainrt::data
