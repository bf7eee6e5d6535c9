#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/datasets/opened_data.hpp"
#include "data/bytes/stage_clock.hpp"

namespace trainrt::cli::datasets {

/// What was measured of one way to get at the samples.
struct Rate {
  std::string what;  ///< "read pread at random", "parse in order", "batches shuffled"
  int threads = 1;
  double seconds = 0;
  std::uint64_t samples = 0;                           ///< 0 if bytes are read, not samples
  std::uint64_t bytes = 0;                             ///< of files, or of values
  std::array<double, data::stage_count> stage_s = {};  ///< over the threads; all 0 if bytes are read

  double samples_a_second() const { return static_cast<double>(samples) / seconds; }
  double bytes_a_second() const { return static_cast<double>(bytes) / seconds; }
};

/// Bytes of the dataset's files by one way of reading, for about so many seconds: a MiB after the other, or pieces of
/// `piece` bytes anywhere, 64 of them a call. The page cache is asked to forget the files before.
Rate measure_storage(const OpenedData& opened, const data::ReadWay& way, bool at_random, std::uint64_t piece, int threads,
                     double seconds);

/// All fields of the samples in the order of the files, nothing kept in memory.
Rate measure_samples(const OpenedData& opened, int threads, double seconds);

/// Batches as a train function gets them, with the keys as they were given but `shuffle` and `threads`.
Rate measure_batches(const OpenedData& opened, std::size_t batch_size, bool shuffled, int threads, double seconds);

/// What the rates say to do; a sentence each. Pure.
std::vector<std::string> advice_for(const std::vector<Rate>& rates);

}  // namespace trainrt::cli::datasets
