#pragma once
#include <exception>

#include <trainrt/error.hpp>

namespace trainrt::checkpoint {

/// A checkpoint cannot be read for a reason that lies in this process or machine: no file descriptors or no memory are
/// left. That is no damage: a load that meets it fails on all ranks, and takes no older checkpoint.
class CannotRead : public Error {
 public:
  using Error::Error;
};

/// Throws CannotRead if the error is of that kind. Whoever takes exceptions for findings of damage calls it first.
void rethrow_if_no_damage(const std::exception& error);

}  // namespace trainrt::checkpoint
