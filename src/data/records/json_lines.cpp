#include "data/records/record_formats.hpp"

#include <limits>
#include <set>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/text/text.hpp"
#include "data/bytes/coding/packed.hpp"
#include "data/bytes/log_once.hpp"
#include "data/records/json_keys.hpp"
#include "data/source/skipping_reader.hpp"
#include "data/source/source.hpp"
#include "data/text/number_text.hpp"

namespace trainrt::data {

namespace {

/// Formats a value for a message. A string is in quotes.
std::string json_text(const JsonScalar& value) {
  const auto text = excerpt(text_of(value), 60);
  return std::holds_alternative<std::string_view>(value) ? fmt::format("\"{}\"", text) : text;
}

/// Writes the value to `out` as a number of type `type`; writes null as NaN. Returns false if the type cannot hold the
/// value.
bool put(const JsonScalar& value, DType type, std::byte* out) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return put_integer(*integer, type, out);
  if (const auto* real = std::get_if<JsonReal>(&value)) return put_real(real->value, type, out);
  if (const auto* truth = std::get_if<bool>(&value)) return put_integer(*truth ? 1 : 0, type, out);
  return std::holds_alternative<std::nullptr_t>(value) && put_real(std::numeric_limits<double>::quiet_NaN(), type, out);
}

/// Returns whether a double can hold the number exactly. Returns true for values that are not numbers.
bool fits_double(const JsonScalar& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return is_exact(*integer);
  const auto* real = std::get_if<JsonReal>(&value);
  return real == nullptr || is_exact_in(real->text);
}

/// Writes the values of JSON objects to columns. Each object is a sample.
class JsonPass final : JsonVisitor {
 public:
  /// `warns`: whether to log a warning for each key in the file that is not in `keys`.
  JsonPass(std::string path, std::span<const JsonKey> keys, bool warns, std::span<Column> columns)
      : path_(std::move(path)), targets_(keys.size()), warns_(warns) {
    const auto asked = requested_columns(columns, keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i) {
      targets_[i] = {.key = &keys[i], .column = asked[i]};
      by_name_.emplace(keys[i].name, &targets_[i]);
    }
  }

  void take(const Record& record, std::size_t index) {
    index_ = index;
    row_ = record.row;
    for (auto& target : targets_) target.is_seen = false;
    visit_record(reader_, path_, record, *this);
    for (const auto& target : targets_)
      if (!target.is_seen && target.column != nullptr) put_missing(target, "is missing");
  }

 private:
  struct Target {
    const JsonKey* key = nullptr;
    Column* column = nullptr;  ///< nullptr: the values are not needed
    bool is_seen = false;
  };

  bool begin_key(std::string_view name) override {
    const auto found = by_name_.find(name);
    if (found == by_name_.end()) {
      if (warns_) warn_of(name);
      return false;
    }
    current_ = found->second;
    if (current_->is_seen) refuse_key(*current_, "occurs twice");
    current_->is_seen = true;
    is_in_list_ = false;
    return current_->column != nullptr;
  }

  void scalar(const JsonScalar& value) override {
    const auto& key = *current_->key;
    if (!is_in_list_ && std::holds_alternative<std::nullptr_t>(value)) return put_missing(*current_, "holds null");
    if (key.is_list != is_in_list_)
      refuse_key(*current_, fmt::format("holds {} here, but an array in other rows", json_text(value)));
    if (key.type.is_text) return put_text(value);
    const auto bytes = size_of(key.type.dtype);
    auto& values = current_->column->values;
    const auto per_sample = key.is_list ? key.length : 1;
    if (key.varies)
      values.resize(values.size() + bytes);
    else if (count_in_list() >= per_sample)
      refuse_length();
    auto* out = key.varies ? values.data() + values.size() - bytes
                           : values.data() + (index_ * per_sample + count_in_list()) * bytes;
    ++count_;
    if (key.must_fit && !fits_double(value))
      refuse_key(*current_, fmt::format("holds {}, which f64 cannot represent exactly; "
                                        "set types = {}:f64 to round it, or {}:text to keep it",
                                        json_text(value), excerpt(key.name, 60), excerpt(key.name, 60)));
    if (!put(value, key.type.dtype, out)) refuse_value(value);
  }

  void put_text(const JsonScalar& value) {
    const auto* given = std::get_if<std::string_view>(&value);
    const auto made = given != nullptr ? std::string() : text_of(value);
    const auto text = given != nullptr ? *given : std::string_view(made);
    current_->column->append(std::as_bytes(std::span(text)));
  }

