#include "data/tar/tar_samples.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/output/log.hpp"
#include "core/text/printable.hpp"
#include "core/text/text.hpp"
#include "data/source/skipping_reader.hpp"
#include "data/tar/tar_headers.hpp"

namespace trainrt::data {

namespace {

constexpr std::string_view key_field = "__key__";

EntryKind kind_of_extension(std::string_view extension) {
  static const std::set<std::string_view> images{"jpg", "jpeg", "png", "webp"},
      labels{"cls", "cls2", "class", "count", "index", "inx", "id"};
  const auto last = extension.substr(extension.rfind('.') + 1);
  if (images.contains(last)) return EntryKind::image;
  if (labels.contains(last)) return EntryKind::label;
  return last == "npy" ? EntryKind::array : EntryKind::bytes;
}

TarField tar_field(const std::string& word) {
  if (word == key_field) return {word, EntryKind::key, {}};
  const auto equals = word.find('=');
  TarField field{trim(word.substr(0, equals)), EntryKind::bytes,
                 words_in(equals == std::string::npos ? word : word.substr(equals + 1), ';')};
  if (field.name.empty() || field.extensions.empty())
    throw UsageError(fmt::format(
        "fields: '{}' is not a valid field; valid forms: 'EXTENSION', 'NAME=EXTENSION', 'NAME=EXTENSION;EXTENSION', '{}'",
        excerpt(word), key_field));
  field.kind = kind_of_extension(field.extensions.front());
  for (const auto& extension : field.extensions)
    if (kind_of_extension(extension) != field.kind)
      throw UsageError(
          fmt::format("fields: the extensions of '{}' must all be of one kind: "
                      "images (jpg, jpeg, png, webp), integers (cls, ...), arrays (npy), or other files",
                      excerpt(word)));
  return field;
}

/// The parts of an entry's name: the key, which all entries of a sample share, and the extension.
struct TarName {
  std::string_view key;
  std::string extension;
};

/// Returns the parts of the name of an entry. Returns nullopt if the entry belongs to no sample.
std::optional<TarName> tar_name(std::string_view name) {
  const auto begin = name.rfind('/') + 1;  // 0 if the name has no slash
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
      throw UsageError(fmt::format("fields: '{}' occurs twice; each field needs its own name", excerpt(name)));
  }
  return fields;
}

void TarSamples::add_field(TarField field) {
  fields_.push_back(std::move(field));
  labels_.emplace_back();
  ranges_.emplace_back();
}

/// Combines consecutive entries of an archive that have the same key into samples.
class TarCollector {
 public:
  TarCollector(const InputFile& archive, const Options& options)
      : archive_(archive), max_file_bytes_(options.bytes("max_file_bytes")), skips_(skips_errors(options)) {
    for (auto& field : tar_fields(options.text("fields"))) samples_.add_field(std::move(field));
    has_given_fields_ = !samples_.fields_.empty();
    values_.resize(samples_.fields_.size());
  }

  void take(const TarEntry& entry, std::span<const std::byte> first) {
    const auto name = tar_name(entry.name);
    if (!name) return;
    if (!is_open_ || name->key != key_) {
      finish();
      key_ = name->key;
      is_open_ = true;
    }
    auto field = field_of(name->extension);
    if (!field && !has_given_fields_ && samples_.size() == 0) {
      field = samples_.fields_.size();
      samples_.add_field(tar_field(name->extension));
      values_.emplace_back();
    }
    if (!field && !has_given_fields_)
      refuse(fmt::format("has .{}, which the first sample does not have; list the extensions to read in the key 'fields'",
                         excerpt(name->extension, 60)));
    if (field) take_value(*field, name->extension, entry, first);
  }

  TarSamples end() {
    finish();
    if (left_out_ > 0)
      log::run_warning(fmt::format("tar archive '{}': number of invalid samples left out: {}; first error: {}",
                                   archive_.path(), left_out_, first_error_));
    return std::move(samples_);
  }

