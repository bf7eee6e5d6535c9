#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include <trainrt/state.hpp>

#include "device/copier.hpp"

namespace trainrt::trainer {

/// Provides this rank's bytes of tensors in host memory, for metrics sinks. Tensors on a GPU are copied.
class HostTensors {
 public:
  /// Returns the bytes of the tensor `entry` that this rank has. If the tensor is in host memory, returns that memory. If
  /// the tensor is on a GPU, returns a copy that is valid until the next call. Throws the errors of device::Copier.
  std::span<const std::byte> bytes_of(const TensorEntry& entry);

 private:
  std::vector<std::byte> copy_;
  device::Copier copier_;  // last member, so that it is destroyed before `copy_`, to which it copies
};

}  // namespace trainrt::trainer
