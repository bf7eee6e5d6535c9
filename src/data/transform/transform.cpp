#include "data/transform/transform.hpp"

#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/bytes/by_order.hpp"
#include "data/bytes/stage_clock.hpp"
#include "data/text/field_specs.hpp"

namespace trainrt::data {

namespace {

class TransformedSource final : public Source {
 public:
  explicit TransformedSource(std::shared_ptr<const Source> source)
      : source_(std::move(source)), fields_(source_->fields()), maps_(fields_.size()) {}

  void add(const Transform& transform, const FieldSpec& wish) {
    const auto at = find_field(fields_, wish.field);
    if (fields_[at].varies) throw UsageError(fmt::format("the field {} varies in length", wish.field));
    maps_[at].push_back(transform.make(fields_[at], wish.arguments));
    fields_[at] = maps_[at].back()->field();
  }

  std::uint64_t size() const override { return source_->size(); }
  const std::vector<Dataset::Field>& fields() const override { return fields_; }
  bool is_resident() const override { return source_->is_resident(); }

  void read(std::span<const std::uint64_t> samples, std::span<Column> columns) const override {
    source_->read(samples, columns);
    const InStage transforming(Stage::transform);
    for (auto& column : columns)
      for (const auto& map : maps_[column.field]) {
        const auto from = column.values;  // a copy, so that the column's memory stays where it is
        column.values.resize(samples.size() * sample_bytes(map->field()));
        map->apply(from, column.values);
      }
  }

 private:
  std::shared_ptr<const Source> source_;
  std::vector<Dataset::Field> fields_;
  std::vector<std::vector<std::unique_ptr<const FieldMap>>> maps_;  ///< by the number of the field
};

template <class T>
double number_of(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return static_cast<double>(value);
}

}  // namespace

std::vector<OptionSpec> transform_options() {
  std::vector<OptionSpec> options;
  for (const auto* transform : transform_table())
    options.push_back({.key = std::string(transform->name),
                       .default_value = "",
                       .help = std::string(transform->help),
                       .form = fmt::format("FIELD: {}, and so on for other fields", transform->arguments)});
  return options;
}

std::shared_ptr<const Source> transformed(std::shared_ptr<const Source> source, const Options& options) {
  std::shared_ptr<TransformedSource> made;
  for (const auto* transform : by_order(transform_table())) try {
      for (const auto& wish : field_specs(options.text(transform->name), transform->arguments)) {
        if (!made) made = std::make_shared<TransformedSource>(source);
        made->add(*transform, wish);
      }
    } catch (const UsageError& error) {
      throw UsageError(fmt::format("{}: {}: {}", options.find(transform->name)->origin, transform->name, error.what()));
    }
  return made ? made : source;
}

bool is_plain_number(DType dtype) {
  switch (dtype) {
    case DType::f16:
    case DType::bf16:
    case DType::f8e4m3:
    case DType::f8e5m2:
      return false;
    default:
      return true;
  }
}

double number_at(std::span<const std::byte> values, DType dtype, std::size_t at) {
  const auto* const place = values.data() + at * size_of(dtype);
  switch (dtype) {
    case DType::f64:
      return number_of<double>(place);
    case DType::f32:
      return number_of<float>(place);
    case DType::i64:
      return number_of<std::int64_t>(place);
    case DType::i32:
      return number_of<std::int32_t>(place);
    case DType::i16:
      return number_of<std::int16_t>(place);
    case DType::i8:
      return number_of<std::int8_t>(place);
    default:
      return number_of<std::uint8_t>(place);
  }
}

}  // namespace trainrt::data
