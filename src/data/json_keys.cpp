#include "data/json_keys.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/text.hpp"
#include "data/json_object.hpp"
#include "data/key_finder.hpp"

namespace trainrt::data {

namespace {

/// The names of an object's keys, in their order.
class KeyNames final : public JsonVisitor {
 public:
  bool begin_key(std::string_view key) override {
    names.emplace_back(key);
    return false;
  }
  void scalar(const JsonScalar&) override {}
  void begin_array() override {}
  void end_array() override {}
  void nested() override {}

  std::vector<std::string> names;
};

Seen kind_of(const JsonScalar& value) {
  constexpr std::array kinds = {Seen::missing, Seen::boolean, Seen::integer, Seen::real, Seen::text};
  return kinds[value.index()];
}

/// Infers what the values of some keys are from one object after another.
class JsonGuess final : public JsonVisitor {
 public:
  /// `names` must live as long as this.
  explicit JsonGuess(const std::vector<std::string>& names) : keys_(names.size()), finder_({names.begin(), names.end()}) {
    for (std::size_t i = 0; i < names.size(); ++i) keys_[i].key.name = names[i];
  }

  bool begin_key(std::string_view key) override {
    in_hand_ = keys_.begin() + static_cast<std::ptrdiff_t>(finder_.find(key));
    is_in_list_ = false;
    return in_hand_ != keys_.end();
  }
  void scalar(const JsonScalar& value) override {
    const auto kind = kind_of(value);
    if (is_in_list_ && (kind == Seen::text || kind == Seen::boolean)) refuse("an array of other things than numbers");
    ++count_;
    in_hand_->guess.see(kind);
  }
  void begin_array() override {
    is_in_list_ = true;
    in_hand_->key.is_list = true;
    count_ = 0;
  }
  void end_array() override {
    auto& key = in_hand_->key;
    key.varies |= in_hand_->lists++ > 0 && key.length != count_;
    key.length = count_;
  }
  void nested() override { refuse("an object or an array of arrays"); }

  std::vector<JsonKey> found(const GivenTypes& types) const {
    std::vector<JsonKey> keys;
    for (const auto& [key, guess, lists] : keys_) {
      keys.push_back(key);
      const auto given = types.find(key.name);
      keys.back().type = given != types.end() ? given->second : guess.type();
      if (key.is_list && keys.back().type.is_text)
        throw UsageError(fmt::format("types: the key '{}' holds arrays of numbers, no text", excerpt(key.name, 60)));
    }
    return keys;
  }

 private:
  [[noreturn]] void refuse(std::string_view what) const {
    throw UsageError(fmt::format("the key '{}' holds {}, which no field can; columns names the keys to read",
                                 excerpt(in_hand_->key.name, 60), what));
  }
  struct KeyGuess {
    JsonKey key;
    TypeGuess guess;
    std::uint64_t lists = 0;
  };
  std::vector<KeyGuess> keys_;
  KeyFinder finder_;
  std::vector<KeyGuess>::iterator in_hand_;
  std::uint64_t count_ = 0;
  bool is_in_list_ = false;
};

std::vector<std::string> names_of_first(const RecordFile& records) {
  KeyNames visitor;
  records.read_first(1, [&](const Record& record, std::size_t) { visit_record(records.path(), record, visitor); });
  return visitor.names;
}

}  // namespace

std::vector<JsonKey> json_keys(const RecordFile& records, const JsonOptions& options, std::uint64_t looked_at) {
  auto names = names_of_first(records);
  require_known(options.columns, names, "columns", records.path());
  std::vector<std::string> typed;
  for (const auto& [name, type] : options.types) typed.push_back(name);
  require_known(typed, names, "types", records.path());
  if (!options.columns.empty()) names = options.columns;
  if (names.empty()) throw UsageError(fmt::format("'{}': its first object has no keys", records.path()));
  JsonGuess guess(names);
  records.read_first(looked_at, [&](const Record& record, std::size_t) {
    try {
      visit_record(records.path(), record, guess);
    } catch (const UsageError&) {
      if (!options.skips_errors) throw;
    }
  });
  return guess.found(options.types);
}

std::vector<Dataset::Field> fields_of(std::span<const JsonKey> keys) {
  std::vector<Dataset::Field> fields;
  for (const auto& key : keys) {
    auto& field = fields.emplace_back(Dataset::Field{key.name, key.type.dtype, {}, key.varies || key.type.is_text});
    if (key.is_list && !key.varies) field.sample_shape = {static_cast<std::int64_t>(key.length)};
  }
  return fields;
}

void pack(std::span<const JsonKey> keys, PackedWriter& into) {
  into.number(keys.size());
  for (const auto& key : keys) {
    into.text(key.name);
    into.text(name_of(key.type));
    into.number((key.is_list ? 1 : 0) + (key.varies ? 2 : 0));
    into.number(key.length);
  }
}

std::vector<JsonKey> unpacked_keys(PackedReader& from) {
  std::vector<JsonKey> keys;
  for (auto count = from.number(); count > 0; --count) {
    auto& key = keys.emplace_back();
    key.name = from.text();
    key.type = value_type(from.text());
    const auto kind = from.number();
    key.is_list = (kind & 1) != 0;
    key.varies = (kind & 2) != 0;
    key.length = from.number();
  }
  return keys;
}

void visit_record(const std::string& path, const Record& record, JsonVisitor& visitor) try {
  visit_object(record.text, visitor);
} catch (const UsageError& error) {
  bad_row(path, record.row, error.what());
}

}  // namespace trainrt::data
