#include "data/records/json_keys.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/text/text.hpp"
#include "data/text/column_notes.hpp"

namespace trainrt::data {

namespace {

Seen kind_of(const JsonScalar& value) {
  constexpr std::array kinds = {Seen::missing, Seen::boolean, Seen::integer, Seen::real, Seen::text};
  return kinds[value.index()];
}

/// Collects the keys of JSON objects, and infers the type of the values of each key that will be read.
class JsonGuess final : public JsonVisitor {
 public:
  explicit JsonGuess(const JsonOptions& options)
      : options_(options), wanted_(options.columns.begin(), options.columns.end()) {}

  void begin_record(std::uint64_t row) {
    row_ = row;
    ++records_;
  }
  /// Removes the last record, which is invalid, from the statistics, so that no key counts as missing in it.
  void forget_record() {
    --records_;
    for (auto& guess : keys_)
      if (guess.objects > 0 && guess.last_row == row_) --guess.objects;
  }

  bool begin_key(std::string_view name) override {
    auto found = numbers_.find(name);
    if (found == numbers_.end()) found = add(name);
    current_ = &keys_[found->second];
    if (current_->objects++ > 0 && current_->last_row == row_) refuse("occurs twice");
    current_->last_row = row_;
    is_in_list_ = false;
    return wanted_.empty() || wanted_.contains(name);
  }
  void scalar(const JsonScalar& value) override {
    const auto kind = kind_of(value);
    if (!is_in_list_ && kind == Seen::missing) {
      current_->lacks = true;
      return;
    }
    if (is_in_list_ && (kind == Seen::text || kind == Seen::boolean))
      refuse(
          "holds an array with values that are not numbers, which a field cannot hold; "
          "set columns = KEYS without this key");
    ++count_;
    current_->notes.see(kind, is_in_list_ ? std::string() : text_of(value), row_);
  }
  void begin_array() override {
    is_in_list_ = true;
    current_->key.is_list = true;
    count_ = 0;
  }
  void end_array() override {
    auto& key = current_->key;
    key.varies |= current_->lists++ > 0 && key.length != count_;
    key.length = count_;
  }
  [[noreturn]] void nested() override {
    refuse("holds an object or an array of arrays, which a field cannot hold; set columns = KEYS without this key");
  }

  /// Returns the keys that occur in at least one record, except those removed by forget_record().
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& guess : keys_)
      if (guess.objects > 0) names.push_back(guess.key.name);
    return names;
  }

  /// Returns the key called `name`, which must have occurred. Throws UsageError if its values have different kinds,
  /// unless the section sets its type.
  JsonKey found(const std::string& name, const std::string& path) const {
    const auto& [key, notes, objects, lists, last_row, lacks] = keys_[numbers_.at(name)];
    const bool lacks_values = lacks || objects < records_;
    auto made = key;
    made.varies |= key.is_list && lacks_values;
    const auto given = options_.types.find(name);
    if (given != options_.types.end()) {
      made.type = given->second;
    } else {
      require_one_kind(notes, name, path);
      auto all = notes;
      if (lacks_values && !key.is_list) all.see(Seen::missing, {}, 0);
      made.type = all.type();
      made.must_fit = made.type == ValueType::number(DType::f64);
    }
    if (made.is_list && made.type.is_text)
      throw UsageError(fmt::format("types: the key '{}' holds arrays of numbers, not text", excerpt(name, 60)));
    return made;
  }

 private:
  struct KeyGuess {
    JsonKey key;
    ColumnNotes notes = {};
    std::uint64_t objects = 0;   ///< number of objects that have the key
    std::uint64_t lists = 0;     ///< number of values that are lists
    std::uint64_t last_row = 0;  ///< row of the last object that has the key
    bool lacks = false;          ///< whether a value of the key is null
  };

  using Numbers = std::map<std::string, std::size_t, std::less<>>;

  Numbers::iterator add(std::string_view name) {
    constexpr std::size_t max_keys = 1 << 20;
    if (keys_.size() == max_keys)
      throw UsageError(
          fmt::format("adds a key to the {} keys found so far, which is the maximum; "
                      "each line must be one sample with the same keys",
                      max_keys));
    keys_.push_back({.key = {.name = std::string(name), .type = {}}});
    return numbers_.emplace(name, keys_.size() - 1).first;
  }
  static void require_one_kind(const ColumnNotes& notes, const std::string& name, const std::string& path) {
    const auto mixture = notes.mixture();
    if (mixture.empty()) return;
    throw UsageError(
        fmt::format("'{}': the values of the key '{}' have different kinds: {}. "
                    "Set types = {}:text to read all values as texts, or another type to accept only values of that type",
                    path, excerpt(name, 60), mixture, excerpt(name, 60)));
  }
  [[noreturn]] void refuse(std::string_view problem) const {
    throw UsageError(fmt::format("the key '{}' {}", excerpt(current_->key.name, 60), problem));
  }

  const JsonOptions& options_;
  const std::set<std::string, std::less<>> wanted_;  ///< empty: all keys
  std::vector<KeyGuess> keys_;
  Numbers numbers_;  ///< index in keys_ by name
  KeyGuess* current_ = nullptr;
  std::uint64_t count_ = 0, row_ = 0, records_ = 0;
  bool is_in_list_ = false;
};

}  // namespace

std::vector<JsonKey> json_keys(const RecordFile& records, const JsonOptions& options, std::uint64_t probed) {
  JsonGuess guess(options);
  JsonObjectReader reader;
  records.read_first(probed, [&](const Record& record, std::size_t) {
    try {
      guess.begin_record(record.row);
      visit_record(reader, records.path(), record, guess);
    } catch (const UsageError&) {
      if (!options.skips_errors) throw;
      guess.forget_record();
    }
  });
  const auto names = guess.names();
  if (names.empty()) throw UsageError(fmt::format("'{}': the first JSON objects have no keys", records.path()));
  require_known(options.columns, options.types, names, records.path());
  std::vector<JsonKey> keys;
  for (const auto& name : options.columns.empty() ? names : options.columns)
    keys.push_back(guess.found(name, records.path()));
  return keys;
}

std::vector<Dataset::Field> fields_of(std::span<const JsonKey> keys) {
  std::vector<Dataset::Field> fields;
  for (const auto& key : keys) {
    auto& field = fields.emplace_back(Dataset::Field{key.name, key.type.dtype, {}, key.varies || key.type.is_text});
    if (key.is_list && !key.varies) field.sample_shape = {static_cast<std::int64_t>(key.length)};
  }
  return fields;
}

void visit_record(JsonObjectReader& reader, const std::string& path, const Record& record, JsonVisitor& visitor) try {
  reader.read(record.text, visitor);
} catch (const UsageError& error) {
  bad_row(path, record.row, error.what());
}

}  // namespace trainrt::data
