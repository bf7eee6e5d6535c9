#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "cli/data/opened_data.hpp"

namespace trainrt::cli::datasets {

/// Facts about how a run would read a dataset.
struct ReadingFacts {
  std::uint64_t samples = 0, files = 0, file_bytes = 0;
  std::uint64_t ranks = 1;
  std::uint64_t samples_per_rank = 0;  ///< per epoch; some samples are repeated so that all ranks have the same number
  std::uint64_t sample_bytes = 0;      ///< approximate size of a sample in memory
  std::uint64_t memory = 0;            ///< the key memory
  std::uint64_t available = 0;         ///< available memory of this machine, in bytes
  bool is_kept = false;                ///< all values fit into `memory`, once per node
  bool has_files = true;
  data::Reading reading = data::Reading::by_field;  ///< how much is read for a sample; the maximum of all files
  std::uint64_t together = 1;                       ///< number of samples that are read together
  std::uint64_t fields = 1;
  std::uint64_t block = 0;  ///< the key block
};

ReadingFacts reading_facts(const OpenedData& opened, std::uint64_t ranks);

/// Describes how a run reads a sample: "chunks of 1000 samples are read".
std::string unit_in_words(const ReadingFacts& facts);

/// Returns advice on how to read faster, one sentence per item. Pure function.
std::vector<std::string> advice_for(const ReadingFacts& facts);

}  // namespace trainrt::cli::datasets
