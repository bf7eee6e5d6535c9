#pragma once
#include "data/batches/dataset_plan.hpp"
#include "data/preprocess/preprocessor_impl.hpp"

namespace trainrt::data {

/// The preprocessor, fitted to all samples of the dataset; stages that are fitted stay so only if `keep_fitted`. Collective
/// over dataset.team: each rank reads its part in dataset.threads threads. What throws on one rank throws on all.
PreprocessorImpl fitted(const PreprocessorImpl& preprocessor, const DatasetPlan& dataset, bool keep_fitted = false);

}  // namespace trainrt::data
