#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/options.hpp"
#include "data/bytes/data_file.hpp"

namespace trainrt::data {

/// Returns the keys of every [data.NAME]; each format adds its own.
const std::vector<OptionSpec>& common_options();

/// Returns whether the samples of a [data.NAME] with these keys are divided among the ranks. Otherwise each rank has
/// all samples and its own position.
bool is_split(const Options& options);

/// Returns whether `text`, the value of the key `key` in a section [data.NAME], names files. This is the case for keys
/// of the type path, such as `source`, and for the value @FILE of other keys.
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

/// Throws UsageError if `options`, the keys of the section `section` ("[data.train]"), contain a key that was removed. The
/// message names the origin of the first such key, the key, the section, and the advice of its row.
void require_not_removed(const std::string& section, const Options& options);

}  // namespace trainrt::data
