#include "data/reshape/flat_map.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/batches/draw_by_weight.hpp"
#include "data/batches/field_walk.hpp"
#include "data/batches/new_samples.hpp"
#include "data/text/field_specs.hpp"

namespace trainrt::data {

namespace {

/// Samples of a source, several for one or none.
class FlatSource final : public Source {
 public:
  FlatSource(std::shared_ptr<const Source> source, std::size_t field, Dataset::Field made, Dataset::FlatFunction function,
             std::vector<std::uint64_t> ends)
      : source_(std::move(source)),
        field_(field),
        before_(source_->fields()[field]),
        function_(std::move(function)),
        fields_(source_->fields()),
        ends_(std::move(ends)) {
    fields_[field] = std::move(made);
  }
  std::uint64_t size() const override { return ends_.back(); }
  const std::vector<Dataset::Field>& fields() const override { return fields_; }

  void read(std::span<const std::uint64_t> samples, std::span<Column> columns) const override {
    std::vector<std::uint64_t> whole;
    whole.reserve(samples.size());
    for (const auto sample : samples) whole.push_back(part_at(ends_, sample));
    auto once = whole;  // a long list is read once, and not for each of its elements
    std::ranges::sort(once);
    once.erase(std::unique(once.begin(), once.end()), once.end());
    std::vector<std::size_t> places;  // of each sample's, in `once`
    places.reserve(whole.size());
    for (const auto sample : whole)
      places.push_back(static_cast<std::size_t>(std::ranges::lower_bound(once, sample) - once.begin()));
    source_->read(once, columns);
    for (auto& column : columns)
      if (column.field == field_)
        make(samples, once, places, column);
      else if (once != whole)
        repeat(places, fields_[column.field], column);
  }

 private:
  void make(std::span<const std::uint64_t> samples, const std::vector<std::uint64_t>& once,
            const std::vector<std::size_t>& places, Column& column) const {
    const auto values = std::exchange(column.values, {});
    const auto ends = std::exchange(column.ends, {});
    const auto bytes = sample_bytes(fields_[field_]);
    std::vector<std::byte> made;
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const auto whole = once[places[i]];
      if (i == 0 || places[i] != places[i - 1]) {  // neighbours come of the same one
        made.clear();
        function_(view(values, ends, places[i]), made);
      }
      const auto at = (samples[i] - begin_of(ends_, whole)) * bytes;
      if (made.size() != (ends_[whole] - begin_of(ends_, whole)) * bytes)
        throw Error(fmt::format(
            "flat_map: sample {} of the source becomes another number of samples than when it was looked at first", whole));
      column.values.insert(column.values.end(), made.begin() + static_cast<std::ptrdiff_t>(at),
                           made.begin() + static_cast<std::ptrdiff_t>(at + bytes));
    }
  }

  /// Puts what was read once wherever it belongs.
  static void repeat(const std::vector<std::size_t>& places, const Dataset::Field& field, Column& column) {
    const auto values = std::exchange(column.values, {});
    const auto ends = std::exchange(column.ends, {});
    const auto bytes = field.varies ? 0 : sample_bytes(field);
    for (const auto place : places) {
      const auto first = field.varies ? begin_of(ends, place) : place * bytes;
      const auto end = field.varies ? ends[place] : first + bytes;
      column.values.insert(column.values.end(), values.begin() + static_cast<std::ptrdiff_t>(first),
                           values.begin() + static_cast<std::ptrdiff_t>(end));
      if (field.varies) column.ends.push_back(column.values.size());
    }
  }

  TensorView view(const std::vector<std::byte>& values, const std::vector<std::uint64_t>& ends, std::size_t i) const {
    const auto first = before_.varies ? begin_of(ends, i) : i * sample_bytes(before_);
    const auto shape = before_.varies ? Shape{static_cast<std::int64_t>((ends[i] - first) / size_of(before_.dtype))}
                                      : before_.sample_shape;
    return {const_cast<std::byte*>(values.data()) + first, before_.dtype, shape};
  }

  std::shared_ptr<const Source> source_;
  std::size_t field_;
  Dataset::Field before_;
  Dataset::FlatFunction function_;
  std::vector<Dataset::Field> fields_;
  std::vector<std::uint64_t> ends_;
};

}  // namespace

void flat_map(DatasetImpl& dataset, std::string_view field, Dataset::Field made, const Dataset::FlatFunction& function) {
  require_not_walked(dataset, "flat_map()");
  require_plain_order(dataset, "flat_map()");
  const auto at = find_field(dataset.source->fields(), field);
  made.name = field;
  made.varies = false;
  const auto bytes = sample_bytes(made);
  if (bytes == 0) throw UsageError("flat_map() to samples without a value");
  std::vector<std::byte> scratch;
  auto ends = ends_of(seen_together(dataset, at, "flat_map", [&](const TensorView& values) {
    scratch.clear();
    function(values, scratch);
    if (scratch.size() % bytes != 0)
      throw UsageError(fmt::format("flat_map() made {} bytes, and a sample has {}", scratch.size(), bytes));
    return static_cast<std::int64_t>(scratch.size() / bytes);
  }));
  if (ends.back() == 0) throw UsageError(fmt::format("makes no sample of any of its {}", ends.size()));
  note_samples(dataset, fmt::format("flat_map of '{}'", field), ends, ends.back());
  dataset.source = std::make_shared<FlatSource>(std::move(dataset.source), at, std::move(made), function, std::move(ends));
  follow_source(dataset);
  draw_again(dataset);
}

}  // namespace trainrt::data
