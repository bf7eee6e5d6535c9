#include "data/preprocess/columnwise.hpp"

#include <algorithm>

#include "data/preprocess/numbers.hpp"
#include "data/text/field_specs.hpp"

namespace trainrt::data {

std::vector<StatisticRequest> Columnwise::requests(const Fields& fields) const {
  std::vector<StatisticRequest> requests;
  for (const auto& column : columns_) {
    require(fields[find_field(fields, column)]);
    requests.push_back({column, statistic()});
  }
  return requests;
}

nlohmann::json Columnwise::stats_of(std::span<const StatisticRequest> computed) const {
  auto stats = nlohmann::json::object();
  for (std::size_t at = 0; at < computed.size(); ++at) add_stats(at, *computed[at].statistic, stats);
  return stats;
}

void Columnwise::require(const Dataset::Field& field) const { require_number(field); }

Dataset::Field Columnwise::output(std::size_t, const Dataset::Field& from) const {
  return {from.name, real_of(from.dtype), {}, false};
}

Dataset::Field Columnwise::checked_output(std::size_t at, const Dataset::Field& from) const {
  require(from);
  auto field = output(at, from);
  field.name = outputs_[at];
  return field;
}

Fields Columnwise::fields(const Fields& before) const {
  auto after = before;
  for (std::size_t at = 0; at < columns_.size(); ++at)
    put_field(after, checked_output(at, before[find_field(before, columns_[at])]));
  return after;
}

std::vector<std::string> Columnwise::needs(const std::string& output, const Fields&) const {
  const auto found = std::find(outputs_.begin(), outputs_.end(), output);
  return {found == outputs_.end() ? output : columns_[static_cast<std::size_t>(found - outputs_.begin())]};
}

/// Computes all outputs before it stores the first output, because an output may replace a column from which another
/// output is computed.
void Columnwise::apply(Table& table) const {
  std::vector<Table::Column> outputs;
  for (std::size_t at = 0; at < columns_.size(); ++at) {
    const auto* const from = find_column(table, columns_[at]);
    if (from == nullptr) continue;
    outputs.push_back({checked_output(at, from->field), {}, {}});
    convert(at, *from, table.samples, outputs.back());
  }
  for (auto& column : outputs) put_column(table, std::move(column));
}

void Scaling::set_stats(const nlohmann::json& stats) {
  scales_.clear();
  for (const auto& column : columns()) {
    scales_.push_back(scale({stats, column}));
    if (scales_.back().divisor == 0) scales_.back().divisor = 1;
  }
}

void Scaling::convert(std::size_t at, const Table::Column& from, std::uint64_t samples, Table::Column& to) const {
  const auto [offset, divisor] = scales_[at];
  with_numbers(from.field.dtype, from.values, [&, offset = offset, divisor = divisor](auto values) {
    fill_reals(to, samples, [&](std::size_t i) { return (static_cast<double>(values[i]) - offset) / divisor; });
  });
}

std::vector<std::string> Combining::needs(const std::string& output, const Fields& before) const {
  if (std::find(outputs_.begin(), outputs_.end(), output) != outputs_.end()) return inputs(before);
  return {output};
}

void Combining::apply(Table& table) const {
  const auto found = own_columns(table);
  if (!found.empty() && std::find(found.begin(), found.end(), nullptr) == found.end()) change(table);
}

Fields Combining::own_fields(const Fields& before) const {
  Fields found;
  for (const auto& column : inputs(before)) found.push_back(before[find_field(before, column)]);
  return found;
}

std::vector<const Table::Column*> Combining::own_columns(Table& table) const {
  std::vector<const Table::Column*> found;
  for (const auto& column : inputs(fields_of(table))) found.push_back(find_column(table, column));
  return found;
}

}  // namespace trainrt::data
