#include "data/transform/transform.hpp"

#include <cstring>
#include <functional>
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/bytes/by_order.hpp"
#include "data/bytes/stage_clock.hpp"
#include "data/text/field_wishes.hpp"

namespace trainrt::data {

namespace {

class TransformedSource final : public Source {
 public:
  explicit TransformedSource(std::shared_ptr<const Source> source)
      : source_(std::move(source)), fields_(source_->fields()), maps_(fields_.size()) {}

  void add(const Transform& transform, const FieldWish& wish) {
    const auto at = find_field(fields_, wish.field);
    if (transform.make_varying != nullptr) {
      maps_[at].push_back(sample_by_sample(fields_[at], transform.make_varying(fields_[at], wish.arguments)));
      fields_[at] = maps_[at].back().becomes;
      return;
    }
    if (fields_[at].varies) throw UsageError(fmt::format("the field {} varies in length", wish.field));
    maps_[at].push_back(of_all(transform.make(fields_[at], wish.arguments)));
    fields_[at] = maps_[at].back().becomes;
  }

  std::uint64_t size() const override { return source_->size(); }
  const std::vector<Dataset::Field>& fields() const override { return fields_; }
  bool is_resident() const override { return source_->is_resident(); }

  void read(std::span<const std::uint64_t> samples, std::span<Column> columns) const override {
    source_->read(samples, columns);
    const InStage transforming(Stage::transform);
    for (auto& column : columns)
      for (const auto& map : maps_[column.field]) map.apply(samples.size(), column);
  }

 private:
  /// One transform of a field.
  struct Step {
    Dataset::Field becomes;
    std::function<void(std::size_t samples, Column& column)> apply;
  };

  static Step of_all(std::shared_ptr<const FieldMap> map) {
    return {map->field(), [map](std::size_t samples, Column& column) {
              const auto from = column.values;  // a copy, so that the column's memory stays where it is
              column.values.resize(samples * sample_bytes(map->field()));
              map->apply(from, column.values);
            }};
  }

  static Step sample_by_sample(const Dataset::Field& before, std::shared_ptr<const VaryingMap> map) {
    const auto bytes = before.varies ? 0 : sample_bytes(before);
    return {map->field(), [map, bytes, varies = before.varies](std::size_t samples, Column& column) {
              const auto from = std::exchange(column.values, {});
              const auto ends = std::exchange(column.ends, {});
              for (std::size_t i = 0; i < samples; ++i) {
                const auto begin = varies ? (i == 0 ? 0 : ends[i - 1]) : i * bytes;
                const auto end = varies ? ends[i] : begin + bytes;
                map->apply(std::span(from).subspan(begin, end - begin), column.values);
                if (map->field().varies) column.ends.push_back(column.values.size());
              }
            }};
  }

  std::shared_ptr<const Source> source_;
  std::vector<Dataset::Field> fields_;
  std::vector<std::vector<Step>> maps_;  ///< by the number of the field
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
      for (const auto& wish : field_wishes(options.text(transform->name), transform->arguments)) {
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
