#pragma once
#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/source/source.hpp"

namespace trainrt::data {

/// How samples are read that may be damaged (on_error = skip). Any thread may read.
class SkippingReader {
 public:
  explicit SkippingReader(std::string dataset) : dataset_(std::move(dataset)) {}

  /// Reads the samples, and takes those out of `samples` that cannot be read: each is counted, and the first of them are
  /// told of with the reason. Storage that is away skips nothing: it is an error, as ever. So it is if none of the samples
  /// can be read.
  void read(const Source& source, std::vector<std::uint64_t>& samples, std::span<Column> columns);
  /// The same, but none of them is no error: `samples` and the columns are empty then. For who looks at all samples in
  /// parts that hang on the number of ranks and threads.
  void read_if_any(const Source& source, std::vector<std::uint64_t>& samples, std::span<Column> columns);
  std::uint64_t skipped() const { return skipped_; }

 private:
  std::string read_good(const Source& source, std::vector<std::uint64_t>& samples, std::span<Column> columns);
  void note(std::uint64_t sample, const std::string& why);

  std::string dataset_;
  std::atomic<std::uint64_t> skipped_ = 0;
};

}  // namespace trainrt::data
