#pragma once
#include <memory>
#include <vector>

#include "data/preprocess/preprocessor_impl.hpp"
#include "data/source/source.hpp"

namespace trainrt::data {

/// A source whose samples are those of another source, transformed by one stage as they are read. It reads only the columns
/// of the other source that are needed for the requested ones.
class PreprocessedSource final : public Source {
 public:
  /// Throws UsageError if the stage is not fitted or the fields of `source` are unsuitable.
  PreprocessedSource(std::shared_ptr<const Source> source, const PreprocessorImpl::Stage& stage);
  std::uint64_t size() const override { return source_->size(); }
  const std::vector<Dataset::Field>& fields() const override { return fields_; }
  bool is_resident() const override { return source_->is_resident(); }
  void read(std::span<const std::uint64_t> samples, std::span<Column> columns) const override;

 private:
  std::shared_ptr<const Source> source_;
  PreprocessorImpl::Stage stage_;
  std::vector<Dataset::Field> fields_;
  std::vector<std::vector<std::size_t>> needs_;  ///< for each of fields_, the fields of source_ that it needs
};

/// Applies all stages of a preprocessor to a source. Throws UsageError as PreprocessedSource.
std::shared_ptr<const Source> preprocessed(std::shared_ptr<const Source> source, const PreprocessorImpl& preprocessor);

}  // namespace trainrt::data
