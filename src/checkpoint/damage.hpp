#pragma once
#include <cstdint>
#include <exception>
#include <string>

#include <trainrt/error.hpp>

namespace trainrt::checkpoint {

/// Returns an error message: the `bytes` bytes of file `path` from offset `at` on do not match the digest stored for them.
std::string damaged_bytes(const std::string& path, std::uint64_t at, std::uint64_t bytes);

/// Exception thrown if a checkpoint cannot be read because this process is out of memory, threads or file descriptors, or
/// because the storage fails temporarily. The checkpoint does not count as damaged then: the load fails on all ranks and
/// does not fall back to an older checkpoint.
class CannotRead : public Error {
 public:
  using Error::Error;
};

/// Throws CannotRead if the exception `error` was caused by a lack of memory, threads or file descriptors, or is itself a
/// CannotRead. Otherwise returns. Code that reports exceptions as damage of a checkpoint must call rethrow_if_no_damage()
/// first.
void rethrow_if_no_damage(const std::exception& error);

}  // namespace trainrt::checkpoint
