#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <optional>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/text/text.hpp"
#include "data/arrays/npy_header.hpp"
#include "data/bytes/stage_clock.hpp"
#include "data/images/image_decoder.hpp"
#include "data/records/record_formats.hpp"
#include "data/source/format.hpp"
#include "data/source/row_source.hpp"
#include "data/source/skipping_reader.hpp"
#include "data/tar/tar_samples.hpp"

namespace trainrt::data::plugins {

namespace {

constexpr std::uint64_t max_bytes_per_call = 8 << 20;  // maximum total size of the entries that one call reads
constexpr std::uint64_t max_gap = 4 << 10;  // maximum number of bytes between two entries that are read as one range

/// Reads the entries of a field by the indices of their samples. Several threads may read at the same time.
class TarEntries {
 public:
  TarEntries(std::shared_ptr<const InputFile> archive, std::shared_ptr<const TarSamples> samples, bool keep)
      : archive_(std::move(archive)), samples_(std::move(samples)) {
    if (!keep) return;
    kept_.resize(archive_->size());
    archive_->read(0, kept_);
  }

  bool are_kept() const { return !kept_.empty(); }
  /// Returns the beginning of error messages about an entry, which names archive, sample and field.
  std::string what(std::uint64_t sample, std::size_t field) const {
    return fmt::format("tar archive '{}': the sample '{}': {}", archive_->path(), excerpt(samples_->key(sample)),
                       samples_->fields()[field].name);
  }

  /// Calls `take(bytes, i)` for the entry of each samples[i], in order. The bytes are valid only during the call.
  template <class Take>
  void read(std::size_t field, std::span<const std::uint64_t> samples, const Take& take) const {
    if (!are_kept()) {
      for (std::size_t at = 0; at < samples.size();) at += read_some(field, samples, at, take);
      return;
    }
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const auto range = samples_->range(samples[i], field);
      take(std::span(kept_).subspan(range.offset, range.bytes), i);
    }
  }

 private:
  /// A range of the archive that contains one or more entries, and the offset in the buffer to which it is read.
  struct Piece {
    EntryRange range;
    std::size_t at = 0;
  };

  /// Reads the entries of samples[first] and the following samples, up to about max_bytes_per_call bytes. Returns the
  /// number of entries read.
  template <class Take>
  std::size_t read_some(std::size_t field, std::span<const std::uint64_t> samples, std::size_t first,
                        const Take& take) const {
    std::vector<std::size_t> begins;  // offset of each entry in the buffer
    std::vector<Piece> pieces;
    std::size_t bytes = 0, count = 0;
    for (; first + count < samples.size() && (count == 0 || bytes < max_bytes_per_call); ++count) {
      const auto range = samples_->range(samples[first + count], field);
      const auto end = pieces.empty() ? 0 : pieces.back().range.offset + pieces.back().range.bytes;
      const bool is_near = !pieces.empty() && range.offset >= end && range.offset - end <= max_gap;
      if (!is_near) pieces.push_back({{range.offset, 0}, bytes});
      auto& piece = pieces.back();
      begins.push_back(piece.at + (range.offset - piece.range.offset));
      piece.range.bytes = range.offset + range.bytes - piece.range.offset;
      bytes = piece.at + piece.range.bytes;
    }
    const auto buffer = std::make_unique_for_overwrite<std::byte[]>(bytes);
    std::vector<FilePart> parts;
    for (const auto& [range, at] : pieces) parts.push_back({range.offset, {buffer.get() + at, range.bytes}});
    archive_->read(parts);
    for (std::size_t i = 0; i < count; ++i)
      take(std::span<const std::byte>(buffer.get() + begins[i], samples_->range(samples[first + i], field).bytes),
           first + i);
    return count;
  }

