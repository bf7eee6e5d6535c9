#include "data/key_join.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/field_walk.hpp"
#include "data/field_wishes.hpp"
#include "data/filter.hpp"
#include "data/key_text.hpp"
#include "io/digest.hpp"

namespace trainrt::data {

namespace {

class KeyJoinedSource final : public Source {
 public:
  using Places = std::unordered_map<std::string, std::uint64_t>;
  KeyJoinedSource(std::shared_ptr<const Source> left, std::shared_ptr<const Source> right, std::size_t left_key,
                  std::size_t right_key, Places places, std::string other)
      : left_(std::move(left)),
        right_(std::move(right)),
        key_(left_key),
        places_(std::move(places)),
        other_(std::move(other)),
        fields_(left_->fields()) {
    for (std::size_t i = 0; i < right_->fields().size(); ++i) {
      if (i == right_key) continue;
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
      right_->read(places_of(samples), others);
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

  std::vector<std::uint64_t> places_of(std::span<const std::uint64_t> samples) const {
    Column keys{key_, {}, {}};
    left_->read(samples, {&keys, 1});
    const auto& field = left_->fields()[key_];
    std::vector<std::uint64_t> places;
    places.reserve(samples.size());
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const auto bytes = field.varies ? 0 : sample_bytes(field);
      const auto first = field.varies ? (i == 0 ? 0 : keys.ends[i - 1]) : i * bytes;
      const auto end = field.varies ? keys.ends[i] : first + bytes;
      const TensorView view{
          keys.values.data() + first, field.dtype, {static_cast<std::int64_t>((end - first) / size_of(field.dtype))}};
      const auto key = key_of(view, field);
      const auto found = places_.find(key);
      if (found == places_.end())
        throw Error(fmt::format(
            "sample {} has the {} {}, and dataset '{}' has no sample with it: an inner join leaves such samples out",
            samples[i], field.name, key_in_words(key, field), other_));
      places.push_back(found->second);
    }
    return places;
  }

  std::shared_ptr<const Source> left_, right_;
  std::size_t key_;
  Places places_;
  std::string other_;
  std::vector<Dataset::Field> fields_;
  std::vector<std::size_t> of_right_;  ///< the other one's number of each field behind those of the first
};

using Places = KeyJoinedSource::Places;

/// Where each key of the other one stands.
Places places_in(const DatasetImpl& other, std::size_t field) {
  const auto& key = other.source->fields()[field];
  Places places;
  FieldWalk(other, field, "join").walk(0, other.source->size(), [&](std::uint64_t sample, const TensorView& values) {
    const auto [place, is_new] = places.emplace(key_of(values, key), sample);
    if (!is_new)
      throw UsageError(fmt::format("dataset '{}' has the {} {} in the samples {} and {}; a key may stand in one only",
                                   other.name, key.name, key_in_words(place->first, key), place->second, sample));
  });
  return places;
}

void keep_matched(DatasetImpl& dataset, std::size_t field, const Places& places, const std::string& other) {
  const auto key = dataset.source->fields()[field];
  filter(
      dataset, key.name, [&](const TensorView& values) { return places.contains(key_of(values, key)); },
      fmt::format("the join with '{}' by '{}'", other, key.name));
}

}  // namespace

std::vector<Dataset::Field> joined_fields(const std::vector<Dataset::Field>& left, const std::string& left_name,
                                          const std::vector<Dataset::Field>& right, const std::string& right_name,
                                          std::string_view key) {
  auto fields = left;
  const auto at = find_field(left, key);
  const auto of_other = [&] {
    try {
      return find_field(right, key);
    } catch (const UsageError& error) {
      throw UsageError(fmt::format("dataset '{}': {}", right_name, error.what()));
    }
  }();
  require_key(left[at], fmt::format("the key '{}' of dataset '{}'", key, left_name));
  require_key(right[of_other], fmt::format("the key '{}' of dataset '{}'", key, right_name));
  if (left[at].varies != right[of_other].varies)
    throw UsageError(fmt::format("the key '{}' is a text in one of the datasets and a number in the other", key));
  for (const auto& field : right) {
    if (field.name == key) continue;
    if (std::ranges::find(left, field.name, &Dataset::Field::name) != left.end())
      throw UsageError(fmt::format("both datasets have a field '{}'", field.name));
    fields.push_back(field);
  }
  return fields;
}

void join_by_key(DatasetImpl& dataset, const DatasetImpl& other, std::string_view key, Dataset::Unmatched unmatched) {
  require_not_walked(dataset, "join()");
  if (dataset.source == other.source) throw UsageError("join() of a dataset with itself");
  if (other.weight_sums)
    throw UsageError(
        fmt::format("join() with the dataset '{}', whose samples are drawn by weight: a join takes each once", other.name));
  joined_fields(dataset.source->fields(), dataset.name, other.source->fields(), other.name, key);
  const auto left = find_field(dataset.source->fields(), key), right = find_field(other.source->fields(), key);
  auto places = places_in(other, right);
  if (unmatched == Dataset::Unmatched::leave_out) keep_matched(dataset, left, places, other.name);
  auto joined = std::make_shared<KeyJoinedSource>(dataset.source, other.source, left, right, std::move(places), other.name);
  dataset.filter_text += fmt::format("{}joined by {} with '{}', digest {}", dataset.filter_text.empty() ? "" : ", then ",
                                     key, other.name, io::digest_of(other.files + other.filter_text));
  dataset.source = std::move(joined);
  follow_source(dataset);
}

}  // namespace trainrt::data
