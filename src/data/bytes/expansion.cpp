#include "data/bytes/expansion.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <trainrt/error.hpp>

namespace trainrt::data {

namespace {

constexpr const char* key = "max_expanded_bytes";

std::uint64_t default_limit(std::uint64_t file_bytes) {
  constexpr std::uint64_t min_limit = std::uint64_t{1} << 30, ratio = 16;
  return std::max(min_limit, file_bytes > std::numeric_limits<std::uint64_t>::max() / ratio
                                 ? std::numeric_limits<std::uint64_t>::max()
                                 : file_bytes * ratio);
}

}  // namespace

OptionSpec max_expanded_option() {
  return {.key = key,
          .type = OptionType::bytes,
          .default_value = "",
          .help =
              "maximum memory for the expanded contents of one file: "
              "decompressed data, a decoded chunk or row group, and values that the file declares but does not store. "
              "Larger contents are an error. Default: the larger of 1 GiB and 16 times the file"};
}

ExpansionLimit::ExpansionLimit(const Options& options, std::uint64_t file_bytes)
    : max_bytes_(options.bytes(key)), is_default_(options.text(key).empty()) {
  if (is_default_) max_bytes_ = default_limit(file_bytes);
}

void ExpansionLimit::require(std::uint64_t bytes, const std::string& subject) const {
  if (bytes <= max_bytes_) return;
  throw UsageError(fmt::format(
      "{} expands to {} bytes, more than {} = {}{}. The file may be damaged, or made on purpose to exhaust memory. "
      "If you trust it, set {} = {}",
      subject, bytes, key, max_bytes_, is_default_ ? ", by default the larger of 1 GiB and 16 times the file" : "", key,
      bytes));
}

}  // namespace trainrt::data
