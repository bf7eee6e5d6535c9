#pragma once
#include <cstdint>
#include <exception>
#include <string>

#include <trainrt/error.hpp>

namespace trainrt::checkpoint {

/// "'PATH' is damaged: bytes A to B do not have their digest"; B is the last.
std::string damaged_bytes(const std::string& path, std::uint64_t at, std::uint64_t bytes);

/// A checkpoint cannot be read for a reason that lies in this process or machine: no file descriptors or no memory are
/// left. That is no damage: a load that meets it fails on all ranks, and takes no older checkpoint.
class CannotRead : public Error {
 public:
  using Error::Error;
};

/// Throws CannotRead if the error is of that kind. Whoever takes exceptions for findings of damage calls it first.
void rethrow_if_no_damage(const std::exception& error);

}  // namespace trainrt::checkpoint
