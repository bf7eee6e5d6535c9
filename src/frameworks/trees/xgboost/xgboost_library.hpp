#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "frameworks/trees/loaded_library.hpp"

namespace trainrt::frameworks::trees {

/// A block of sparse rows for XGBoost's callbacks, with the layout of XGBoostBatchCSR in its C API. `offset` has size + 1
/// entries.
struct CsrBatch {
  std::size_t size;
  std::size_t columns;
  std::int64_t* offset;
  float* label;
  float* weight;  ///< may be null
  int* index;
  float* value;
};

/// The functions of XGBoost's C API that trainrt uses, version 1.7 and later, as declared in xgboost/c_api.h. Handles
/// are void*, and bst_ulong has 64 bits. The functions return 0, or -1 after an error. Only one thread at a time may
/// use a matrix or a booster. The log callback, the last error and the communicator belong to the calling thread.
class XgboostLibrary {
 public:
  using Handle = void*;
  using Next = int(Handle iterator);
  using Reset = void(Handle iterator);
  using TakeBatch = int(Handle holder, CsrBatch batch);
  using NextBatch = int(Handle data, TakeBatch* take, Handle holder);

  /// `given`: the key `library` of [xgboost]. Throws UsageError if the library cannot be loaded, or is older than 1.7.
  explicit XgboostLibrary(const std::string& given);

  /// If `code` is not 0, throws Error with the library's message, from which the stack trace is removed.
  void check(int code) const;
  std::string last_error() const;
  int major() const { return major_; }
  int minor() const { return minor_; }
  std::string version() const;  ///< "1.7.4"
  const std::string& path() const { return library_.path(); }

 private:
  LoadedLibrary library_;
  int major_ = 0, minor_ = 0, patch_ = 0;

  template <class Function>
  Function* find(const char* name) const {
    return library_.symbol<Function>(name);
  }

 public:
  const char* (*const get_last_error)();
  int (*const register_log_callback)(void (*callback)(const char*));

  int (*const proxy_create)(Handle* out);
  int (*const proxy_set_dense)(Handle proxy, const char* values);
  int (*const proxy_set_csr)(Handle proxy, const char* row_starts, const char* columns, const char* values,
                             std::uint64_t column_count);
  int (*const quantile_create)(Handle iterator, Handle proxy, Handle reference, Reset*, Next*, const char* config, Handle*);
  int (*const create_from_dense)(const char* values, const char* config, Handle* out);
  int (*const create_from_csr)(const char* row_starts, const char* columns, const char* values, std::uint64_t column_count,
                               const char* config, Handle* out);
  int (*const external_create)(Handle iterator, Handle proxy, Reset*, Next*, const char* config, Handle* out);
  /// nullptr if the library is older than version 3.0
  int (*const external_quantile_create)(Handle iterator, Handle proxy, Handle reference, Reset*, Next*, const char* config,
                                        Handle* out);
  int (*const set_info)(Handle matrix, const char* field, const char* values);
  int (*const set_feature_info)(Handle matrix, const char* field, const char** texts, std::uint64_t count);
  int (*const row_count)(Handle matrix, std::uint64_t* out);
  int (*const column_count)(Handle matrix, std::uint64_t* out);
  int (*const value_count)(Handle matrix, std::uint64_t* out);  ///< number of values that are not missing
  int (*const matrix_free)(Handle matrix);

  int (*const booster_create)(const Handle* matrices, std::uint64_t count, Handle* out);
  int (*const booster_free)(Handle booster);
  int (*const set_param)(Handle booster, const char* name, const char* value);
  int (*const feature_count)(Handle booster, std::uint64_t* out);  ///< also applies the parameters of set_param()
  int (*const update)(Handle booster, int round, Handle train);
  int (*const evaluate)(Handle booster, int round, Handle* matrices, const char** names, std::uint64_t count,
                        const char** out);
  int (*const predict)(Handle booster, Handle matrix, const char* config, const std::uint64_t** shape, std::uint64_t* axes,
                       const float** out);
  int (*const load_model)(Handle booster, const void* bytes, std::uint64_t size);
  int (*const save_model)(Handle booster, const char* config, std::uint64_t* size, const char** bytes);
  int (*const set_booster_feature_info)(Handle booster, const char* field, const char** texts, std::uint64_t count);
  int (*const set_attribute)(Handle booster, const char* name, const char* value);

  int (*const communicator_init)(const char* config);
  int (*const communicator_finalize)();

  /// Sets the number of OpenMP threads of the calling thread, which parts of the library use instead of nthread.
  void set_threads(int threads) const;
  /// Creates a matrix in memory from batches of rows. NaN is a missing value.
  int create_from_batches(Handle data, NextBatch* next, Handle* out) const;

 private:
  void* const create_from_batches_;
};

}  // namespace trainrt::frameworks::trees
