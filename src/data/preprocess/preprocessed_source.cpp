#include <set>

#include "data/bytes/stage_clock.hpp"
#include "data/preprocess/preprocessor_impl.hpp"
#include "data/source/source.hpp"
#include "data/text/field_specs.hpp"

namespace trainrt::data {

namespace {

/// A source with the samples of another source, transformed by one preprocessor.
class PreprocessedSource final : public Source {
 public:
  PreprocessedSource(std::shared_ptr<const Source> source, const PreprocessorImpl::Stage& stage);
  std::uint64_t size() const override { return source_->size(); }
  const std::vector<Dataset::Field>& fields() const override { return fields_; }
  bool is_resident() const override { return source_->is_resident(); }
  void read(std::span<const std::uint64_t> samples, std::span<Column> columns) const override;

 private:
  std::shared_ptr<const Source> source_;
  PreprocessorImpl::Stage stage_;
  std::vector<Dataset::Field> fields_;
  std::vector<std::vector<std::size_t>>
      needs_;  ///< for each of fields_, the indices of the fields of source_ from which it is computed
};

PreprocessedSource::PreprocessedSource(std::shared_ptr<const Source> source, const PreprocessorImpl::Stage& stage)
    : source_(std::move(source)), stage_(stage) {
  in_stage(stage_, [this] {
    fields_ = stage_.fields(source_->fields());
    for (const auto& field : fields_) {
      needs_.emplace_back();
      for (const auto& name : stage_.work->needs(field.name, source_->fields()))
        needs_.back().push_back(find_field(source_->fields(), name));
    }
  });
}

void PreprocessedSource::read(std::span<const std::uint64_t> samples, std::span<Column> columns) const {
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
    column.values.assign(output->values.begin(), output->values.end());  // keeps the memory of column.values
    column.ends = output->ends;
  }
}

}  // namespace

std::shared_ptr<const Source> preprocessed(std::shared_ptr<const Source> source, const PreprocessorImpl::Stage& stage) {
  return std::make_shared<PreprocessedSource>(std::move(source), stage);
}

std::shared_ptr<const Source> preprocessed(std::shared_ptr<const Source> source, const PreprocessorImpl& preprocessor) {
  for (const auto& stage : preprocessor.stages) source = preprocessed(std::move(source), stage);
  return source;
}

}  // namespace trainrt::data
