#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "cli/datasets/inspect/field_statistics.hpp"
#include "cli/datasets/opened_data.hpp"
#include "cli/datasets/inspect/reading_facts.hpp"

namespace trainrt::cli::datasets {

/// What `trainrt data inspect` shows, in either form.
struct Inspection {
  const OpenedData& opened;
  std::vector<FieldStatistics> statistics;  ///< a field each, of the first `looked_at` samples
  std::uint64_t looked_at = 0;
  ReadSamples first;  ///< samples that are shown
  std::uint64_t shown = 0, pictures = 0;
  ReadingFacts facts;
};

/// One pass over the first `samples`, by so many threads. The same figures whatever their number.
std::vector<FieldStatistics> gather(const OpenedData& opened, std::uint64_t samples, int threads, bool quiet);

/// For programs: one JSON object.
std::string json_text(const Inspection& inspection);

/// For people. `width`: columns of the terminal; `colours`: pictures are drawn with them.
std::string page_text(const Inspection& inspection, std::size_t width, bool colours);

}  // namespace trainrt::cli::datasets
