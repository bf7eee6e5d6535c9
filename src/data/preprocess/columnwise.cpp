#include "data/preprocess/columnwise.hpp"

#include <algorithm>

#include "data/preprocess/numbers.hpp"
#include "data/text/field_specs.hpp"

namespace trainrt::data {

const Dataset::Field& Columnwise::field_of(const Fields& fields, const std::string& column) {
  return fields[find_field(fields, column)];
}

Fields Columnwise::fields(const Fields& before) const {
  auto after = before;
  for (std::size_t at = 0; at < columns_.size(); ++at) {
    auto field = made(at, field_of(before, columns_[at]));
    field.name = outputs_[at];
    put_field(after, std::move(field));
  }
  return after;
}

std::vector<std::string> Columnwise::needs(const std::string& output) const {
  const auto found = std::find(outputs_.begin(), outputs_.end(), output);
  return {found == outputs_.end() ? output : columns_[static_cast<std::size_t>(found - outputs_.begin())]};
}

/// All are made of the columns as they were before, whatever the names of the new ones.
void Columnwise::apply(Table& table) const {
  std::vector<Table::Column> made_ones;
  for (std::size_t at = 0; at < columns_.size(); ++at) {
    const auto* const from = find_column(table, columns_[at]);
    if (from == nullptr) continue;
    Table::Column to{made(at, from->field), {}, {}};
    to.field.name = outputs_[at];
    convert(at, *from, table.samples, to);
    made_ones.push_back(std::move(to));
  }
  for (auto& column : made_ones) put_column(table, std::move(column));
}

void Scaling::set_stats(const nlohmann::json& stats) {
  scales_.clear();
  for (const auto& column : columns()) {
    auto scaled = scale(stats, column);
    if (scaled.divisor == 0) scaled.divisor = 1;
    scales_.push_back(scaled);
  }
}

Dataset::Field Scaling::made(std::size_t, const Dataset::Field& from) const {
  require_number(from);
  return {from.name, real_of(from.dtype), {}, false};
}

void Scaling::convert(std::size_t at, const Table::Column& from, std::uint64_t samples, Table::Column& to) const {
  const auto [offset, divisor] = scales_[at];
  with_numbers(from.field.dtype, from.values, [&, offset = offset, divisor = divisor](auto values) {
    fill_reals(to, samples, [&](std::size_t i) { return (static_cast<double>(values[i]) - offset) / divisor; });
  });
}

}  // namespace trainrt::data
