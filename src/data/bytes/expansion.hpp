#pragma once
#include <cstdint>
#include <limits>
#include <string>

#include "core/options.hpp"

namespace trainrt::data {

/// The key `max_expanded_bytes` of every [data.NAME].
OptionSpec max_expanded_option();

/// Limits the memory that a file can claim beyond its own size: unpacked contents, decoded chunks and row groups, and
/// values that its header declares but the file does not store. By default the larger of 1 GiB and 16 times the file.
class ExpansionLimit {
 public:
  /// `file_bytes`: size of the file, together with the files that it names.
  ExpansionLimit(const Options& options, std::uint64_t file_bytes);
  /// Throws UsageError that begins with `what` (the file and its member) if `bytes` exceeds the limit. `what` completes
  /// "... expands to N bytes".
  void require(std::uint64_t bytes, const std::string& what) const;
  std::uint64_t bytes() const { return max_bytes_; }
  /// "max_expanded_bytes = 1073741824, by default the larger of 1 GiB and 16 times the file".
  std::string in_words() const;

 private:
  std::uint64_t max_bytes_;
  bool is_default_;
};

}  // namespace trainrt::data