  std::shared_ptr<const InputFile> archive_;
  std::shared_ptr<const TarSamples> samples_;
  std::vector<std::byte> kept_;
};

NpyHeader npy_of_entry(std::span<const std::byte> entry, const std::string& what) {
  return npy_header(entry.subspan(0, std::min(entry.size(), npy_beginning)), entry.size(), what);
}

/// The header of a field's array in the first sample. Most other samples have exactly the same header, so it need not be
/// parsed again.
struct KnownNpy {
  std::vector<std::byte> header;
  std::size_t bytes = 0;  ///< size of header and values
  std::size_t swapped = 1;
};

void put_npy_entry(std::span<const std::byte> entry, const std::string& what, const Dataset::Field& field, std::byte* out) {
  const auto header = npy_of_entry(entry, what);
  if (header.shape != field.sample_shape || dtype_of_npy(header, what) != field.dtype)
    throw UsageError(fmt::format("{} is an array {}{}, but the array of the first sample is {}{}", what,
                                 name_of(dtype_of_npy(header, what)), to_string(header.shape), name_of(field.dtype),
                                 to_string(field.sample_shape)));
  std::memcpy(out, entry.data() + header.header_bytes, header.data_bytes);
  swap_values({out, header.data_bytes}, header.swapped());
}

/// Copies the values of an array to `out`. Returns false, without copying, if the header of the array differs from
/// `known`.
bool put_known_npy(std::span<const std::byte> entry, const KnownNpy& known, std::byte* out) {
  const auto head = known.header.size();
  if (head == 0 || entry.size() != known.bytes || std::memcmp(entry.data(), known.header.data(), head) != 0) return false;
  std::memcpy(out, entry.data() + head, entry.size() - head);
  swap_values({out, entry.size() - head}, known.swapped);
  return true;
}

class TarSource final : public Source {
 public:
  TarSource(std::shared_ptr<const InputFile> archive, std::shared_ptr<const TarSamples> samples,
            std::vector<Dataset::Field> fields, ImageDecoder decoder, bool keep)
      : samples_(samples),
        entries_(std::move(archive), std::move(samples), keep),
        fields_(std::move(fields)),
        decoder_(std::move(decoder)),
        known_(fields_.size()) {
    for (std::size_t i = 0; i < fields_.size(); ++i)
      if (samples_->fields()[i].kind == EntryKind::array) known_[i] = first_npy(i);
  }

  std::uint64_t size() const override { return samples_->size(); }
  const std::vector<Dataset::Field>& fields() const override { return fields_; }
  bool is_resident() const override {
    return entries_.are_kept() &&
           std::ranges::none_of(samples_->fields(), [](const auto& f) { return f.kind == EntryKind::image; });
  }

  void read(std::span<const std::uint64_t> samples, std::span<Column> columns) const override {
    const InStage decoding(Stage::decode);
    for (auto& column : columns) {
      const auto& field = fields_[column.field];
      const auto kind = samples_->fields()[column.field].kind;
      column.ends.clear();
      column.values.resize(field.varies ? 0 : samples.size() * sample_bytes(field));
      if (kind == EntryKind::key) {
        for (const auto sample : samples) {
          const auto key = samples_->key(sample);
          column.append(std::as_bytes(std::span(key)));
        }
      } else if (kind == EntryKind::label) {
        read_labels(samples, column);
      } else {
        read_entries(samples, field, kind, column);
      }
    }
  }

 private:
  /// Returns the header of the field's array in the first sample. The result is empty if this array does not have the type
  /// and shape of the field; in this case, a later read of the sample fails, or skips the sample (on_error = skip).
  KnownNpy first_npy(std::size_t field) const {
    KnownNpy known;
    constexpr std::uint64_t first = 0;
    entries_.read(field, {&first, 1}, [&](std::span<const std::byte> entry, std::size_t) {
      std::vector<std::byte> values(sample_bytes(fields_[field]));
      try {
        put_npy_entry(entry, "", fields_[field], values.data());
      } catch (const UsageError&) {
        return;  // the error is reported when the sample is read
      }
      const auto header = npy_of_entry(entry, "");
      known = {{entry.begin(), entry.begin() + static_cast<std::ptrdiff_t>(header.header_bytes)},
               entry.size(),
               header.swapped()};
    });
    return known;
  }

  void read_labels(std::span<const std::uint64_t> samples, Column& column) const {
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const auto label = samples_->label(samples[i], column.field);
      std::memcpy(column.values.data() + i * sizeof label, &label, sizeof label);
    }
  }

