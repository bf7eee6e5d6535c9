#include "data/reshape/key_join.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/batches/field_walk.hpp"
#include "data/batches/filter.hpp"
#include "data/reshape/missing_values.hpp"
#include "data/text/field_specs.hpp"
#include "data/text/key_text.hpp"
#include "io/files/digest.hpp"

namespace trainrt::data {

namespace {

std::vector<Dataset::Field> fields_at(const Source& source, const std::vector<std::size_t>& numbers) {
  std::vector<Dataset::Field> fields;
  for (const auto number : numbers) fields.push_back(source.fields()[number]);
  return fields;
}

class KeyJoinedSource final : public Source {
 public:
  using Places = std::unordered_map<std::string, std::uint64_t>;
  /// `key`: numbers of the fields of the left one; `right_key`: of the right one.
  KeyJoinedSource(std::shared_ptr<const Source> left, std::shared_ptr<const Source> right, std::vector<std::size_t> key,
                  const std::vector<std::size_t>& right_key, Places places, std::string other, bool may_miss)
      : left_(std::move(left)),
        right_(std::move(right)),
        key_(std::move(key)),
        key_fields_(fields_at(*left_, key_)),
        places_(std::move(places)),
        other_(std::move(other)),
        may_miss_(may_miss),
        fields_(left_->fields()) {
    for (std::size_t i = 0; i < right_->fields().size(); ++i) {
      if (std::ranges::find(right_key, i) != right_key.end()) continue;
      fields_.push_back(right_->fields()[i]);
      of_right_.push_back(i);
    }
  }
  std::uint64_t size() const override { return left_->size(); }
  const std::vector<Dataset::Field>& fields() const override { return fields_; }

  void read(std::span<const std::uint64_t> samples, std::span<Column> columns) const override {
    read_part(columns, false, [&](std::span<Column> mine) { left_->read(samples, mine); });
    read_part(columns, true, [&](std::span<Column> others) {
      const auto left_fields = left_->fields().size();
      for (auto& column : others) column.field = of_right_[column.field - left_fields];
      read_right(places_of(samples), others);
    });
  }

 private:
  /// The columns of one side go to `read`, and come back to their places under their numbers here.
  template <class Read>
  void read_part(std::span<Column> columns, bool is_right, const Read& read) const {
    std::vector<Column> part;
    std::vector<std::size_t> places, fields;
    for (std::size_t i = 0; i < columns.size(); ++i)
      if ((columns[i].field >= left_->fields().size()) == is_right) {
        places.push_back(i);
        fields.push_back(columns[i].field);
        part.push_back(std::move(columns[i]));
      }
    if (part.empty()) return;
    read(part);
    for (std::size_t i = 0; i < part.size(); ++i) {
      columns[places[i]] = std::move(part[i]);
      columns[places[i]].field = fields[i];
    }
  }

  void read_right(const std::vector<std::uint64_t>& places, std::span<Column> columns) const {
    auto found = places;
    std::erase(found, no_sample);
    if (!found.empty()) right_->read(found, columns);
    if (found.size() == places.size()) return;
    for (auto& column : columns) {
      if (found.empty()) column = {column.field, {}, {}};
      fill_missing(right_->fields()[column.field], places, column);
    }
  }

  /// The other one's sample of each; no_sample: there is none.
  std::vector<std::uint64_t> places_of(std::span<const std::uint64_t> samples) const {
    std::vector<Column> columns;
    std::vector<TensorView> values;
    for (std::size_t k = 0; k < key_.size(); ++k) {
      columns.push_back({key_[k], {}, {}});
      values.push_back(sample_view(key_fields_[k]));
    }
    left_->read(samples, columns);
    std::vector<std::uint64_t> places;
    places.reserve(samples.size());
    for (std::size_t i = 0; i < samples.size(); ++i) {
      for (std::size_t k = 0; k < key_.size(); ++k) show(values[k], columns[k], key_fields_[k], i);
      const auto found = places_.find(key_of(values, key_fields_));
      if (found == places_.end() && !may_miss_) refuse(samples[i], values);
      places.push_back(found == places_.end() ? no_sample : found->second);
    }
    return places;
  }

  [[noreturn]] void refuse(std::uint64_t sample, std::span<const TensorView> key) const {
    throw UsageError(
        fmt::format("sample {} has the {}, and dataset '{}' has no sample with it: an inner join leaves such samples out, "
                    "and in a left one its values are missing",
                    sample, key_in_words(key, key_fields_), other_));
  }

