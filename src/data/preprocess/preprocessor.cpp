#include <trainrt/preprocessor.hpp>

#include <cstring>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/preprocess/preprocessor_impl.hpp"
#include "data/text/field_specs.hpp"

namespace trainrt {

namespace {

void require_samples(Table& table, std::size_t samples, const std::string& name) {
  if (table.columns.empty()) table.samples = samples;
  if (table.samples != samples)
    throw UsageError(
        fmt::format("column '{}' has {} samples, but the other columns have {}", name, samples, table.samples));
}

template <class T>
void add_numbers(Table& table, std::string name, std::span<const T> values) {
  require_samples(table, values.size(), name);
  Table::Column column{{std::move(name), dtype_of<T>::value, {}, false}, {}, {}};
  column.values.resize(values.size_bytes());
  if (!values.empty()) std::memcpy(column.values.data(), values.data(), values.size_bytes());
  table.columns.push_back(std::move(column));
}

}  // namespace

void Table::add(std::string name, std::span<const double> values) { add_numbers(*this, std::move(name), values); }

void Table::add(std::string name, std::span<const std::int64_t> values) { add_numbers(*this, std::move(name), values); }

void Table::add(std::string name, std::span<const std::string> values) {
  require_samples(*this, values.size(), name);
  Column column{{std::move(name), DType::u8, {}, true}, {}, {}};
  for (const auto& text : values) {
    const auto bytes = std::as_bytes(std::span(text));
    column.values.insert(column.values.end(), bytes.begin(), bytes.end());
    column.ends.push_back(column.values.size());
  }
  columns.push_back(std::move(column));
}

const Table::Column& Table::column(std::string_view name) const {
  data::Fields fields;
  for (const auto& each : columns) fields.push_back(each.field);
  return columns[data::find_field(fields, name)];
}

Preprocessor::Preprocessor(std::string_view text)
    : impl_(std::make_shared<PreprocessorImpl>(data::preprocessor_from_text(text))) {}

Preprocessor Preprocessor::from_json(std::string_view json) {
  return Preprocessor(std::make_shared<PreprocessorImpl>(data::preprocessor_from_json_text(json)));
}

std::string Preprocessor::to_json() const { return data::json_of(*impl_).dump(); }

std::string_view Preprocessor::name() const { return impl_->is_chain ? "Chain" : impl_->stages.front().kind->name; }

bool Preprocessor::is_fitted() const { return impl_->is_fitted(); }

void Preprocessor::fit(const Dataset& dataset) { impl_ = std::make_shared<PreprocessorImpl>(dataset.fitted(*impl_)); }

std::vector<Dataset::Field> Preprocessor::fields(const std::vector<Dataset::Field>& before) const {
  auto fields = before;
  for (const auto& stage : impl_->stages) fields = data::in_stage(stage, [&] { return stage.fields(fields); });
  return fields;
}

void Preprocessor::transform(Table& table) const {
  data::Fields before;
  for (const auto& column : table.columns) before.push_back(column.field);
  fields(before);  // throws if a column is unsuitable
  for (const auto& stage : impl_->stages) data::in_stage(stage, [&] { stage.work->apply(table); });
}

}  // namespace trainrt
