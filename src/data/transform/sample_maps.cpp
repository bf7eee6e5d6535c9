#include "data/transform/sample_maps.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/text/text.hpp"

namespace trainrt::data {

void SampleMaps::add(std::size_t field, std::string_view name, std::shared_ptr<const SampleMap> map) {
  if (fields_[field].varies) throw UsageError(fmt::format("the field {} varies in length", fields_[field].name));
  fields_[field] = map->field();
  steps_[field].push_back({stable_hash(name), std::move(map)});
}

SampleMaps SampleMaps::over(const std::vector<Dataset::Field>& fields) const {
  SampleMaps made(fields);
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    if (steps_[i].empty()) continue;
    const auto& mapped = before_[i];
    const auto found = std::ranges::find(fields, mapped.name, &Dataset::Field::name);
    if (found == fields.end() || found->dtype != mapped.dtype || found->sample_shape != mapped.sample_shape)
      throw UsageError(
          fmt::format("the field '{}', which map() or a key of [data.NAME] makes something of, is there no more, or is "
                      "another: do that afterwards",
                      mapped.name));
    const auto at = static_cast<std::size_t>(found - fields.begin());
    made.fields_[at] = fields_[i];
    made.steps_[at] = steps_[i];
  }
  return made;
}

void SampleMaps::apply(std::uint64_t seed, std::span<const std::uint64_t> samples, Column& column) const {
  for (const auto& [name, map] : steps_[column.field]) {
    const auto key = mix_seed(seed, name);
    const auto before = samples.empty() ? 0 : column.values.size() / samples.size();
    const auto after = sample_bytes(map->field());
    const auto from = column.values;  // a copy, so that the column's memory stays where it is
    column.values.resize(samples.size() * after);
    for (std::size_t i = 0; i < samples.size(); ++i) {
      Random random(key, samples[i]);
      map->apply(std::span(from).subspan(i * before, before), std::span(column.values).subspan(i * after, after), random);
    }
  }
}

}  // namespace trainrt::data
