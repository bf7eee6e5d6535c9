#pragma once
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include <trainrt/preprocessor.hpp>

#include "data/preprocess/preprocessing.hpp"
#include "data/text/in_context.hpp"

namespace trainrt {

namespace data {
struct DatasetPlan;
}

/// The implementation of the public class Preprocessor: one preprocessor, or a sequence of several preprocessors (a Chain).
/// Each preprocessor in the sequence is a Stage. Immutable.
struct PreprocessorImpl {
  struct Stage {
    const data::PreprocessorKind* kind = nullptr;
    nlohmann::json parameters;  ///< all parameters, converted to their types
    nlohmann::json stats;       ///< null if the stage is not fitted or needs no fit
    std::shared_ptr<const data::Preprocessing> work;

    bool is_fitted() const { return !work->needs_fit() || !stats.is_null(); }
    /// Returns the fields of the output if the input has the fields `before`. Throws UsageError if the stage is not
    /// fitted or a field is unsuitable.
    data::Fields fields(const data::Fields& before) const;
  };
  std::vector<Stage> stages;
  bool is_chain = false;  ///< whether this is a Chain; a Chain may also have a single stage

  bool is_fitted() const;
};

namespace data {

/// Creates a stage from two members of its JSON form, the parameters and the results of a fit. If `stats` is null, the
/// stage is not fitted. Throws UsageError if a member is invalid.
PreprocessorImpl::Stage stage_of(const PreprocessorKind& kind, const nlohmann::json& parameters,
                                 const nlohmann::json& stats);
/// preprocessor_from() and preprocessor_from_json_text() parse the JSON form of a preprocessor. preprocessor_from_text()
/// parses the value of the config key `preprocess`. They throw UsageError for invalid input.
PreprocessorImpl preprocessor_from(const nlohmann::json& json);
PreprocessorImpl preprocessor_from_json_text(std::string_view text);
PreprocessorImpl preprocessor_from_text(std::string_view text);
/// Returns the JSON form of a preprocessor.
nlohmann::json json_of(const PreprocessorImpl& preprocessor);

/// Fits a copy of `preprocessor` to all samples of the dataset, and returns the copy. Each stage is fitted to the output of
/// the stages before it. Collective over dataset.team. Each rank reads its part of the samples, in dataset.threads threads.
/// An exception on one rank is thrown on all ranks.
PreprocessorImpl fitted(const PreprocessorImpl& preprocessor, const DatasetPlan& dataset);

/// The functions preprocessed() return a source that transforms the samples of `source` when they are read, by all stages
/// of a preprocessor or by one stage. The new source reads only those columns of `source` from which the requested columns
/// are computed. The functions throw UsageError if a stage is not fitted or a field is unsuitable.
std::shared_ptr<const Source> preprocessed(std::shared_ptr<const Source> source, const PreprocessorImpl& preprocessor);
std::shared_ptr<const Source> preprocessed(std::shared_ptr<const Source> source, const PreprocessorImpl::Stage& stage);

/// Returns function(). If it throws UsageError, adds the name of the stage's preprocessor to the message.
template <class Function>
auto in_stage(const PreprocessorImpl::Stage& stage, Function&& function) {
  return in_context(std::string(stage.kind->name), function);
}

}  // namespace data

}  // namespace trainrt
