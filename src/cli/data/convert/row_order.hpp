#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cli/data/convert/data_writer.hpp"
#include "data/order/batch_plan.hpp"
#include "data/order/epoch_order.hpp"

namespace trainrt::cli::datasets {

using SharedSource = std::shared_ptr<const data::Source>;

/// Splits the samples into two parts. The samples of each part keep their order. `share` is the fraction of the samples
/// in the first part, rounded to complete samples. The part of each sample is determined by a random permutation, which
/// depends on `seed`. Throws UsageError if a part would be empty.
std::array<SharedSource, 2> split_rows(const SharedSource& source, double share, std::uint64_t seed);

/// The order in which samples are written, cut into parts that are read independently.
class RowOrder {
 public:
  struct Shuffling {
    bool wanted = false;
    std::uint64_t seed = 0;    ///< seed of the order
    std::uint64_t memory = 0;  ///< maximum size of samples in memory, in bytes
    data::Blocks blocks = {};  ///< blocks of 0 samples: chosen automatically if the samples do not fit into memory
  };
  /// `fields`: numbers of the fields to read. `sample_bytes`: approximate size of a sample. `at_once`: number of samples of
  /// a part, unless samples are shuffled in blocks.
  RowOrder(SharedSource source, std::vector<std::size_t> fields, std::uint64_t sample_bytes, std::uint64_t at_once,
           const Shuffling& shuffling);

  std::uint64_t rows() const { return source_->size(); }
  std::uint64_t parts() const { return parts_.size(); }
  int max_threads() const { return max_threads_; }  ///< maximum number of threads that call read(); limits the memory
  /// Returns the order for messages: "shuffled in blocks of 128 samples, 256 of them at a time".
  std::string description() const;
  /// Reads all samples into memory if they are shuffled without blocks. Must be called before the first read().
  void hold(int threads, bool quiet);
  /// Reads the samples of part number `part`, from 0 to parts() - 1. Thread-safe.
  RowBlock read(std::uint64_t part) const;

 private:
  void cut_windows(const Shuffling& shuffling, std::uint64_t sample_bytes);
  std::vector<data::Column> read_sorted(const std::vector<std::uint64_t>& numbers) const;
  std::vector<data::Column> columns() const;

  SharedSource source_;
  std::vector<std::size_t> fields_;
  std::uint64_t at_once_;
  data::EpochOrder order_;
  bool is_shuffled_ = false, is_held_ = false;
  data::Blocks blocks_;
  std::vector<data::Slice> parts_;
  int max_threads_ = 64;
  std::vector<std::vector<data::Column>> held_;  ///< all samples if `is_held_`; each element has at_once_ samples
};

}  // namespace trainrt::cli::datasets
