#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "cli/datasets/convert/data_writer.hpp"
#include "cli/datasets/convert/row_selection.hpp"
#include "data/order/batch_plan.hpp"
#include "data/order/epoch_order.hpp"

namespace trainrt::cli::datasets {

/// The order in which samples are written, cut into parts that are read on their own.
class RowOrder {
 public:
  struct Shuffling {
    bool wanted = false;
    std::uint64_t seed = 0;    ///< of the order
    std::uint64_t memory = 0;  ///< bytes that may be in memory
    data::Blocks blocks = {};  ///< samples 0: chosen here, if what there is does not fit into memory
  };
  /// `sample_bytes`: about; `at_once`: samples of a part, if it is up to us.
  RowOrder(SharedSource source, std::vector<std::size_t> fields, std::uint64_t sample_bytes, std::uint64_t at_once,
           const Shuffling& shuffling);

  std::uint64_t rows() const { return source_->size(); }
  std::uint64_t parts() const { return parts_.size(); }
  std::uint64_t at_once() const { return at_once_; }
  int most_threads() const { return most_threads_; }
  /// "shuffled in blocks of 128 samples, 256 of them at a time": for messages.
  std::string in_words() const;
  /// Reads all into memory if it is shuffled as a whole. Before the first read().
  void hold(int threads, bool quiet);
  /// In any thread.
  RowBlock read(std::uint64_t part) const;

 private:
  void cut_windows(const Shuffling& shuffling, std::uint64_t sample_bytes);
  std::vector<data::Column> read_sorted(std::vector<std::uint64_t> numbers) const;
  std::vector<data::Column> columns() const;

  SharedSource source_;
  std::vector<std::size_t> fields_;
  std::uint64_t at_once_;
  data::EpochOrder order_;
  bool is_shuffled_ = false, is_held_ = false;
  data::Blocks blocks_;
  std::vector<data::Slice> parts_;
  int most_threads_ = 64;
  std::vector<std::vector<data::Column>> held_;  ///< all of it, at_once_ samples each
};

}  // namespace trainrt::cli::datasets
