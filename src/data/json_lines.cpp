#include "data/json_lines.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/text.hpp"
#include "data/asked_columns.hpp"
#include "data/json_keys.hpp"
#include "data/json_object.hpp"
#include "data/key_finder.hpp"
#include "data/on_error.hpp"
#include "data/text_file.hpp"

namespace trainrt::data {

namespace {

std::string json_in_words(const JsonScalar& value) {
  struct Words {
    std::string operator()(std::nullptr_t) const { return "null"; }
    std::string operator()(bool value) const { return value ? "true" : "false"; }
    std::string operator()(std::int64_t value) const { return std::to_string(value); }
    std::string operator()(double value) const { return fmt::format("{}", value); }
    std::string operator()(std::string_view value) const { return fmt::format("\"{}\"", excerpt(value, 60)); }
  };
  return std::visit(Words{}, value);
}

/// Puts the value down; false if it is not of the type. null is NaN.
bool put(const JsonScalar& value, DType type, std::byte* out) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return put_integer(*integer, type, out);
  if (const auto* real = std::get_if<double>(&value)) return put_real(*real, type, out);
  if (const auto* truth = std::get_if<bool>(&value)) return put_integer(*truth ? 1 : 0, type, out);
  return std::holds_alternative<std::nullptr_t>(value) && put_real(std::numeric_limits<double>::quiet_NaN(), type, out);
}

std::vector<std::string_view> key_names(std::span<const JsonKey> keys) {
  std::vector<std::string_view> names;
  for (const auto& key : keys) names.emplace_back(key.name);
  return names;
}

class JsonPass final : public RecordPass, JsonVisitor {
 public:
  JsonPass(const std::string& path, std::span<const JsonKey> keys, std::span<Column> columns)
      : path_(path), targets_(keys.size()), finder_(key_names(keys)) {
    const auto asked = asked_columns(columns, keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i) targets_[i] = {.key = &keys[i], .column = asked[i]};
  }

  void take(const Record& record, std::size_t place) override {
    place_ = place;
    for (auto& target : targets_) target.is_seen = false;
    visit_record(path_, record, *this);
    for (const auto& target : targets_)
      if (!target.is_seen && target.column != nullptr)
        bad_row(path_, record.row, fmt::format("the key '{}' is missing", excerpt(target.key->name, 60)));
  }

 private:
  struct Target {
    const JsonKey* key = nullptr;
    Column* column = nullptr;  ///< nullptr: its values are not wanted
    bool is_seen = false;
  };

  bool begin_key(std::string_view name) override {
    const auto found = finder_.find(name);
    if (found == targets_.size()) return false;
    if (targets_[found].is_seen) refuse_key(targets_[found], "is there twice");
    in_hand_ = &targets_[found];
    in_hand_->is_seen = true;
    is_in_list_ = false;
    return in_hand_->column != nullptr;
  }

  void scalar(const JsonScalar& value) override {
    const auto& key = *in_hand_->key;
    if (key.is_list != is_in_list_)
      refuse_key(*in_hand_, fmt::format("holds {}, and an array elsewhere", json_in_words(value)));
    if (key.type.is_text) return put_text(value);
    const auto bytes = size_of(key.type.dtype);
    auto& values = in_hand_->column->values;
    const auto per_sample = key.is_list ? key.length : 1;
    if (key.varies)
      values.resize(values.size() + bytes);
    else if (count_in_list() >= per_sample)
      refuse_length();
    auto* out = key.varies ? values.data() + values.size() - bytes
                           : values.data() + (place_ * per_sample + count_in_list()) * bytes;
    ++count_;
    if (!put(value, key.type.dtype, out)) refuse_value(value);
  }

  void put_text(const JsonScalar& value) {
    const auto* text = std::get_if<std::string_view>(&value);
    if (text == nullptr && !std::holds_alternative<std::nullptr_t>(value)) refuse_value(value);
    auto& [field, values, ends] = *in_hand_->column;
    if (text != nullptr) {
      const auto* bytes = reinterpret_cast<const std::byte*>(text->data());
      values.insert(values.end(), bytes, bytes + text->size());
    }
    ends.push_back(values.size());
  }

