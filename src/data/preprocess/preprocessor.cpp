#include <trainrt/preprocessor.hpp>

#include <cstring>
#include <set>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/bytes/stage_clock.hpp"
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
  return columns[data::find_field(data::fields_of(*this), name)];
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
  fields(data::fields_of(table));  // throws UsageError if a column is unsuitable
  for (const auto& stage : impl_->stages) data::in_stage(stage, [&] { stage.work->apply(table); });
}

namespace data {

namespace {

/// A source with the samples of another source, transformed by one preprocessor.
class PreprocessedSource final : public WrappedSource {
 public:
  PreprocessedSource(std::shared_ptr<const Source> source, const PreprocessorImpl::Stage& stage)
      : WrappedSource(std::move(source)), stage_(stage) {
    in_stage(stage_, [this] {
      fields_ = stage_.fields(source_->fields());
      for (const auto& field : fields_) {
        auto& needed = needs_.emplace_back();
        for (const auto& name : stage_.work->needs(field.name, source_->fields()))
          needed.push_back(find_field(source_->fields(), name));
      }
    });
  }

  const Fields& fields() const override { return fields_; }

  void read(std::span<const std::uint64_t> samples, std::span<Column> columns) const override {
    std::set<std::size_t> needed;
    for (const auto& column : columns) needed.insert(needs_[column.field].begin(), needs_[column.field].end());
    std::vector<Column> read;
    for (const auto field : needed) read.push_back({field, {}, {}});
    source_->read(samples, read);
    const InStage transforming(Stage::transform);
    Table table;
    table.samples = samples.size();
    for (auto& column : read)
      table.columns.push_back({source_->fields()[column.field], std::move(column.values), std::move(column.ends)});
    in_stage(stage_, [&] { stage_.work->apply(table); });
    for (auto& column : columns) {
      const auto* const output = find_column(table, fields_[column.field].name);
      column.values.assign(output->values.begin(), output->values.end());  // assign() reuses the memory of column.values
      column.ends = output->ends;
    }
  }

 private:
  PreprocessorImpl::Stage stage_;
  Fields fields_;
  /// for each field in fields_, the indices in source_->fields() of the fields from which it is computed
  std::vector<std::vector<std::size_t>> needs_;
};

}  // namespace

std::shared_ptr<const Source> preprocessed(std::shared_ptr<const Source> source, const PreprocessorImpl::Stage& stage) {
  return std::make_shared<PreprocessedSource>(std::move(source), stage);
}

std::shared_ptr<const Source> preprocessed(std::shared_ptr<const Source> source, const PreprocessorImpl& preprocessor) {
  for (const auto& stage : preprocessor.stages) source = preprocessed(std::move(source), stage);
  return source;
}

}  // namespace data

}  // namespace trainrt
