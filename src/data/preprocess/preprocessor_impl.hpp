#pragma once
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include <trainrt/preprocessor.hpp>

#include "data/preprocess/preprocessing.hpp"

namespace trainrt {

/// Behind the public Preprocessor: one preprocessor, or several in a row (a Chain). Nothing changes once it is made.
struct PreprocessorImpl {
  struct Stage {
    const data::PreprocessorKind* kind = nullptr;
    nlohmann::json parameters;  ///< all of them, with their types
    nlohmann::json stats;       ///< null: not fitted, or nothing to learn
    std::shared_ptr<const data::Preprocessing> work;

    bool is_fitted() const { return !work->learns() || !stats.is_null(); }
  };
  std::vector<Stage> stages;
  bool is_chain = false;  ///< also if it has one stage
};

namespace data {

PreprocessorImpl::Stage stage_of(const PreprocessorKind& kind, const nlohmann::json& parameters,
                                 const nlohmann::json& stats);
/// UsageError for what is no preprocessor.
PreprocessorImpl preprocessor_from(const nlohmann::json& json);
PreprocessorImpl preprocessor_from_text(std::string_view text);
nlohmann::json json_of(const PreprocessorImpl& preprocessor);

/// Calls function(), and adds the preprocessor's name to the UsageErrors that it throws.
template <class Function>
auto in_stage(const PreprocessorImpl::Stage& stage, Function&& function) {
  try {
    return function();
  } catch (const UsageError& error) {
    throw UsageError(std::string(stage.kind->name) + ": " + error.what());
  }
}

}  // namespace data

}  // namespace trainrt