  void read_entries(std::span<const std::uint64_t> samples, const Dataset::Field& field, EntryKind kind,
                    Column& column) const {
    const auto bytes = field.varies ? 0 : sample_bytes(field);
    entries_.read(column.field, samples, [&](std::span<const std::byte> entry, std::size_t i) {
      if (field.varies) return column.append(entry);
      auto* const out = column.values.data() + i * bytes;
      if (put_known_npy(entry, known_[column.field], out)) return;
      const auto what = entries_.what(samples[i], column.field);
      if (kind == EntryKind::array)
        put_npy_entry(entry, what, field, out);
      else
        decoder_.decode(entry, what, field, out);
    });
  }

  std::shared_ptr<const TarSamples> samples_;
  TarEntries entries_;
  std::vector<Dataset::Field> fields_;
  ImageDecoder decoder_;
  std::vector<KnownNpy> known_;  ///< by index of the field
};

/// Returns the field with the index `number`. Its type and shape are those of the first sample that can be read.
Dataset::Field field_of_tar(const TarEntries& entries, const TarSamples& samples, std::size_t number,
                            const ImageDecoder& decoder, bool skips) {
  const auto& [name, kind, extensions] = samples.fields()[number];
  if (kind == EntryKind::label) return {name, DType::i64, {}};
  if (kind == EntryKind::key || kind == EntryKind::bytes || (kind == EntryKind::image && !decoder.decodes()))
    return {name, DType::u8, {}, true};
  constexpr std::uint64_t max_tried = 100;
  for (std::uint64_t sample = 0;; ++sample) try {
      std::optional<Dataset::Field> field;
      entries.read(number, {&sample, 1}, [&](std::span<const std::byte> entry, std::size_t) {
        const auto what = entries.what(sample, number);
        if (kind == EntryKind::image) {
          field = decoder.field(name, decoder.size_of(entry, what));
          return;
        }
        const auto header = npy_of_entry(entry, what);
        field = Dataset::Field{name, dtype_of_npy(header, what), header.shape};
      });
      return *field;
    } catch (const UsageError&) {
      if (!skips || sample + 1 == std::min(samples.size(), max_tried)) throw;
    }
}

FileContent probe_tar(const DataFile& file, const Options& options) {
  const ImageDecoder decoder(options);
  const auto archive = open_text_file(file);
  const auto samples = std::make_shared<const TarSamples>(TarSamples::of(*archive, options));
  if (samples->size() == 0)
    throw UsageError(
        fmt::format("tar archive '{}' contains no samples; entries of samples must be named KEY.EXTENSION", file.path));
  FileContent content{samples->size(), {}, packed(*samples)};
  const TarEntries entries(archive, samples, false);
  for (std::size_t i = 0; i < samples->fields().size(); ++i)
    content.fields.push_back(field_of_tar(entries, *samples, i, decoder, skips_errors(options)));
  return content;
}

std::unique_ptr<Source> open_tar(const DataFile& file, const FileContent& content, const Options& options, bool keep) {
  auto samples = std::make_shared<const TarSamples>(unpacked<TarSamples>(content.index));
  return std::make_unique<TarSource>(std::make_shared<const InputFile>(file), std::move(samples), content.fields,
                                     ImageDecoder(options), keep);
}

std::vector<OptionSpec> options_of_tar() {
  auto options = image_options();
  options.push_back({.key = "fields",
                     .default_value = "",
                     .help = "extensions to read, such as jpg, cls; default: the extensions of the first sample. "
                             "NAME=EXTENSION sets the name of the field: image=jpg;png, label=cls. "
                             "The field __key__ is the common beginning of the names of a sample's entries"});
  return options;
}

bool is_tar_name(std::string_view path) {
  for (const std::string_view ending : {".tar", ".tar.gz", ".tgz", ".tar.zst", ".tar.xz", ".tar.bz2"})
    if (path.ends_with(ending)) return true;
  return false;
}

}  // namespace

extern const Format tar{.name = "tar",
                        .help =
                            "tar archives as in WebDataset: "
                            "consecutive entries form a sample if their names are equal up to the first dot. "
                            "Each extension is a field: an image, an integer (cls), an array (npy) or bytes",
                        .options = options_of_tar(),
                        .probe = probe_tar,
                        .open = open_tar,
                        .is_name_of = is_tar_name,
                        .checksums = "only headers and PNG images have checksums"};

}  // namespace trainrt::data::plugins
