#pragma once
#include "data/batches/dataset_impl.hpp"
#include "data/preprocess/preprocessor_impl.hpp"

namespace trainrt::data {

/// Returns the preprocessor, fitted to all samples of the dataset. Each stage is fitted to the output of the stages before
/// it. Collective over dataset.team; each rank reads its part of the samples in dataset.threads threads. An exception on
/// one rank is thrown on all ranks.
PreprocessorImpl fitted(const PreprocessorImpl& preprocessor, const DatasetImpl& dataset);

}  // namespace trainrt::data