 private:
  /// The value that a field has in the current sample.
  struct Value {
    bool is_set = false;
    EntryRange range;
    std::int64_t label = 0;
  };

  std::optional<std::size_t> field_of(const std::string& extension) const {
    for (std::size_t i = 0; i < samples_.fields_.size(); ++i)
      if (std::ranges::find(samples_.fields_[i].extensions, extension) != samples_.fields_[i].extensions.end()) return i;
    return std::nullopt;
  }

  void take_value(std::size_t field, const std::string& extension, const TarEntry& entry,
                  std::span<const std::byte> first) {
    const auto& [name, kind, extensions] = samples_.fields_[field];
    auto& value = values_[field];
    if (value.is_set) return refuse(fmt::format("has two entries for the field '{}'", excerpt(name, 60)));
    value = {true, {entry.offset, entry.bytes}};
    if (entry.bytes > max_file_bytes_)
      return refuse(fmt::format("has a .{} with {} bytes, more than max_file_bytes = {}", excerpt(extension, 60),
                                entry.bytes, max_file_bytes_));
    if (kind == EntryKind::label) read_label(value, entry, first);
  }

  void read_label(Value& value, const TarEntry& entry, std::span<const std::byte> first) {
    constexpr std::uint64_t max_bytes = 64;
    std::byte own[max_bytes];
    if (entry.bytes > max_bytes)
      return refuse(fmt::format("'{}' has {} bytes and is not an integer", excerpt(entry.name), entry.bytes));
    if (first.size() < entry.bytes) {
      archive_.read(entry.offset, {own, entry.bytes});
      first = {own, entry.bytes};
    }
    const auto text = trim({reinterpret_cast<const char*>(first.data()), entry.bytes});
    const auto label = parse_integer(text);
    if (!label)
      return refuse(fmt::format("'{}' contains '{}', which is not an integer", excerpt(entry.name), printable_line(text)));
    value.label = *label;
  }

  /// Marks the current sample as damaged, for the reason `why`. Throws UsageError unless damaged samples are left out
  /// (on_error = skip).
  void refuse(const std::string& why) {
    if (error_.empty()) error_ = fmt::format("the sample '{}' {}", excerpt(key_), why);
    if (!skips_) throw UsageError(fmt::format("tar archive '{}': {}", archive_.path(), error_));
  }

  void finish() {
    if (!is_open_) return;
    for (std::size_t i = 0; i < values_.size(); ++i)
      if (!values_[i].is_set && samples_.fields_[i].kind != EntryKind::key) {
        refuse(fmt::format("has no .{}", join(samples_.fields_[i].extensions, " or .")));
        break;
      }
    if (error_.empty())
      add_sample();
    else if (++left_out_ == 1)
      first_error_ = error_;
    error_.clear();
    values_.assign(values_.size(), {});
    is_open_ = false;
  }

  void add_sample() {
    samples_.keys_.add(key_);
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const auto kind = samples_.fields_[i].kind;
      if (kind == EntryKind::label)
        samples_.labels_[i].push_back(values_[i].label);
      else if (kind != EntryKind::key)
        samples_.ranges_[i].push_back(values_[i].range);
    }
  }

  const InputFile& archive_;
  std::uint64_t max_file_bytes_;
  bool skips_, has_given_fields_ = false;
  TarSamples samples_;
  std::uint64_t left_out_ = 0;
  std::string first_error_;  ///< reason why the first damaged sample was left out
  // The current sample:
  bool is_open_ = false;
  std::string key_, error_;
  std::vector<Value> values_;  ///< by index of the field
};

TarSamples TarSamples::of(const InputFile& archive, const Options& options) {
  TarCollector collector(archive, options);
  walk_tar(archive, [&](const TarEntry& entry, std::span<const std::byte> first) { collector.take(entry, first); });
  return collector.end();
}

}  // namespace trainrt::data
