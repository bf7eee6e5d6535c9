#pragma once
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "core/options.hpp"
#include "data/bytes/coding/packed_names.hpp"
#include "data/bytes/input_file.hpp"

namespace trainrt::data {

/// The kind of an entry (a file in the archive), which the last part of its extension determines.
enum class EntryKind : std::uint8_t {
  image,  ///< jpg, jpeg, png, webp
  label,  ///< cls, cls2, class, count, index, inx, id: an integer as text
  array,  ///< npy
  bytes,  ///< txt, json and all others
  key,    ///< not the content of an entry, but the key: the common beginning of the names of the sample's entries
};

/// A field of the samples of a tar archive.
struct TarField {
  std::string name;
  EntryKind kind = EntryKind::bytes;
  std::vector<std::string> extensions;  ///< each sample must have an entry with one of these extensions

  static auto packed_members(auto& self) { return std::tie(self.name, self.kind, self.extensions); }
};

/// The position of an entry's content in the archive.
struct EntryRange {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;

  static auto packed_members(auto& self) { return std::tie(self.offset, self.bytes); }
};

/// The samples of a tar archive, by the rules of WebDataset. The name of an entry is divided at the first dot after its
/// last slash: the part before the dot is the key, the part after it is the extension, in lower case. Consecutive
/// entries with the same key form a sample.
///
/// An entry belongs to no sample if it has no extension, or if its file name begins with a dot.
class TarSamples {
 public:
  const std::vector<TarField>& fields() const { return fields_; }
  std::uint64_t size() const { return keys_.size(); }
  std::string key(std::uint64_t sample) const { return keys_[sample]; }
  /// Returns the label of a sample. `field` is the index of a field with the kind EntryKind::label.
  std::int64_t label(std::uint64_t sample, std::size_t field) const { return labels_[field][sample]; }
  /// Returns the position of the entry that contains the value of `field`. Precondition: the field has the kind image,
  /// array or bytes.
  EntryRange range(std::uint64_t sample, std::size_t field) const { return ranges_[field][sample]; }

  /// Finds the samples of an archive by reading its headers once. `options` must contain the keys of the format tar. If a
  /// sample lacks a field or is damaged, throws UsageError, which names archive and sample. With on_error = skip, leaves
  /// out such samples instead, and logs a warning.
  static TarSamples of(const InputFile& archive, const Options& options);

  static auto packed_members(auto& self) { return std::tie(self.fields_, self.keys_, self.labels_, self.ranges_); }

 private:
  friend class TarCollector;
  void add_field(TarField field);

  std::vector<TarField> fields_;
  PackedNames keys_;
  std::vector<std::vector<std::int64_t>> labels_;  ///< [field][sample]: the label; empty for fields of other kinds
  std::vector<std::vector<EntryRange>> ranges_;    ///< [field][sample]: position of the value; empty for labels and keys
};

/// Parses the value of the key `fields`: "jpg, cls" or "image=jpg;png, label=cls, __key__". Throws UsageError, which quotes
/// the invalid item.
std::vector<TarField> tar_fields(const std::string& list);

}  // namespace trainrt::data
