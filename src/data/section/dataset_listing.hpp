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
  std::vector<std::size_t> files_of_sources = {};  ///< number of entries of each source that the key weights mixes
  std::string preprocessor = {};                   ///< JSON of the key preprocess; "": no preprocessor
  std::string rows = {};                           ///< chosen samples, as a text of RowRanges; "": all
};

const Format& format_of(const Listing& listing);
std::uint64_t samples_of(const Listing& listing);      ///< number of samples in all files
std::uint64_t bytes_of_files(const Listing& listing);  ///< total size of files, companions and referenced files

/// Returns a summary of the listing: "ok, 60000 samples in 1 file (idx): images u8[28, 28], labels u8[]".
std::string described(const Listing& listing);
/// Returns names, types and shapes of the fields: "images u8[28, 28], labels u8[]".
std::string in_words(const std::vector<Dataset::Field>& fields);

/// Returns the listing as bytes (CBOR, RFC 8949), which are sent to other ranks. listing_of() is the inverse.
std::string bytes_of(const Listing& listing);
Listing listing_of(std::string_view bytes);

// In all functions below, `options` are the keys of a section [data.NAME] as the user gave them, without the section's
// name. Unknown keys, invalid values and unsuitable files are UsageErrors that name the section.

/// Checks the keys of a section without reading a file.
void check_options(const std::string& name, const Options& options);

/// Finds the files of a dataset and their contents. One rank calls it for all ranks. Logs its progress once a minute.
Listing list_dataset(const std::string& name, const Options& options);

/// Lists the datasets of one run by list_dataset(). If [data.train] is among `sections` and has class names, image
/// folders without the key `classes` use the class numbers of [data.train]. In this case, throws UsageError if an image
/// folder has a class that [data.train] lacks.
std::map<std::string, Listing> list_datasets(const std::map<std::string, Options>& sections);

/// Copies [data.train] from `all` to `chosen` if a section of `chosen` uses the class numbers of [data.train].
void add_train_of_classes(std::map<std::string, Options>& chosen, const std::map<std::string, Options>& all);

}  // namespace trainrt::data
