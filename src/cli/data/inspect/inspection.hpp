#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "cli/data/inspect/field_statistics.hpp"
#include "cli/data/inspect/reading_facts.hpp"
#include "cli/data/opened_data.hpp"

namespace trainrt::cli::datasets {

/// The data that `trainrt data inspect` shows.
struct Inspection {
  const OpenedData& opened;
  std::vector<FieldStatistics> statistics;  ///< statistics of each field, of the first `scanned` samples
  std::uint64_t scanned = 0;
  ReadSamples first;                      ///< the first samples
  std::uint64_t shown = 0, previews = 0;  ///< numbers of samples of `first` that are shown as values, and as images
  ReadingFacts facts;
};

/// Reads the first `samples` samples and returns statistics of each field. The result does not depend on `threads`.
std::vector<FieldStatistics> gather_statistics(const OpenedData& opened, std::uint64_t samples, int threads, bool quiet);

/// Returns the inspection as one JSON object.
std::string json_text(const Inspection& inspection);

/// Returns the inspection as text. `width`: columns of the terminal; `colors`: draw images with colors.
std::string page_text(const Inspection& inspection, std::size_t width, bool colors);

}  // namespace trainrt::cli::datasets