  void begin_array() override {
    if (!in_hand_->key->is_list) refuse_key(*in_hand_, "holds an array, and none elsewhere");
    is_in_list_ = true;
    count_ = 0;
  }
  void end_array() override {
    if (in_hand_->key->varies)
      in_hand_->column->ends.push_back(in_hand_->column->values.size());
    else if (count_ != in_hand_->key->length)
      refuse_length();
  }
  void nested() override { refuse_key(*in_hand_, "holds an object or an array of arrays, which no field can"); }

  std::uint64_t count_in_list() const { return is_in_list_ ? count_ : 0; }

  [[noreturn]] static void refuse_key(const Target& target, std::string_view why) {
    throw UsageError(fmt::format("the key '{}' {}", excerpt(target.key->name, 60), why));
  }
  [[noreturn]] void refuse_length() const {
    refuse_key(*in_hand_, fmt::format("holds an array of another length than {}, which the first ones have",
                                      counted(static_cast<std::int64_t>(in_hand_->key->length), "value")));
  }
  [[noreturn]] void refuse_value(const JsonScalar& value) const {
    const auto type = name_of(in_hand_->key->type);
    const bool is_null = std::holds_alternative<std::nullptr_t>(value);
    refuse_key(*in_hand_, fmt::format("holds {}, which is no {}{}; types gives a key another type", json_in_words(value),
                                      type, is_null ? " (f64 and f32 take null, as NaN)" : ""));
  }

  const std::string& path_;
  std::vector<Target> targets_;
  KeyFinder finder_;
  Target* in_hand_ = nullptr;
  std::size_t place_ = 0;
  std::uint64_t count_ = 0;
  bool is_in_list_ = false;
};

class JsonDecoder final : public RecordDecoder {
 public:
  JsonDecoder(std::string path, std::vector<JsonKey> keys) : path_(std::move(path)), keys_(std::move(keys)) {}
  std::unique_ptr<RecordPass> pass(std::span<Column> columns) const override {
    return std::make_unique<JsonPass>(path_, keys_, columns);
  }

 private:
  std::string path_;
  std::vector<JsonKey> keys_;
};

}  // namespace

FileContent look_at_json_lines(const DataFile& file, const Options& given, const RecordLimits& limits) {
  const JsonOptions options{words_in(given.text("columns")), given_types(given.text("types")), skips_errors(given)};
  const auto input = open_text_file(file);
  auto scan = scan_rows(*input, {.longest_row = given.bytes("longest_record")}, limits.spacing);
  if (scan.index.records() == 0) throw UsageError(fmt::format("'{}' holds no records", file.path));
  const auto records = std::make_shared<RecordFile>(input, scan.index, false, true);
  const auto looked_at = records->records_within(limits.looked_at, limits.looked_at_bytes);
  const auto keys = json_keys(*records, options, looked_at);
  FileContent content{records->size(), fields_of(keys), {}, Reading::by_record};
  if (!options.skips_errors)
    RecordSource(records, content.fields, std::make_unique<JsonDecoder>(file.path, keys), false).check_first(looked_at);
  PackedWriter packed;
  pack(keys, packed);
  scan.index.pack(packed);
  content.index = packed.take();
  return content;
}

std::unique_ptr<Source> open_json_lines(const DataFile& file, const FileContent& content, bool keep) {
  PackedReader packed(content.index);
  auto keys = unpacked_keys(packed);
  auto records = std::make_shared<RecordFile>(open_text_file(file), RecordIndex::unpacked(packed), false, true);
  return std::make_unique<RecordSource>(std::move(records), content.fields,
                                        std::make_unique<JsonDecoder>(file.path, std::move(keys)), keep);
}

}  // namespace trainrt::data
