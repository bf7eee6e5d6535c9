#include "frameworks/trees/lightgbm/lightgbm_library.hpp"

#include <fmt/format.h>
#include <trainrt/error.hpp>

namespace trainrt::frameworks::trees {

namespace {

const LoadedLibrary::Search lightgbm_search{
    .name = "lightgbm",
    .key = "lightgbm.library",
    .names = {"lib_lightgbm.so"},
    .in_packages = {"lightgbm/lib/lib_lightgbm.so", "lightgbm/lib_lightgbm.so"},
    .advice =
        "install it (pip install lightgbm) and set [lightgbm] library = .../site-packages; it needs libgomp (Debian's "
        "package libgomp1)"};

}  // namespace

LightgbmLibrary::LightgbmLibrary(const Context& ctx) : library_(lightgbm_search, ctx.library("lightgbm")) {
  const auto load = [this]<class... Of>(int (*&function)(Of...), const char* name) { function = of<int(Of...)>(name); };
  last_error = of<const char*()>("LGBM_GetLastError");
  load(register_log, "LGBM_RegisterLogCallback");
  load(limit_threads, "LGBM_SetMaxThreads");
  load(dump_parameter_aliases, "LGBM_DumpParamAliases");
  load(sample_count, "LGBM_GetSampleCount");
  load(sample_indices, "LGBM_SampleIndices");
  load(dataset_from_sample, "LGBM_DatasetCreateFromSampledColumn");
  load(dataset_by_reference, "LGBM_DatasetCreateByReference");
  load(push_rows, "LGBM_DatasetPushRows");
  load(push_sparse_rows, "LGBM_DatasetPushRowsByCSR");
  load(set_field, "LGBM_DatasetSetField");
  load(set_feature_names, "LGBM_DatasetSetFeatureNames");
  load(dataset_free, "LGBM_DatasetFree");
  load(booster_create, "LGBM_BoosterCreate");
  load(booster_free, "LGBM_BoosterFree");
  load(add_valid_data, "LGBM_BoosterAddValidData");
  load(update, "LGBM_BoosterUpdateOneIter");
  load(reset_parameters, "LGBM_BoosterResetParameter");
  load(trees_per_round, "LGBM_BoosterNumModelPerIteration");
  load(metric_count, "LGBM_BoosterGetEvalCounts");
  load(metric_names, "LGBM_BoosterGetEvalNames");
  load(evaluate, "LGBM_BoosterGetEval");
  load(prediction_count, "LGBM_BoosterGetNumPredict");
  load(predictions, "LGBM_BoosterGetPredict");
  load(model_text, "LGBM_BoosterSaveModelToString");
  load(load_model, "LGBM_BoosterLoadModelFromString");
  load(merge, "LGBM_BoosterMerge");
  load(leaf_value, "LGBM_BoosterGetLeafValue");
  load(outputs, "LGBM_BoosterCalcNumPredict");
  load(predict, "LGBM_BoosterPredictForMat");
  load(predict_sparse, "LGBM_BoosterPredictForCSR");
  load(network_init, "LGBM_NetworkInitWithFunctions");
  load(network_free, "LGBM_NetworkFree");
}

void LightgbmLibrary::check(int code, bool takes_parameters) const {
  if (code == 0) return;
  const auto message = fmt::format("LightGBM: {}", last_error());
  if (takes_parameters) throw UsageError(message + "; LightGBM's parameters are keys of [loop]");
  throw Error(message);
}

}  // namespace trainrt::frameworks::trees
