#pragma once
#include <cstdint>
#include <limits>
#include <string>

#include "core/options.hpp"

namespace trainrt::data {

/// Returns the specification of the key `max_expanded_bytes` of every [data.NAME].
OptionSpec max_expanded_option();

/// The limit of the memory that one file may require in addition to its own size. This memory includes decompressed
/// contents, decoded chunks and row groups, and values that the header declares but the file does not store. By default,
/// the limit is 1 GiB or 16 times the size of the file, whichever is larger.
class ExpansionLimit {
 public:
  /// `file_bytes` is the total size of the file and of the files to which it refers.
  ExpansionLimit(const Options& options, std::uint64_t file_bytes);
  /// Throws UsageError "SUBJECT expands to N bytes ..." if `bytes` exceeds the limit. `subject` names the file and its
  /// member.
  void require(std::uint64_t bytes, const std::string& subject) const;
  std::uint64_t bytes() const { return max_bytes_; }

 private:
  std::uint64_t max_bytes_;
  bool is_default_;
};

}  // namespace trainrt::data
