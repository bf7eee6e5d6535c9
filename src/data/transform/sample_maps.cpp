#include "data/transform/sample_maps.hpp"

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/text/text.hpp"

namespace trainrt::data {

void SampleMaps::add(std::size_t field, std::string_view name, SampleMap map) {
  if (fields_[field].varies)
    throw UsageError(fmt::format("field {} varies in length; only fields of one length can be changed sample by sample",
                                 fields_[field].name));
  fields_[field] = map.field;
  steps_[field].push_back({stable_hash(name), std::make_shared<const SampleMap>(std::move(map))});
}

SampleMaps SampleMaps::over(const std::vector<Dataset::Field>& fields) const {
  SampleMaps result(fields);
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    if (steps_[i].empty()) continue;
    const auto found = std::ranges::find(fields, before_[i].name, &Dataset::Field::name);
    if (found == fields.end() || found->dtype != before_[i].dtype || found->sample_shape != before_[i].sample_shape)
      throw UsageError(fmt::format(
          "field '{}', which map() or a key of [data.NAME] changes, was removed or now has another type or shape. "
          "Call map() after this operation",
          before_[i].name));
    const auto number = static_cast<std::size_t>(found - fields.begin());
    result.fields_[number] = fields_[i];
    result.steps_[number] = steps_[i];
  }
  return result;
}

void SampleMaps::apply(std::uint64_t seed, std::span<const std::uint64_t> samples, Column& column) const {
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

}  // namespace trainrt::data
