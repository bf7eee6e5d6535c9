#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/options.hpp"
#include "data/bytes/coding/packed_names.hpp"
#include "data/bytes/input_file.hpp"

namespace trainrt::data {

/// What an entry holds, told by the last part of its extension.
enum class EntryKind : std::uint8_t {
  image,  ///< jpg, jpeg, png, webp
  label,  ///< cls, cls2, class, count, index, inx, id: a whole number as a text
  array,  ///< npy
  bytes,  ///< txt, json and all others
  key,    ///< no entry: what the sample's names begin with
};

/// A field of a tar archive's samples.
struct TarField {
  std::string name;
  EntryKind kind = EntryKind::bytes;
  std::vector<std::string> extensions;  ///< one of which each sample has
};

/// Where an entry's bytes lie in the archive.
struct EntryPlace {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

/// The samples of a tar archive as WebDataset makes them: entries that follow one another, and whose names are the same up
/// to the first dot of the last part, are one; what follows the dot, in small letters, is the extension. Entries without an
/// extension, and those whose last part begins with a dot, are none.
class TarSamples {
 public:
  const std::vector<TarField>& fields() const { return fields_; }
  std::uint64_t size() const { return keys_.size(); }
  std::string key(std::uint64_t sample) const { return keys_[sample]; }
  /// Of a field of kind label.
  std::int64_t label(std::uint64_t sample, std::size_t field) const { return labels_[field][sample]; }
  /// Of a field of another kind.
  EntryPlace place(std::uint64_t sample, std::size_t field) const { return places_[field][sample]; }
  std::uint64_t left_out() const { return left_out_; }  ///< samples, if skips_errors()

  /// The archive's headers are read, once. The keys of `options` are those of the format tar. Throws UsageError that names
  /// archive and sample: also if one lacks a field, unless on_error = skip leaves it out.
  static TarSamples of(const InputFile& archive, const Options& options);

  std::string packed() const;
  static TarSamples unpacked(std::string_view bytes);

 private:
  friend class TarCollector;
  std::vector<TarField> fields_;
  PackedNames keys_;
  std::vector<std::vector<std::int64_t>> labels_;  ///< by the number of the field; empty for those of other kinds
  std::vector<std::vector<EntryPlace>> places_;    ///< the same
  std::uint64_t left_out_ = 0;
};

/// The fields that a list asks for: "jpg, cls", "image=jpg;png, label=cls, __key__". Throws UsageError that shows the piece
/// that is wrong.
std::vector<TarField> tar_fields(const std::string& list);

}  // namespace trainrt::data