  /// Writes a missing value: NaN, an empty text or an empty list.
  void put_missing(const Target& target, std::string_view why) const {
    const auto& key = *target.key;
    auto& [field, values, ends] = *target.column;
    if (key.varies || key.type.is_text) return ends.push_back(values.size());
    const auto bytes = size_of(key.type.dtype);
    if (key.is_list || !put_real(std::numeric_limits<double>::quiet_NaN(), key.type.dtype, values.data() + index_ * bytes))
      bad_row(path_, row_,
              fmt::format(
                  "the key '{}' {}, but {} cannot be missing{}", excerpt(key.name, 60), why,
                  key.is_list ? "arrays of one length" : "a value of the type " + name_of(key.type),
                  key.is_list ? "" : "; set another type with the key 'types': f64 and f32 store a missing value as NaN"));
  }

  void warn_of(std::string_view name) {
    if (!others_.emplace(name).second) return;
    warning_once(
        fmt::format("'{}': row {} has the key '{}', which is not read, because the first rows do not have it. "
                    "To avoid this warning, list the keys to read: columns = KEYS",
                    path_, row_ + 1, excerpt(name, 60)));
  }

  void begin_array() override {
    if (!current_->key->is_list) refuse_key(*current_, "holds an array here, but not in other rows");
    is_in_list_ = true;
    count_ = 0;
  }
  void end_array() override {
    if (current_->key->varies)
      current_->column->ends.push_back(current_->column->values.size());
    else if (count_ != current_->key->length)
      refuse_length();
  }
  [[noreturn]] void nested() override {
    refuse_key(*current_, "holds an object or an array of arrays, which a field cannot hold");
  }

  std::uint64_t count_in_list() const { return is_in_list_ ? count_ : 0; }

  [[noreturn]] static void refuse_key(const Target& target, std::string_view why) {
    throw UsageError(fmt::format("the key '{}' {}", excerpt(target.key->name, 60), why));
  }
  [[noreturn]] void refuse_length() const {
    refuse_key(*current_, fmt::format("holds an array whose length is not {}, the length in the first rows",
                                      counted(static_cast<std::int64_t>(current_->key->length), "value")));
  }
  [[noreturn]] void refuse_value(const JsonScalar& value) const {
    const auto type = name_of(current_->key->type);
    const bool is_null = std::holds_alternative<std::nullptr_t>(value);  // true for a null in an array
    refuse_key(*current_, fmt::format("holds {}, which is not of type {}{}; set another type with the key 'types'",
                                      json_text(value), type, is_null ? " (f64 and f32 read null as NaN)" : ""));
  }

  std::string path_;
  std::vector<Target> targets_;
  const bool warns_;
  std::set<std::string, std::less<>> others_;  ///< keys for which a warning was printed
  std::unordered_map<std::string_view, Target*> by_name_;
  JsonObjectReader reader_;
  Target* current_ = nullptr;
  std::size_t index_ = 0;
  std::uint64_t count_ = 0, row_ = 0;
  bool is_in_list_ = false;
};

/// The structure that FileContent::index of a JSON lines file encodes.
struct JsonIndex {
  bool warns = false;  ///< whether to log a warning for each key in the file that is not in `keys`
  std::vector<JsonKey> keys;
  RecordIndex records;

  static auto packed_members(auto& self) { return std::tie(self.warns, self.keys, self.records); }
};

RecordDecoder json_decoder(const std::string& path, std::vector<JsonKey> keys, bool warns) {
  return [path, keys = std::make_shared<const std::vector<JsonKey>>(std::move(keys)), warns](std::span<Column> columns) {
    return [pass = std::make_shared<JsonPass>(path, *keys, warns, columns), keys](const Record& record, std::size_t index) {
      pass->take(record, index);
    };
  };
}

}  // namespace

FileContent probe_json_lines(const DataFile& file, const Options& given, const RecordLimits& limits) {
  const JsonOptions options{words_in(given.text("columns")), given_types(given.text("types")), skips_errors(given)};
  const auto input = open_text_file(file);
  auto scan = scan_rows(*input, {.max_row_bytes = given.bytes("max_record_bytes")}, limits.spacing);
  if (scan.index.records() == 0) throw UsageError(fmt::format("'{}' has no records", file.path));
  const auto records = std::make_shared<RecordFile>(input, scan.index, false, true);
  const auto probed = records->records_within(limits.max_probed, limits.max_probed_bytes);
  const auto keys = json_keys(*records, options, probed);
  FileContent content{records->size(), fields_of(keys), {}, Reading::by_record};
  if (!options.skips_errors)
    RecordSource(records, content.fields, json_decoder(file.path, keys, false), false).check_first(probed);
  content.index = packed(JsonIndex{options.columns.empty(), keys, std::move(scan.index)});
  return content;
}

std::unique_ptr<Source> open_json_lines(const DataFile& file, const FileContent& content, bool keep) {
  auto index = unpacked<JsonIndex>(content.index);
  auto records = std::make_shared<RecordFile>(open_text_file(file), std::move(index.records), false, true);
  return std::make_unique<RecordSource>(std::move(records), content.fields,
                                        json_decoder(file.path, std::move(index.keys), index.warns), keep);
}

}  // namespace trainrt::data
