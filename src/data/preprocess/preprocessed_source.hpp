#pragma once
#include <memory>
#include <vector>

#include "data/preprocess/preprocessor_impl.hpp"
#include "data/source/source.hpp"

namespace trainrt::data {

/// Another source with its columns changed, as they are read. Reads no columns of it that are not needed for those asked
/// for.
class PreprocessedSource final : public Source {
 public:
  /// The preprocessor is fitted; UsageError if the fields do not suit it.
  PreprocessedSource(std::shared_ptr<const Source> source, const PreprocessorImpl::Stage& stage);
  std::uint64_t size() const override { return source_->size(); }
  const std::vector<Dataset::Field>& fields() const override { return fields_; }
  bool is_resident() const override { return source_->is_resident(); }
  void read(std::span<const std::uint64_t> samples, std::span<Column> columns) const override;

 private:
  std::shared_ptr<const Source> source_;
  PreprocessorImpl::Stage stage_;
  std::vector<Dataset::Field> fields_;
  std::vector<std::vector<std::size_t>> needs_;  ///< fields of source_ by the number of the field
};

/// With all of its stages. UsageError if one is not fitted.
std::shared_ptr<const Source> preprocessed(std::shared_ptr<const Source> source, const PreprocessorImpl& preprocessor);

}  // namespace trainrt::data
