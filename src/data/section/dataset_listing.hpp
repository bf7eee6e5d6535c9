#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/source/format.hpp"

namespace trainrt::data {

/// What one rank has found out about the files of a dataset, for all ranks.
struct Listing {
  using Entry = ListedFile;  ///< its fields are those of the whole dataset
  std::string format;
  std::vector<Entry> entries;                      ///< at least one
  std::vector<std::size_t> files_of_sources = {};  ///< if the key weights mixes them; the entries are in their order
  std::string preprocessor = {};                   ///< JSON of what the key preprocess says; empty: nothing
  std::string rows = {};                           ///< which of their samples count: text of RowRanges; empty: all
};

/// "ok, 60000 samples in 1 file (idx): images u8[28, 28], labels u8[]"
std::string described(const Listing& listing);
/// "images u8[28, 28], labels u8[]"
std::string in_words(const std::vector<Dataset::Field>& fields);

/// As bytes that travel to other ranks (CBOR, RFC 8949), and back.
std::string bytes_of(const Listing& listing);
Listing listing_of(std::string_view bytes);

}  // namespace trainrt::data
