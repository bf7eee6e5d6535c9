#include "data/tar/tar_samples.hpp"

#include <algorithm>
#include <cctype>
#include <optional>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/output/log.hpp"
#include "core/text/text.hpp"
#include "data/source/skipping_reader.hpp"
#include "data/tar/tar_headers.hpp"

namespace trainrt::data {

namespace {

constexpr std::string_view key_field = "__key__";

bool is_among(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

EntryKind kind_of_extension(std::string_view extension) {
  const auto last = extension.substr(extension.rfind('.') + 1);
  if (is_among(last, {"jpg", "jpeg", "png", "webp"})) return EntryKind::image;
  if (is_among(last, {"cls", "cls2", "class", "count", "index", "inx", "id"})) return EntryKind::label;
  return last == "npy" ? EntryKind::array : EntryKind::bytes;
}

std::vector<std::string> pieces_of(std::string_view text, char separator) {
  std::vector<std::string> pieces;
  for (std::size_t at = 0; at <= text.size();) {
    const auto end = std::min(text.find(separator, at), text.size());
    pieces.push_back(trim(text.substr(at, end - at)));
    at = end + 1;
  }
  return pieces;
}

TarField tar_field(const std::string& word) {
  if (word == key_field) return {word, EntryKind::key, {}};
  const auto equals = word.find('=');
  TarField field{trim(word.substr(0, equals)), EntryKind::bytes,
                 pieces_of(equals == std::string::npos ? word : word.substr(equals + 1), ';')};
  const bool has_empty =
      field.name.empty() || std::ranges::any_of(field.extensions, [](const auto& e) { return e.empty(); });
  if (has_empty)
    throw UsageError(fmt::format("fields: '{}' is no field; valid: EXTENSION, NAME=EXTENSION, NAME=EXTENSION;EXTENSION, {}",
                                 excerpt(word), key_field));
  field.kind = kind_of_extension(field.extensions.front());
  for (const auto& extension : field.extensions)
    if (kind_of_extension(extension) != field.kind)
      throw UsageError(fmt::format("fields: the extensions of '{}' stand for values of different kinds", excerpt(word)));
  return field;
}

/// A name as WebDataset takes it apart; nothing if the entry is of no sample.
struct TarName {
  std::string_view key;
  std::string extension;
};

std::optional<TarName> tar_name(std::string_view name) {
  const auto begin = name.rfind('/') + 1;  // 0 if there is none
  const auto dot = name.find('.', begin);
  if (dot == name.npos || dot == begin || dot + 1 == name.size()) return std::nullopt;
  TarName parts{name.substr(0, dot), std::string(name.substr(dot + 1))};
  std::ranges::transform(parts.extension, parts.extension.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return parts;
}

}  // namespace

std::vector<TarField> tar_fields(const std::string& list) {
  std::vector<TarField> fields;
  for (const auto& word : words_in(list)) {
    fields.push_back(tar_field(word));
    const auto& name = fields.back().name;
    if (std::ranges::count_if(fields, [&](const auto& field) { return field.name == name; }) > 1)
      throw UsageError(fmt::format("fields: '{}' stands there twice", excerpt(name)));
  }
  return fields;
}

/// Makes samples of entries that come one after another.
class TarCollector {
 public:
  TarCollector(const InputFile& archive, const Options& options)
      : archive_(archive), most_bytes_(options.bytes("max_file_bytes")), skips_(skips_errors(options)) {
    samples_.fields_ = tar_fields(options.text("fields"));
    fields_are_given_ = !samples_.fields_.empty();
    prepare();
  }

  void take(const TarEntry& entry, std::span<const std::byte> first) {
    const auto name = tar_name(entry.name);
    if (!name) return;
    if (!is_open_ || name->key != key_) {
      finish();
      key_ = name->key;
      is_open_ = true;
    }
    if (!fields_are_given_ && samples_.size() == 0) add_field(name->extension);
    const auto field = field_of(name->extension);
    if (!field) {
      if (!fields_are_given_)
        refuse(fmt::format("has .{}, which the first sample has not: the key fields says what is read",
                           excerpt(name->extension, 60)));
      return;
    }
    if (has_[*field])
      return refuse(fmt::format("has two entries for the field '{}'", excerpt(samples_.fields_[*field].name, 60)));
    has_[*field] = true;
    place_[*field] = {entry.offset, entry.bytes};
    if (entry.bytes > most_bytes_)
      return refuse(fmt::format("has {} bytes of .{}: more than max_file_bytes = {}", entry.bytes,
                                excerpt(name->extension, 60), most_bytes_));
    if (samples_.fields_[*field].kind == EntryKind::label) note_label(*field, entry, first);
  }

  TarSamples end() {
    finish();
    if (samples_.left_out_ > 0)
      log::run_warning(fmt::format("tar archive '{}': {} samples are left out; the first: {}", archive_.path(),
                                   samples_.left_out_, why_));
    return std::move(samples_);
  }

 private:
  void prepare() {
    const auto count = samples_.fields_.size();
    has_.assign(count, false);
    place_.resize(count);
    label_.resize(count);
    samples_.labels_.resize(count);
    samples_.places_.resize(count);
  }

  void add_field(const std::string& extension) {
    if (field_of(extension)) return;
    samples_.fields_.push_back(tar_field(extension));
    has_.push_back(false);
    place_.emplace_back();
    label_.emplace_back();
    samples_.labels_.emplace_back();
    samples_.places_.emplace_back();
  }

  std::optional<std::size_t> field_of(const std::string& extension) const {
    for (std::size_t i = 0; i < samples_.fields_.size(); ++i)
      if (std::ranges::find(samples_.fields_[i].extensions, extension) != samples_.fields_[i].extensions.end()) return i;
    return std::nullopt;
  }

  void note_label(std::size_t field, const TarEntry& entry, std::span<const std::byte> first) {
    constexpr std::uint64_t most = 64;
    std::byte own[most];
    if (entry.bytes > most)
      return refuse(fmt::format("'{}' holds {} bytes, and no whole number", excerpt(entry.name), entry.bytes));
    if (first.size() < entry.bytes) {
      archive_.read(entry.offset, {own, entry.bytes});
      first = {own, entry.bytes};
    }
    const auto text = trim({reinterpret_cast<const char*>(first.data()), entry.bytes});
    const auto label = parse_integer(text);
    if (!label) return refuse(fmt::format("'{}' holds '{}', and no whole number", excerpt(entry.name), printable(text)));
    label_[field] = *label;
  }

  static std::string printable(const std::string& text) {
    const auto lines = printable_lines(text);
    return lines.empty() ? "" : lines.front();
  }

  /// Of the sample in hand.
  void refuse(std::string why) {
    if (wrong_.empty()) wrong_ = fmt::format("the sample '{}' {}", excerpt(key_), why);
    if (!skips_) throw UsageError(fmt::format("tar archive '{}': {}", archive_.path(), wrong_));
  }

  void finish() {
    if (!is_open_) return;
    for (std::size_t i = 0; i < has_.size(); ++i)
      if (!has_[i] && samples_.fields_[i].kind != EntryKind::key) {
        refuse(fmt::format("has no .{}", join(samples_.fields_[i].extensions, " or .")));
        break;
      }
    if (wrong_.empty())
      keep();
    else if (++samples_.left_out_ == 1)
      why_ = wrong_;
    wrong_.clear();
    std::fill(has_.begin(), has_.end(), false);
    is_open_ = false;
  }

  void keep() {
    samples_.keys_.add(key_);
    for (std::size_t i = 0; i < samples_.fields_.size(); ++i) {
      const auto kind = samples_.fields_[i].kind;
      if (kind == EntryKind::label)
        samples_.labels_[i].push_back(label_[i]);
      else if (kind != EntryKind::key)
        samples_.places_[i].push_back(place_[i]);
    }
  }

  const InputFile& archive_;
  std::uint64_t most_bytes_;
  bool skips_, fields_are_given_ = false;
  TarSamples samples_;
  // Of the sample in hand:
  bool is_open_ = false;
  std::string key_, wrong_, why_;
  std::vector<bool> has_;
  std::vector<EntryPlace> place_;
  std::vector<std::int64_t> label_;
};

TarSamples TarSamples::of(const InputFile& archive, const Options& options) {
  TarCollector collector(archive, options);
  walk_tar(archive, [&](const TarEntry& entry, std::span<const std::byte> first) { collector.take(entry, first); });
  return collector.end();
}

std::string TarSamples::packed() const {
  PackedWriter writer;
  writer.number(fields_.size());
  for (const auto& field : fields_) {
    writer.text(field.name);
    writer.number(static_cast<std::uint64_t>(field.kind));
    writer.text(join(field.extensions, ";"));
  }
  keys_.pack(writer);
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    for (const auto label : labels_[i]) writer.integer(label);
    std::uint64_t behind = 0;
    for (const auto& place : places_[i]) {
      writer.number(place.offset - behind);
      writer.number(place.bytes);
      behind = place.offset + place.bytes;
    }
  }
  return writer.take();
}

TarSamples TarSamples::unpacked(std::string_view bytes) {
  PackedReader reader(bytes);
  TarSamples samples;
  for (auto count = reader.number(); count > 0; --count) {
    auto name = reader.text();
    const auto kind = static_cast<EntryKind>(reader.number());
    samples.fields_.push_back({std::move(name), kind, pieces_of(reader.text(), ';')});
  }
  samples.keys_ = PackedNames::unpacked(reader);
  samples.labels_.resize(samples.fields_.size());
  samples.places_.resize(samples.fields_.size());
  for (std::size_t i = 0; i < samples.fields_.size(); ++i) {
    const auto kind = samples.fields_[i].kind;
    std::uint64_t behind = 0;
    for (std::uint64_t sample = 0; sample < samples.size() && kind != EntryKind::key; ++sample) {
      if (kind == EntryKind::label) {
        samples.labels_[i].push_back(reader.integer());
        continue;
      }
      const auto offset = behind + reader.number(), size = reader.number();
      samples.places_[i].push_back({offset, size});
      behind = offset + size;
    }
  }
  return samples;
}

}  // namespace trainrt::data
