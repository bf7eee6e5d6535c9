#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include <trainrt/state.hpp>

#include "device/copier.hpp"

namespace trainrt::trainer {

/// Provides this rank's part of tensors in host memory, for metrics sinks. Tensors on a GPU are copied.
class HostTensors {
 public:
  /// Returns the bytes of this rank's part of the tensor: its own memory, or a copy if it is on a GPU. A copy is valid
  /// until the next call. Throws the errors of device::Copier.
  std::span<const std::byte> bytes_of(const TensorEntry& entry);

 private:
  std::vector<std::byte> copy_;
  device::Copier copier_;  // last member, so that it is destroyed before the memory that it copies to
};

}  // namespace trainrt::trainer
