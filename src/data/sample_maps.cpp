#include "data/sample_maps.hpp"

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/text.hpp"

namespace trainrt::data {

void SampleMaps::add(std::size_t field, std::string_view name, std::shared_ptr<const SampleMap> map) {
  if (fields_[field].varies) throw UsageError(fmt::format("the field {} varies in length", fields_[field].name));
  fields_[field] = map->field();
  steps_[field].push_back({stable_hash(name), std::move(map)});
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
