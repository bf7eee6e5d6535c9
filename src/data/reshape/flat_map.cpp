#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/batches/field_scan.hpp"
#include "data/reshape/sample_ends.hpp"
#include "data/reshape/steps.hpp"
#include "data/text/field_specs.hpp"

namespace trainrt::data {

namespace {

/// A source that makes any number of new samples from each sample of another source.
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
    std::vector<std::uint64_t> originals;
    originals.reserve(samples.size());
    for (const auto sample : samples) originals.push_back(part_at(ends_, sample));
    auto once = originals;  // each original is read once
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
    const auto values = std::exchange(column.values, {});
    const auto ends = std::exchange(column.ends, {});
    const auto bytes = sample_bytes(fields_[field_]);
    std::vector<std::byte> made;
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const auto original = once[indices[i]];
      if (i == 0 || indices[i] != indices[i - 1]) {  // often the same original
        made.clear();
        function_(view(values, ends, indices[i]), made);
      }
      const auto at = (samples[i] - begin_of(ends_, original)) * bytes;
      if (made.size() != (ends_[original] - begin_of(ends_, original)) * bytes)
        throw Error(
            fmt::format("flat_map: the number of samples that the function returns for sample {} has changed; "
                        "the function must always return the same samples",
                        original));
      column.values.insert(column.values.end(), made.begin() + static_cast<std::ptrdiff_t>(at),
                           made.begin() + static_cast<std::ptrdiff_t>(at + bytes));
    }
  }

  /// Copies the values of original samples to the new samples. Each original sample was read once; its values are
  /// repeated for all new samples that are made from it.
  static void repeat(const std::vector<std::size_t>& indices, const Dataset::Field& field, Column& column) {
    const auto values = std::exchange(column.values, {});
    const auto ends = std::exchange(column.ends, {});
    const auto bytes = field.varies ? 0 : sample_bytes(field);
    for (const auto index : indices) {
      const auto first = field.varies ? begin_of(ends, index) : index * bytes;
      const auto end = field.varies ? ends[index] : first + bytes;
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

class FlatMap final : public Step {
 public:
  FlatMap(std::string field, Dataset::Field made, Dataset::FlatFunction function)
      : made_(std::move(made)), function_(std::move(function)) {
    made_.name = std::move(field);
    made_.varies = false;
  }

  std::vector<Dataset::Field> fields(const std::vector<Dataset::Field>& before) const override {
    auto fields = before;
    fields[find_field(before, made_.name)] = made_;
    if (sample_bytes(made_) == 0) throw UsageError("flat_map() to samples without a value");
    return fields;
  }

  Result apply(const DatasetPlan& input) const override {
    const auto at = find_field(input.source->fields(), made_.name);
    const auto bytes = sample_bytes(made_);
    std::vector<std::byte> scratch;
    auto ends = ends_of(gather_from_scan(input, at, "flat_map", [&](const TensorView& values) {
      scratch.clear();
      function_(values, scratch);
      if (scratch.size() % bytes != 0)
        throw UsageError(fmt::format("flat_map() returned {} bytes, but a sample has {}", scratch.size(), bytes));
      return static_cast<std::int64_t>(scratch.size() / bytes);
    }));
    if (ends.back() == 0)
      throw UsageError(fmt::format("flat_map() returned no sample for any of the {} samples", ends.size()));
    auto identity = identity_of_made(fmt::format("flat_map of '{}'", made_.name), ends.back(), ends);
    return {std::make_shared<FlatSource>(input.source, at, made_, function_, std::move(ends)), std::move(identity)};
  }

 private:
  Dataset::Field made_;
  Dataset::FlatFunction function_;
};

}  // namespace

std::shared_ptr<const Step> flat_map_step(std::string field, Dataset::Field made, Dataset::FlatFunction function) {
  return std::make_shared<FlatMap>(std::move(field), std::move(made), std::move(function));
}

}  // namespace trainrt::data
