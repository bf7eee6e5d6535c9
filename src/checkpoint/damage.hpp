#pragma once
#include <cstdint>
#include <exception>
#include <string>

#include <trainrt/error.hpp>

namespace trainrt::checkpoint {

/// Returns the message that `bytes` bytes of the file from byte `at` on do not match their digest.
std::string damaged_bytes(const std::string& path, std::uint64_t at, std::uint64_t bytes);

/// Thrown if a checkpoint cannot be read because this process is out of memory, threads or file descriptors, or because the
/// storage fails temporarily. That is not damage: the load then fails on all ranks and does not use an older checkpoint.
class CannotRead : public Error {
 public:
  using Error::Error;
};

/// Throws CannotRead if `error` was caused by a lack of memory, threads or file descriptors. Code that reports exceptions
/// as damage must call this first.
void rethrow_if_no_damage(const std::exception& error);

}  // namespace trainrt::checkpoint
