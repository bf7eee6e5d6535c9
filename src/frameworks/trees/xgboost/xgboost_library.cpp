#include "frameworks/trees/xgboost/xgboost_library.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include <trainrt/error.hpp>

namespace trainrt::frameworks::trees {

namespace {

LoadedLibrary::Search search_of_xgboost() {
  return {.name = "xgboost",
          .key = "xgboost.library",
          .names = {"libxgboost.so.0", "libxgboost.so"},
          .in_packages = {"xgboost/lib/libxgboost.so"},
          .advice =
              "install Debian's package libxgboost0, or PyPI's package xgboost or xgboost-cpu and set [xgboost] library = "
              "VENV/lib/python3.11/site-packages"};
}

/// Returns whether `text` is a position in the source such as "src/learner.cc:553".
bool is_source_position(std::string_view text) {
  return text.find(".cc:") != std::string_view::npos || text.find(".h:") != std::string_view::npos;
}

/// Removes time, source position and stack trace: "[12:30:01] src/learner.cc:553: Check failed: ...\nStack trace: ...".
std::string message_of(std::string_view text) {
  text = text.substr(0, text.find("\nStack trace"));
  if (const auto time = text.find("] "); text.starts_with('[') && time != std::string_view::npos)
    text.remove_prefix(time + 2);
  if (const auto colon = text.find(": "); colon != std::string_view::npos && is_source_position(text.substr(0, colon)))
    text.remove_prefix(colon + 2);
  const auto last = text.find_last_not_of(" \n");
  return std::string(text.substr(0, last == std::string_view::npos ? 0 : last + 1));
}

}  // namespace

// library_ must be the first member, because find() searches it for the functions of the other members.
XgboostLibrary::XgboostLibrary(const std::string& given)
    : library_(search_of_xgboost(), given),
      get_last_error(find<const char*()>("XGBGetLastError")),
      register_log_callback(find<int(void (*)(const char*))>("XGBRegisterLogCallback")),
      proxy_create(find<int(Handle*)>("XGProxyDMatrixCreate")),
      proxy_set_dense(find<int(Handle, const char*)>("XGProxyDMatrixSetDataDense")),
      proxy_set_csr(find<int(Handle, const char*, const char*, const char*, std::uint64_t)>("XGProxyDMatrixSetDataCSR")),
      quantile_create(
          find<int(Handle, Handle, Handle, Reset*, Next*, const char*, Handle*)>("XGQuantileDMatrixCreateFromCallback")),
      create_from_dense(find<int(const char*, const char*, Handle*)>("XGDMatrixCreateFromDense")),
      create_from_csr(
          find<int(const char*, const char*, const char*, std::uint64_t, const char*, Handle*)>("XGDMatrixCreateFromCSR")),
      external_create(find<int(Handle, Handle, Reset*, Next*, const char*, Handle*)>("XGDMatrixCreateFromCallback")),
      external_quantile_create(library_.optional_symbol<int(Handle, Handle, Handle, Reset*, Next*, const char*, Handle*)>(
          "XGExtMemQuantileDMatrixCreateFromCallback")),
      set_info(find<int(Handle, const char*, const char*)>("XGDMatrixSetInfoFromInterface")),
      set_feature_info(find<int(Handle, const char*, const char**, std::uint64_t)>("XGDMatrixSetStrFeatureInfo")),
      row_count(find<int(Handle, std::uint64_t*)>("XGDMatrixNumRow")),
      column_count(find<int(Handle, std::uint64_t*)>("XGDMatrixNumCol")),
      value_count(find<int(Handle, std::uint64_t*)>("XGDMatrixNumNonMissing")),
      matrix_free(find<int(Handle)>("XGDMatrixFree")),
      booster_create(find<int(const Handle*, std::uint64_t, Handle*)>("XGBoosterCreate")),
      booster_free(find<int(Handle)>("XGBoosterFree")),
      set_param(find<int(Handle, const char*, const char*)>("XGBoosterSetParam")),
      feature_count(find<int(Handle, std::uint64_t*)>("XGBoosterGetNumFeature")),
      update(find<int(Handle, int, Handle)>("XGBoosterUpdateOneIter")),
      evaluate(find<int(Handle, int, Handle*, const char**, std::uint64_t, const char**)>("XGBoosterEvalOneIter")),
      predict(find<int(Handle, Handle, const char*, const std::uint64_t**, std::uint64_t*, const float**)>(
          "XGBoosterPredictFromDMatrix")),
      load_model(find<int(Handle, const void*, std::uint64_t)>("XGBoosterLoadModelFromBuffer")),
      save_model(find<int(Handle, const char*, std::uint64_t*, const char**)>("XGBoosterSaveModelToBuffer")),
      set_booster_feature_info(find<int(Handle, const char*, const char**, std::uint64_t)>("XGBoosterSetStrFeatureInfo")),
      set_attribute(find<int(Handle, const char*, const char*)>("XGBoosterSetAttr")),
      communicator_init(find<int(const char*)>("XGCommunicatorInit")),
      communicator_finalize(find<int()>("XGCommunicatorFinalize")),
      create_from_batches_(reinterpret_cast<void*>(find<int()>("XGDMatrixCreateFromDataIter"))) {
  find<void(int*, int*, int*)>("XGBoostVersion")(&major_, &minor_, &patch_);
}

int XgboostLibrary::create_from_batches(Handle data, NextBatch* next, Handle* out) const {
  if (major_ < 3)
    return reinterpret_cast<int (*)(Handle, NextBatch*, const char*, Handle*)>(create_from_batches_)(data, next, nullptr,
                                                                                                     out);
  using Create = int (*)(Handle, NextBatch*, const char*, float, Handle*);
  return reinterpret_cast<Create>(create_from_batches_)(data, next, nullptr, std::numeric_limits<float>::quiet_NaN(), out);
}

void XgboostLibrary::set_threads(int threads) const {
  if (auto* const set = library_.optional_symbol<void(int)>("omp_set_num_threads")) set(threads);
}

std::string XgboostLibrary::version() const { return fmt::format("{}.{}.{}", major_, minor_, patch_); }

std::string XgboostLibrary::last_error() const { return message_of(get_last_error()); }

void XgboostLibrary::check(int code) const {
  if (code != 0) throw Error("XGBoost: " + last_error());
}

}  // namespace trainrt::frameworks::trees
