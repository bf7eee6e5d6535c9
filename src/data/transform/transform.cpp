#include "data/transform/transform.hpp"

#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/bytes/stage_clock.hpp"
#include "data/transform/field_keys.hpp"

namespace trainrt::data {

namespace {

class TransformedSource final : public Source {
 public:
  explicit TransformedSource(std::shared_ptr<const Source> source)
      : source_(std::move(source)), fields_(source_->fields()), maps_(fields_.size()) {}

  void add(const Transform& transform, std::string_view name, std::span<const std::string> arguments) {
    const auto field = find_fixed_field(fields_, name);
    maps_[field].push_back(transform.make(fields_[field], arguments));
    fields_[field] = maps_[field].back().field;
  }

  std::uint64_t size() const override { return source_->size(); }
  const std::vector<Dataset::Field>& fields() const override { return fields_; }
  bool is_resident() const override { return source_->is_resident(); }

  void read(std::span<const std::uint64_t> samples, std::span<Column> columns) const override {
    source_->read(samples, columns);
    const InStage transforming(Stage::transform);
    for (auto& column : columns)
      for (const auto& map : maps_[column.field]) {
        const auto from = column.values;  // a copy, so that the address of the column's memory stays the same
        column.values.resize(samples.size() * sample_bytes(map.field));
        map.apply(from, column.values);
      }
  }

 private:
  std::shared_ptr<const Source> source_;
  std::vector<Dataset::Field> fields_;       ///< fields after all changes
  std::vector<std::vector<FieldMap>> maps_;  ///< changes by the number of the field
};

}  // namespace

std::vector<OptionSpec> transform_options() { return field_keys(transform_table()); }

std::shared_ptr<const Source> transformed(std::shared_ptr<const Source> source, const Options& options) {
  std::shared_ptr<TransformedSource> changed;
  for_each_field_key(transform_table(), options, [&](const auto& transform, const auto& field, const auto& arguments) {
    if (!changed) changed = std::make_shared<TransformedSource>(source);
    changed->add(transform, field, arguments);
  });
  return changed ? changed : source;
}

FieldMap image_map(const Dataset::Field& field, ImageSize size,
                   std::function<void(std::span<const std::byte> image, std::byte* to)> change) {
  auto resized = with_size(field, size);
  return {resized, [before = sample_bytes(field), after = sample_bytes(resized), change = std::move(change)](
                       std::span<const std::byte> from, std::span<std::byte> to) {
            for (std::size_t i = 0; i * after < to.size(); ++i)
              change(from.subspan(i * before, before), to.data() + i * after);
          }};
}

bool is_plain_number(DType dtype) {
  return dtype != DType::f16 && dtype != DType::bf16 && dtype != DType::f8e4m3 && dtype != DType::f8e5m2;
}

}  // namespace trainrt::data
