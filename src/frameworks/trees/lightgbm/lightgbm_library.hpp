#pragma once
#include <cstdint>
#include <string>
#include <utility>

#include <trainrt/context.hpp>

#include "frameworks/trees/loaded_library.hpp"

namespace trainrt::frameworks::trees {

/// The functions of LightGBM's C API that trainrt uses, version 4, as declared in include/LightGBM/c_api.h. Except
/// last_error(), they return 0, or -1 after an error.
class LightgbmLibrary {
 public:
  using Handle = void*;
  enum class Type : int { f32 = 0, f64 = 1, i32 = 2, i64 = 3 };
  static constexpr int normal = 0;      ///< kind of prediction: the output of the objective
  static constexpr int raw_score = 1;   ///< kind of prediction: sums of the leaf values
  static constexpr int leaf_index = 2;  ///< kind of prediction: the index of the leaf in each tree

  /// Loads the library, from the path in the key `library` of [lightgbm] if it is set. Throws UsageError if that fails.
  explicit LightgbmLibrary(const Context& ctx);

  /// Throws an exception with the library's message if `code` is not 0. `takes_parameters`: the call used parameters
  /// from [loop]; the exception is then a UsageError, otherwise an Error.
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
  int (*limit_threads)(int threads);  ///< limits all later calls; 0 removes the limit
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
  int (*metric_names)(Handle booster, int room, int* count, std::size_t name_room, std::size_t* max_name_bytes,
                      char** names);
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

  /// `reduce_scatter` and `all_gather` are functions with the types of include/LightGBM/meta.h. Their arguments are, in
  /// this order:
  /// - the input and its number of bytes
  /// - reduce_scatter only: the number of bytes of a value
  /// - the offset and number of bytes of each rank's part
  /// - the number of ranks
  /// - the output and its number of bytes
  /// - reduce_scatter only: the function that reduces
  int (*network_init)(int ranks, int rank, void* reduce_scatter, void* all_gather);
  int (*network_free)();
};

/// Owns a handle of LightGBM, and frees it in the destructor.
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
  void** out() { return &handle_; }  ///< for a call that creates the object
  explicit operator bool() const { return handle_ != nullptr; }
  void reset() {
    if (handle_ != nullptr) free_(std::exchange(handle_, nullptr));
  }

 private:
  int (*free_)(void*) = nullptr;
  void* handle_ = nullptr;
};

}  // namespace trainrt::frameworks::trees
