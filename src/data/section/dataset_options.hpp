#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/options.hpp"
#include "data/bytes/data_file.hpp"

namespace trainrt::data {

/// Returns the specifications of the keys that every [data.NAME] has. Each format has further keys.
const std::vector<OptionSpec>& common_options();

/// Returns whether the samples of a [data.NAME] with these keys are divided among the ranks. If not, each rank reads all
/// samples and has its own position in them.
bool is_split(const Options& options);

/// Returns whether `text`, the value of the key `key` in a section [data.NAME], names files: the key has paths as values,
/// such as `source`, or the value is @FILE.
bool names_files(const std::string& key, const std::string& text);

/// Returns the files that a section reads in addition to the files of its samples. These are the @FILE values of
/// `subset`, `preprocess` and keys that make samples, in the order of the keys. Throws the errors of list_data_files().
std::vector<DataFile> referenced_files(const Options& options);

/// A key of [data.NAME] that earlier versions of trainrt had.
struct RemovedKey {
  std::string_view key;
  std::string_view advice;  ///< what to use instead: sentences without a final period
};
std::span<const RemovedKey> removed_keys();

/// Throws UsageError if `options`, the keys of the section `section` ("[data.train]"), contain a RemovedKey. The message
/// names the origin of the key, the key and the section, and contains RemovedKey::advice.
void require_not_removed(const std::string& section, const Options& options);

}  // namespace trainrt::data