  std::shared_ptr<const Source> left_, right_;
  std::vector<std::size_t> key_;
  std::vector<Dataset::Field> key_fields_;
  Places places_;
  std::string other_;
  bool may_miss_;
  std::vector<Dataset::Field> fields_;
  std::vector<std::size_t> of_right_;  ///< the other one's number of each field behind those of the first
};

using Places = KeyJoinedSource::Places;

std::vector<std::size_t> field_numbers(const std::vector<Dataset::Field>& fields, const std::vector<std::string>& names) {
  std::vector<std::size_t> numbers;
  for (const auto& name : names) numbers.push_back(find_field(fields, name));
  return numbers;
}

std::string names_of_key(const std::vector<std::string>& key) { return fmt::format("{}", fmt::join(key, " and ")); }

/// Where each key of the other one stands.
Places places_in(const DatasetImpl& other, const std::vector<std::size_t>& key) {
  const auto fields = fields_at(*other.source, key);
  Places places;
  const auto see = [&](std::uint64_t sample, std::span<const TensorView> values) {
    const auto [place, is_new] = places.emplace(key_of(values, fields), sample);
    if (!is_new)
      throw UsageError(fmt::format("dataset '{}' has the {} in the samples {} and {}; a key may stand in one only",
                                   other.name, key_in_words(values, fields), place->second, sample));
  };
  FieldWalk(other, key, "join").walk(0, other.source->size(), see);
  return places;
}

void keep_matched(DatasetImpl& dataset, const std::vector<std::size_t>& key, const Places& places, const std::string& who) {
  const auto fields = fields_at(*dataset.source, key);
  filter(
      dataset, key, [&](std::span<const TensorView> values) { return places.contains(key_of(values, fields)); }, who);
}

/// UsageError unless both have the field, as a key of one kind.
void require_key_of_both(const std::vector<Dataset::Field>& left, const std::string& left_name,
                         const std::vector<Dataset::Field>& right, const std::string& right_name, const std::string& key) {
  const auto& field = left[find_field(left, key)];
  const auto& of_other = [&]() -> const Dataset::Field& {
    try {
      return right[find_field(right, key)];
    } catch (const UsageError& error) {
      throw UsageError(fmt::format("dataset '{}': {}", right_name, error.what()));
    }
  }();
  require_key(field, fmt::format("the key '{}' of dataset '{}'", key, left_name));
  require_key(of_other, fmt::format("the key '{}' of dataset '{}'", key, right_name));
  if (field.varies != of_other.varies)
    throw UsageError(fmt::format("the key '{}' is a text in one of the datasets and a number in the other", key));
}

}  // namespace

std::vector<Dataset::Field> joined_fields(const std::vector<Dataset::Field>& left, const std::string& left_name,
                                          const std::vector<Dataset::Field>& right, const std::string& right_name,
                                          const JoinKey& join) {
  if (join.fields.empty()) throw UsageError("a join needs a key");
  for (const auto& name : join.fields) {
    if (std::ranges::count(join.fields, name) > 1) throw UsageError(fmt::format("the key '{}' is given twice", name));
    require_key_of_both(left, left_name, right, right_name, name);
  }
  auto fields = left;
  for (const auto& field : right) {
    if (std::ranges::find(join.fields, field.name) != join.fields.end()) continue;
    if (std::ranges::find(left, field.name, &Dataset::Field::name) != left.end())
      throw UsageError(fmt::format("both datasets have a field '{}'", field.name));
    if (join.unmatched == Dataset::Unmatched::missing)
      require_missing_value(field, fmt::format("the left join with '{}' by '{}'", right_name, names_of_key(join.fields)));
    fields.push_back(field);
  }
  return fields;
}

void join_by_key(DatasetImpl& dataset, const DatasetImpl& other, const JoinKey& join) {
  require_not_walked(dataset, "join()");
  if (dataset.source == other.source) throw UsageError("join() of a dataset with itself");
  if (other.weight_sums)
    throw UsageError(
        fmt::format("join() with the dataset '{}', whose samples are drawn by weight: a join takes each once", other.name));
  joined_fields(dataset.source->fields(), dataset.name, other.source->fields(), other.name, join);
  const auto left = field_numbers(dataset.source->fields(), join.fields);
  const auto right = field_numbers(other.source->fields(), join.fields);
  auto places = places_in(other, right);
  const auto key = names_of_key(join.fields);
  if (join.unmatched == Dataset::Unmatched::leave_out)
    keep_matched(dataset, left, places, fmt::format("the join with '{}' by '{}'", other.name, key));
  auto joined = std::make_shared<KeyJoinedSource>(dataset.source, other.source, left, right, std::move(places), other.name,
                                                  join.unmatched == Dataset::Unmatched::missing);
  dataset.filter_text += fmt::format("{}joined by {} with '{}', digest {}", dataset.filter_text.empty() ? "" : ", then ",
                                     key, other.name, io::digest_of(other.files + other.filter_text));
  dataset.source = std::move(joined);
  follow_source(dataset);
}

}  // namespace trainrt::data
