#include "data/transform/transform.hpp"

#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/text/text.hpp"
#include "data/bytes/by_order.hpp"
#include "data/bytes/stage_clock.hpp"
#include "data/text/field_specs.hpp"

namespace trainrt::data {

std::vector<OptionSpec> field_options(PluginTable<Transform> table) {
  std::vector<OptionSpec> options;
  for (const auto* transform : table)
    options.push_back({.key = std::string(transform->name),
                       .default_value = "",
                       .help = std::string(transform->help),
                       .form = fmt::format("FIELD: {}; separate several fields by commas", transform->arguments)});
  return options;
}

FieldMaps::FieldMaps(Fields fields, PluginTable<Transform> table, const Options& options) : FieldMaps(std::move(fields)) {
  for (const auto* transform : by_order(table)) try {
      for (const auto& [name, arguments] : field_specs(options.text(transform->name), transform->arguments)) {
        const auto field = find(name);
        add(field, transform->name, transform->make(fields_[field], arguments));
      }
    } catch (const UsageError& error) {
      throw UsageError(fmt::format("{}: {}: {}", options.find(transform->name)->origin, transform->name, error.what()));
    }
}

std::size_t FieldMaps::find(std::string_view name) const {
  const auto field = find_field(fields_, name);
  if (fields_[field].varies)
    throw UsageError(
        fmt::format("field {} varies in length; only a field with samples of equal length can be changed", name));
  return field;
}

void FieldMaps::add(std::size_t field, std::string_view name, FieldMap map) {
  fields_[field] = map.field;
  steps_[field].push_back({stable_hash(name), std::make_shared<const FieldMap>(std::move(map))});
}

FieldMaps FieldMaps::over(const Fields& fields) const {
  FieldMaps result(fields);
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    if (steps_[i].empty()) continue;
    const auto found = std::ranges::find(fields, before_[i].name, &Dataset::Field::name);
    if (found == fields.end() || found->dtype != before_[i].dtype || found->sample_shape != before_[i].sample_shape)
      throw UsageError(
          fmt::format("field '{}', which map() or a key of [data.NAME] changes, was removed, or has a new type or shape. "
                      "Call map() after the operation that changed the field",
                      before_[i].name));
    const auto number = static_cast<std::size_t>(found - fields.begin());
    result.fields_[number] = fields_[i];
    result.steps_[number] = steps_[i];
  }
  return result;
}

void FieldMaps::apply(std::uint64_t seed, std::span<const std::uint64_t> samples, Column& column) const {
  if (samples.empty()) return;
  for (const auto& [name, map] : steps_[column.field]) {
    const auto key = mix_seed(seed, name);
    const auto before = column.values.size() / samples.size(), after = sample_bytes(map->field);
    const auto from = column.values;  // a copy, so that the address of the column's memory stays the same
    column.values.resize(samples.size() * after);
    for (std::size_t i = 0; i < samples.size(); ++i) {
      Random random(key, samples[i]);
      map->apply(std::span(from).subspan(i * before, before), std::span(column.values).subspan(i * after, after), random);
    }
  }
}

void FieldMaps::apply(std::size_t samples, Column& column) const {
  Random unused(0, 0);
  for (const auto& step : steps_[column.field]) {
    const auto from = column.values;  // a copy, so that the address of the column's memory stays the same
    column.values.resize(samples * sample_bytes(step.map->field));
    step.map->apply(from, column.values, unused);
  }
}

namespace {

class TransformedSource final : public WrappedSource {
 public:
  TransformedSource(std::shared_ptr<const Source> source, FieldMaps maps)
      : WrappedSource(std::move(source)), maps_(std::move(maps)) {}
  const Fields& fields() const override { return maps_.fields(); }
  void read(std::span<const std::uint64_t> samples, std::span<Column> columns) const override {
    source_->read(samples, columns);
    const InStage transforming(Stage::transform);
    for (auto& column : columns) maps_.apply(samples.size(), column);
  }

 private:
  FieldMaps maps_;
};

}  // namespace

std::shared_ptr<const Source> transformed(std::shared_ptr<const Source> source, const Options& options) {
  FieldMaps maps(source->fields(), transform_table(), options);
  if (!maps.changes_any()) return source;
  return std::make_shared<TransformedSource>(std::move(source), std::move(maps));
}

FieldMap image_map(const Dataset::Field& field, ImageSize size,
                   std::function<void(std::span<const std::byte> image, std::byte* to)> change) {
  auto resized = with_size(field, size);
  return {resized, [before = sample_bytes(field), after = sample_bytes(resized), change = std::move(change)](
                       std::span<const std::byte> from, std::span<std::byte> to, Random&) {
            for (std::size_t i = 0; i * after < to.size(); ++i)
              change(from.subspan(i * before, before), to.data() + i * after);
          }};
}

std::optional<AreaRange> parse_area_range(std::span<const std::string> arguments, AreaRange default_range) {
  if (arguments.empty()) return default_range;
  if (arguments.size() != 2) return std::nullopt;
  const auto min = parse_real(arguments[0]), max = parse_real(arguments[1]);
  if (!min || !max || !(*min > 0 && *min <= *max && *max <= 1)) return std::nullopt;
  return AreaRange{*min, *max};
}

bool is_plain_number(DType dtype) {
  return dtype != DType::f16 && dtype != DType::bf16 && dtype != DType::f8e4m3 && dtype != DType::f8e5m2;
}

}  // namespace trainrt::data
