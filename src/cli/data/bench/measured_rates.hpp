#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/data/opened_data.hpp"
#include "data/bytes/stage_clock.hpp"

namespace trainrt::cli::datasets {

/// Measured speed of reading a dataset in one way.
struct Rate {
  std::string what;  ///< "bytes at random by pread", "samples in order", "batches shuffled"
  int threads = 1;
  double seconds = 0;
  std::uint64_t samples = 0;                           ///< number of samples; 0 if bytes of files were read
  std::uint64_t bytes = 0;                             ///< size of the bytes of files, or of the values
  std::array<double, data::stage_count> stage_s = {};  ///< seconds per stage, summed over threads

  double samples_per_second() const { return static_cast<double>(samples) / seconds; }
  double bytes_per_second() const { return static_cast<double>(bytes) / seconds; }
};

/// Measures for about `seconds` how fast a read method reads the dataset's largest file. If `at_random` is true, each
/// call reads 64 pieces of `piece` bytes at random offsets. Otherwise, each call reads the next piece of 1 MiB. First
/// drops the file from the page cache; ends early if as many bytes as the file has were read.
Rate measure_storage(const OpenedData& opened, const data::ReadMethod& method, bool at_random, std::uint64_t piece,
                     int threads, double seconds);

/// Measures for about `seconds` how fast `threads` threads read all fields of the samples, in the order of the files.
Rate measure_samples(const OpenedData& opened, int threads, double seconds);

/// Measures for about `seconds` how fast a train function gets batches. Uses the dataset's keys, except that `shuffled`
/// and `threads` replace `shuffle` and `threads`.
Rate measure_batches(const OpenedData& opened, std::size_t batch_size, bool shuffled, int threads, double seconds);

/// Returns advice that follows from the rates, one sentence per item. Pure function.
std::vector<std::string> advice_for(const std::vector<Rate>& rates);

}  // namespace trainrt::cli::datasets
