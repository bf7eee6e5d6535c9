#pragma once
#include <span>
#include <string>
#include <string_view>

#include "core/options.hpp"

namespace trainrt::data {

/// A key of `[data.NAME]` that earlier versions of trainrt had.
struct RemovedKey {
  std::string_view key;
  std::string_view advice;  ///< what to use instead: sentences without a final period
};

/// Returns all keys of `[data.NAME]` that were removed.
std::span<const RemovedKey> removed_keys();

/// Throws UsageError if `options`, the keys of the section `section` ("[data.train]"), contain a key that was removed. The
/// message names the origin of the first such key, the key, the section, and the advice of its row.
void require_not_removed(const std::string& section, const Options& options);

}  // namespace trainrt::data
