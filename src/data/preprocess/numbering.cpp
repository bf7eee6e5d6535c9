#include "data/preprocess/numbering.hpp"

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/preprocess/numbers.hpp"

namespace trainrt::data {

Dataset::Field Numbering::made(std::size_t, const Dataset::Field& from) const {
  require_category(from);
  return {from.name, DType::i64, {}, false};
}

void Numbering::convert(std::size_t at, const Table::Column& from, std::uint64_t, Table::Column& to) const {
  const auto samples = from.field.varies ? from.ends.size() : from.values.size() / size_of(from.field.dtype);
  to.values.resize(samples * sizeof(std::int64_t));
  auto* const out = reinterpret_cast<std::int64_t*>(to.values.data());
  for_each_category(from, [&](std::size_t sample, const Category* value) {
    out[sample] = value != nullptr ? categories(at).number_of(*value) : Categories::unknown;
    if (out[sample] == Categories::unknown && refuses_unknown())
      throw UsageError(fmt::format("column '{}' holds {}, which was not there when the encoder was fitted", from.field.name,
                                   value != nullptr ? words_of(*value) : "NaN"));
  });
}

}  // namespace trainrt::data
