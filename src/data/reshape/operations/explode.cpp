#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/text/text.hpp"
#include "data/batches/field_scan.hpp"
#include "data/reshape/operation.hpp"
#include "data/reshape/steps.hpp"
#include "data/text/field_specs.hpp"

namespace trainrt::data {

namespace {

/// A source that makes any number of new samples from each sample of another source.
class FlatSource final : public WrappedSource {
 public:
  FlatSource(std::shared_ptr<const Source> source, std::size_t field, Dataset::Field made, Dataset::FlatFunction function,
             std::vector<std::uint64_t> ends)
      : WrappedSource(std::move(source)),
        field_(field),
        before_(source_->fields()[field]),
        function_(std::move(function)),
        fields_(source_->fields()),
        ends_(std::move(ends)) {
    fields_[field] = std::move(made);
  }
  std::uint64_t size() const override { return ends_.back(); }
  const Fields& fields() const override { return fields_; }
  bool is_resident() const override { return false; }

  void read(std::span<const std::uint64_t> samples, std::span<Column> columns) const override {
    std::vector<std::uint64_t> originals;
    originals.reserve(samples.size());
    for (const auto sample : samples) originals.push_back(part_at(ends_, sample));
    auto once = originals;  // the originals without repetitions, so that each of them is read only once
    std::ranges::sort(once);
    once.erase(std::unique(once.begin(), once.end()), once.end());
    std::vector<std::size_t> indices;  // for each sample, the index of its original in `once`
    indices.reserve(originals.size());
    for (const auto sample : originals)
      indices.push_back(static_cast<std::size_t>(std::ranges::lower_bound(once, sample) - once.begin()));
    source_->read(once, columns);
    for (auto& column : columns)
      if (column.field == field_)
        make(samples, once, indices, column);
      else if (once != originals)
        repeat(indices, fields_[column.field], column);
  }

 private:
  void make(std::span<const std::uint64_t> samples, const std::vector<std::uint64_t>& once,
            const std::vector<std::size_t>& indices, Column& column) const {
    const auto from = std::exchange(column, {field_, {}, {}});
    const auto bytes = sample_bytes(fields_[field_]);
    std::vector<std::byte> made;
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const auto original = once[indices[i]];
      if (i == 0 || indices[i] != indices[i - 1]) {  // consecutive samples often have the same original
        made.clear();
        const auto values = sample_of(from, before_, indices[i]);
        const auto count = static_cast<std::int64_t>(values.size() / size_of(before_.dtype));
        function_(
            {const_cast<std::byte*>(values.data()), before_.dtype, before_.varies ? Shape{count} : before_.sample_shape},
            made);
      }
      const auto at = (samples[i] - begin_of(ends_, original)) * bytes;
      if (made.size() != (ends_[original] - begin_of(ends_, original)) * bytes)
        throw Error(
            fmt::format("flat_map: the number of samples that the function returns for sample {} has changed; "
                        "the function must always return the same samples",
                        original));
      const auto sample = std::span(made).subspan(at, bytes);
      column.values.insert(column.values.end(), sample.begin(), sample.end());
    }
  }

  /// Replaces the values of the originals in `column` by the values of the new samples: the values of an original are
  /// repeated for each new sample that is made from it. indices[i] is the position in `column` of the original of sample i.
  static void repeat(const std::vector<std::size_t>& indices, const Dataset::Field& field, Column& column) {
    const auto from = std::exchange(column, {column.field, {}, {}});
    for (const auto index : indices) {
      const auto sample = sample_of(from, field, index);
      column.values.insert(column.values.end(), sample.begin(), sample.end());
      if (field.varies) column.ends.push_back(column.values.size());
    }
  }

  std::size_t field_;
  Dataset::Field before_;
  Dataset::FlatFunction function_;
  Fields fields_;
  std::vector<std::uint64_t> ends_;
};

/// The step that makes any number of new samples from each sample, by a function of one field.
struct FlatMap {
  std::string field;
  std::function<Dataset::Field(const Dataset::Field& before)> made_from;  ///< returns type and shape of the new values
  Dataset::FlatFunction function;

  Dataset::Field made(const Fields& before) const {
    auto made = made_from(before[find_field(before, field)]);
    made.name = field;
    made.varies = false;
    if (sample_bytes(made) == 0)
      throw UsageError(
          fmt::format("the new samples of '{}' would have no values: no extent of their shape may be 0", field));
    return made;
  }

  Step::Result apply(const DatasetPlan& input) const {
    const auto& before = input.source->fields();
    auto made = this->made(before);
    const auto at = find_field(before, field);
    const auto bytes = sample_bytes(made);
    std::vector<std::byte> scratch;
    auto ends = ends_of(gather_from_scan(input, at, "flat_map", [&](const TensorView& values) {
      scratch.clear();
      function(values, scratch);
      if (scratch.size() % bytes != 0)
        throw UsageError(
            fmt::format("flat_map(): the function returned {} bytes, which is not a multiple of the {} bytes of a sample",
                        scratch.size(), bytes));
      return static_cast<std::int64_t>(scratch.size() / bytes);
    }));
    if (ends.back() == 0)
      throw UsageError(fmt::format("no new samples could be made from any of the {} samples", ends.size()));
    auto identity = identity_of_made(fmt::format("flat_map of '{}'", field), ends.back(), ends);
    return {std::make_shared<FlatSource>(input.source, at, std::move(made), function, std::move(ends)),
            std::move(identity)};
  }
};

Step step_of(const FlatMap& map) {
  const auto fields = [map](Fields before) {
    auto made = map.made(before);
    before[find_field(before, map.field)] = std::move(made);
    return before;
  };
  return {Effect::makes, fields, [map](const DatasetPlan& input) { return map.apply(input); }};
}

Dataset::Field element_of(const Dataset::Field& list) {
  if (list.varies && list.dtype == DType::u8)
    throw UsageError(fmt::format("the field '{}' has texts, not lists", list.name));
  if (list.varies) return {list.name, list.dtype, {}};
  if (list.sample_shape.empty())
    throw UsageError(fmt::format("the field '{}' has one value per sample, not a list", list.name));
  return {list.name, list.dtype, {list.sample_shape.begin() + 1, list.sample_shape.end()}};
}

/// Makes a sample from each element of a list, or from each row of an array.
Step make_explode(const std::string& text) {
  return step_of({trim(text), element_of, [](const TensorView& values, std::vector<std::byte>& made) {
                    const auto* const bytes = static_cast<const std::byte*>(values.data);
                    made.insert(made.end(), bytes, bytes + values.bytes());
                  }});
}

}  // namespace

Step flat_map_step(const std::string& field, const Dataset::Field& made, const Dataset::FlatFunction& function) {
  return step_of({field, [made](const Dataset::Field&) { return made; }, function});
}

namespace plugins {

extern const OperationKind explode{.name = "explode",
                                   .help =
                                       "makes one sample from each element of a list, or from each row of an array. "
                                       "FIELD contains the lists or arrays; the new samples have copies of the other "
                                       "fields. Applied after the key `where`",
                                   .form = "FIELD",
                                   .make = make_explode,
                                   .order = -1};

}  // namespace plugins

}  // namespace trainrt::data
