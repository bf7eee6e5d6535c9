#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/options.hpp"
#include "data/source/format.hpp"

namespace trainrt::data {

/// The files of a dataset and their contents. One rank finds them and sends them to all ranks.
struct Listing {
  using Entry = ListedFile;
  std::string format;
  std::vector<Entry> entries;  ///< files of the dataset, at least one; the first has the dataset's fields
  std::vector<std::size_t> files_of_sources = {};  ///< with the key `weights`: number of entries of each mixed source
  std::string preprocessor = {};                   ///< preprocessor of the key `preprocess`, as JSON; "": no preprocessor
  std::string rows = {};                           ///< samples that `subset` chooses, as text of RowRanges; "": all
};

const Format& format_of(const Listing& listing);
std::uint64_t samples_of(const Listing& listing);      ///< number of samples in all files
std::uint64_t bytes_of_files(const Listing& listing);  ///< total size of all files, including companions such as labels

/// Returns a summary of the listing: "ok, 60000 samples in 1 file (idx): images u8[28, 28], labels u8[]".
std::string described(const Listing& listing);
/// Returns the names, types and shapes of fields as text: "images u8[28, 28], labels u8[]".
std::string in_words(const std::vector<Dataset::Field>& fields);

/// Encodes a listing as bytes (CBOR, RFC 8949), to send it to other ranks. listing_of() decodes the bytes.
std::string bytes_of(const Listing& listing);
Listing listing_of(std::string_view bytes);

// In all functions below, `options` are the keys of a section [data.NAME] as in the user's config, without the section's
// name. For unknown keys, invalid values and unsuitable files, the functions throw UsageError, which names the section.

/// Checks the keys of a section without reading a file.
void check_options(const std::string& name, const Options& options);

/// Finds the files of a dataset and their contents. One rank calls list_dataset() for all ranks. Logs its progress once a
/// minute.
Listing list_dataset(const std::string& name, const Options& options);

/// Calls list_dataset() for all datasets of one run. If [data.train] is among `sections` and has class names, the other
/// datasets of image folders get the same label for a class as [data.train], unless they have the key `classes`. In this
/// case, throws UsageError if such a dataset has a class that [data.train] lacks.
std::map<std::string, Listing> list_datasets(const std::map<std::string, Options>& sections);

/// Copies [data.train] from `all` to `chosen` if a dataset in `chosen` must have the same labels of classes as
/// [data.train].
void add_train_of_classes(std::map<std::string, Options>& chosen, const std::map<std::string, Options>& all);

}  // namespace trainrt::data
