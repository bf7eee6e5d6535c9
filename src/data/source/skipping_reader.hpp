#pragma once
#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/options.hpp"
#include "data/source/source.hpp"

namespace trainrt::data {

/// Returns whether samples that cannot be read are skipped: the key `on_error` of a [data.NAME] is `skip`.
bool skips_errors(const Options& options);

/// Reads samples, and skips damaged ones. Thread-safe.
class SkippingReader {
 public:
  explicit SkippingReader(std::string dataset) : dataset_(std::move(dataset)) {}

  /// Reads samples, and removes from `samples` those that cannot be read. Counts the removed samples, and logs the first
  /// ten with the reason. Throws io::StorageError if the storage is unavailable, and Error if no sample can be read.
  void read(const Source& source, std::vector<std::uint64_t>& samples, std::span<Column> columns);
  /// Like read(), but if no sample can be read, makes `samples` and `columns` empty instead of throwing Error. Used to scan
  /// the complete dataset: the batches of a scan depend on the number of ranks and threads, so its result must not depend
  /// on whether all samples of one batch are damaged.
  void read_if_any(const Source& source, std::vector<std::uint64_t>& samples, std::span<Column> columns);
  std::uint64_t skipped() const { return skipped_; }  ///< number of samples skipped so far

 private:
  std::string read_good(const Source& source, std::vector<std::uint64_t>& samples, std::span<Column> columns);
  void count_skipped(std::uint64_t sample, const std::string& reason);

  std::string dataset_;
  std::atomic<std::uint64_t> skipped_ = 0;
};

}  // namespace trainrt::data
