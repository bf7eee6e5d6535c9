#pragma once
#include <cstddef>
#include <limits>
#include <memory>
#include <string>
#include <string_view>

namespace trainrt::comm::nccl {

// Declarations of the subset of NCCL's binary interface (ABI) that trainrt uses. NCCL is loaded at run time and not linked,
// so that the same program runs with and without NCCL. The declarations match nccl.h, so the build does not need this file.
// If nccl.h exists, a test compares the declarations with it.

inline constexpr int min_version = 21800;  ///< minimum version, NCCL 2.18: the first with all fields of Config

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
struct Comm;  // NCCL's opaque type of a communicator

/// The struct ncclConfig_t of NCCL 2.18. Newer NCCL libraries detect by `size` and `version` that later fields are missing.
struct Config {
  std::size_t size = sizeof(Config);
  unsigned magic = 0xcafebeef;
  unsigned version = min_version;
  int blocking = 0;                                        ///< 0: NCCL's calls return at once, and their state is queried
  int cga_cluster_size = std::numeric_limits<int>::min();  // in this field and the next ones, the minimum means "not set"
  int min_ctas = std::numeric_limits<int>::min();
  int max_ctas = std::numeric_limits<int>::min();
  const char* net_name = nullptr;
  int split_share = std::numeric_limits<int>::min();
};

using Stream = void*;  ///< a cudaStream_t

/// The functions of a loaded NCCL library, which is never unloaded.
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

/// Loads the NCCL library with the file name or path `library`. Throws UsageError, with advice, if the library does not
/// exist, is older than NCCL 2.18, or lacks a function.
std::shared_ptr<const Api> load(std::string_view library = library_name);

}  // namespace trainrt::comm::nccl
