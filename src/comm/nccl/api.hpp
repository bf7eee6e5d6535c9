#pragma once
#include <cstddef>
#include <limits>
#include <memory>
#include <string>
#include <string_view>

namespace trainrt::comm::nccl {

// What of NCCL's binary interface is used. NCCL is loaded when it is asked for, never linked, so that one program runs
// where it is and where it is not; these declarations are those of nccl.h, which is not needed to build. A test compares
// the two if nccl.h is there.

inline constexpr int oldest_version = 21800;  ///< 2.18: the first with all fields of Config

enum class Result : int {
  success = 0,
  unhandled_cuda_error = 1,
  system_error = 2,
  internal_error = 3,
  invalid_argument = 4,
  invalid_usage = 5,
  remote_error = 6,
  in_progress = 7,
};
enum class Type : int { u8 = 1, i32 = 2, i64 = 4, f16 = 6, f32 = 7, f64 = 8, bf16 = 9 };
enum class RedOp : int { sum = 0, max = 2, min = 3, avg = 4 };

struct UniqueId {
  char bytes[128];
};
struct Comm;  // NCCL's own

/// ncclConfig_t as of 2.18; `size` and `version` tell newer libraries that the rest is not there.
struct Config {
  std::size_t size = sizeof(Config);
  unsigned magic = 0xcafebeef;
  unsigned version = oldest_version;
  int blocking = 0;                                        ///< calls return at once, and their state is asked for
  int cga_cluster_size = std::numeric_limits<int>::min();  // "not set", as the others
  int min_ctas = std::numeric_limits<int>::min();
  int max_ctas = std::numeric_limits<int>::min();
  const char* net_name = nullptr;
  int split_share = std::numeric_limits<int>::min();
};

using Stream = void*;  ///< a cudaStream_t

/// A loaded library; stays loaded.
struct Api {
  Result (*get_version)(int* version);
  Result (*get_unique_id)(UniqueId* id);
  Result (*comm_init_rank_config)(Comm** comm, int ranks, UniqueId id, int rank, Config* config);
  Result (*comm_finalize)(Comm* comm);
  Result (*comm_destroy)(Comm* comm);
  Result (*comm_abort)(Comm* comm);
  Result (*comm_get_async_error)(Comm* comm, Result* result);
  const char* (*get_error_string)(Result result);
  const char* (*get_last_error)(Comm* comm);
  Result (*all_reduce)(const void* from, void* to, std::size_t count, Type type, RedOp op, Comm* comm, Stream stream);
  Result (*reduce)(const void* from, void* to, std::size_t count, Type type, RedOp op, int root, Comm* comm, Stream stream);
  Result (*broadcast)(const void* from, void* to, std::size_t count, Type type, int root, Comm* comm, Stream stream);
  Result (*send)(const void* from, std::size_t count, Type type, int peer, Comm* comm, Stream stream);
  Result (*recv)(void* to, std::size_t count, Type type, int peer, Comm* comm, Stream stream);
  Result (*group_start)();
  Result (*group_end)();
  int version = 0;

  std::string version_text() const;  ///< "2.28.9"
};

inline constexpr std::string_view library_name = "libnccl.so.2";

/// Loads the library, by its name or path. UsageError if it is not there, lacks a function or is too old, with what to
/// do.
std::shared_ptr<const Api> load(std::string_view library = library_name);

}  // namespace trainrt::comm::nccl
