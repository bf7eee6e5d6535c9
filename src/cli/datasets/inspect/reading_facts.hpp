#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "cli/datasets/opened_data.hpp"

namespace trainrt::cli::datasets {

/// How a run would read a dataset.
struct ReadingFacts {
  std::string format;
  std::uint64_t samples = 0, files = 0, file_bytes = 0;
  std::uint64_t ranks = 1;
  std::uint64_t samples_a_rank = 0;  ///< in an epoch, with what fills up the last round
  std::uint64_t sample_bytes = 0;    ///< about, in memory
  std::uint64_t memory = 0;          ///< the key
  std::uint64_t available = 0;       ///< bytes of memory that are free here
  bool is_kept = false;              ///< all values are kept in `memory`, once a node
  bool has_files = true;
  data::Reading reading = data::Reading::by_field;  ///< of the file that reads most for a sample
  std::uint64_t together = 1;                       ///< neighbours that are read together
  std::uint64_t fields = 1;
  std::uint64_t block = 0;   ///< the key
  bool is_shuffled = false;  ///< the key
};

ReadingFacts reading_facts(const OpenedData& opened, std::uint64_t ranks);

/// "by chunks of 1000 samples": what is read for one sample.
std::string unit_in_words(const ReadingFacts& facts);

/// What would make reading faster, by rules; a sentence each. Pure.
std::vector<std::string> advice_for(const ReadingFacts& facts);

}  // namespace trainrt::cli::datasets
