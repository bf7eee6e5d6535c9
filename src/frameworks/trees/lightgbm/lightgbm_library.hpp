#pragma once
#include <cstdint>
#include <string>
#include <utility>

#include <trainrt/context.hpp>

#include "frameworks/trees/loaded_library.hpp"

namespace trainrt::frameworks::trees {

/// The functions of LightGBM's C API that are used, of version 4 (declared in LightGBM/include/LightGBM/c_api.h). All but
/// the first return 0, or -1 and leave a message.
class LightgbmLibrary {
 public:
  using Handle = void*;
  enum class Type : int { f32 = 0, f64 = 1, i32 = 2, i64 = 3 };
  static constexpr int normal = 0;      ///< a kind of prediction: what the objective makes of them
  static constexpr int raw_score = 1;   ///< a kind of prediction: sums of the leaves
  static constexpr int leaf_index = 2;  ///< a kind of prediction: the leaf of each tree

  /// Loads it from where [lightgbm] library says. UsageError if it cannot be loaded.
  explicit LightgbmLibrary(const Context& ctx);

  /// Throws the message of a call that failed: an Error, and a UsageError of a call that takes parameters.
  void check(int code, bool takes_parameters = false) const;
  const std::string& path() const { return library_.path(); }

 private:
  LoadedLibrary library_;
  template <class Function>
  Function* of(const char* name) const {
    return library_.symbol<Function>(name);
  }

 public:
  const char* (*last_error)();
  int (*register_log)(void (*callback)(const char*));
  int (*limit_threads)(int threads);  ///< of all that runs from now on; 0: no limit any more
  int (*dump_parameter_aliases)(std::int64_t room, std::int64_t* bytes, char* json);

  int (*sample_count)(std::int32_t rows, const char* parameters, int* count);
  int (*sample_indices)(std::int32_t rows, const char* parameters, void* indices, std::int32_t* count);
  int (*dataset_from_sample)(double** values, int** rows, std::int32_t columns, const int* counts, std::int32_t sample_rows,
                             std::int32_t local_rows, std::int64_t all_rows, const char* parameters, Handle* dataset);
  int (*dataset_by_reference)(Handle reference, std::int64_t rows, Handle* dataset);
  int (*push_rows)(Handle dataset, const void* values, int type, std::int32_t rows, std::int32_t columns,
                   std::int32_t first_row);
  int (*push_sparse_rows)(Handle dataset, const void* row_starts, int starts_type, const std::int32_t* columns,
                          const void* values, int type, std::int64_t starts, std::int64_t value_count,
                          std::int64_t column_count, std::int64_t first_row);
  int (*set_field)(Handle dataset, const char* name, const void* values, int count, int type);
  int (*set_feature_names)(Handle dataset, const char** names, int count);
  int (*dataset_free)(Handle dataset);

  int (*booster_create)(Handle dataset, const char* parameters, Handle* booster);
  int (*booster_free)(Handle booster);
  int (*add_valid_data)(Handle booster, Handle dataset);
  int (*update)(Handle booster, int* is_finished);
  int (*reset_parameters)(Handle booster, const char* parameters);
  int (*trees_per_round)(Handle booster, int* trees);
  int (*metric_count)(Handle booster, int* count);
  int (*metric_names)(Handle booster, int room, int* count, std::size_t name_room, std::size_t* longest, char** names);
  int (*evaluate)(Handle booster, int dataset, int* count, double* values);
  int (*prediction_count)(Handle booster, int dataset, std::int64_t* count);
  int (*predictions)(Handle booster, int dataset, std::int64_t* count, double* values);
  int (*model_text)(Handle booster, int first_round, int rounds, int importance, std::int64_t room, std::int64_t* bytes,
                    char* text);
  int (*load_model)(const char* text, int* rounds, Handle* booster);
  int (*merge)(Handle booster, Handle other);
  int (*leaf_value)(Handle booster, int tree, int leaf, double* value);
  int (*outputs)(Handle booster, int rows, int kind, int first_round, int rounds, std::int64_t* count);
  int (*predict)(Handle booster, const void* values, int type, std::int32_t rows, std::int32_t columns, int by_rows,
                 int kind, int first_round, int rounds, const char* parameters, std::int64_t* count, double* results);
  int (*predict_sparse)(Handle booster, const void* row_starts, int starts_type, const std::int32_t* columns,
                        const void* values, int type, std::int64_t starts, std::int64_t value_count,
                        std::int64_t column_count, int kind, int first_round, int rounds, const char* parameters,
                        std::int64_t* count, double* results);

  /// The functions are of meta.h: (in, in bytes, bytes of a value, where each rank's part begins, its bytes, ranks, out,
  /// out bytes, reducer), and (in, in bytes, begins, bytes, ranks, out, out bytes).
  int (*network_init)(int ranks, int rank, void* reduce_scatter, void* all_gather);
  int (*network_free)();
};

/// A handle that goes with the object.
class LightgbmHandle {
 public:
  LightgbmHandle() = default;
  explicit LightgbmHandle(int (*free)(void*)) : free_(free) {}
  ~LightgbmHandle() { reset(); }
  LightgbmHandle(LightgbmHandle&& other) noexcept : free_(other.free_), handle_(std::exchange(other.handle_, nullptr)) {}
  LightgbmHandle& operator=(LightgbmHandle&& other) noexcept {
    reset();
    free_ = other.free_;
    handle_ = std::exchange(other.handle_, nullptr);
    return *this;
  }
  void* get() const { return handle_; }
  void** out() { return &handle_; }  ///< for a call that makes one
  explicit operator bool() const { return handle_ != nullptr; }
  void reset() {
    if (handle_ != nullptr) free_(std::exchange(handle_, nullptr));
  }

 private:
  int (*free_)(void*) = nullptr;
  void* handle_ = nullptr;
};

}  // namespace trainrt::frameworks::trees
