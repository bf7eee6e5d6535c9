#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include <trainrt/state.hpp>

#include "device/copier.hpp"

namespace trainrt::trainer {

/// This rank's parts of tensors as memory of the host: as they lie there, or copied from a GPU.
class HostTensors {
 public:
  /// It holds until the next call, or as long as the tensor does. Throws as device::Copier does.
  std::span<const std::byte> bytes_of(const TensorEntry& entry);

 private:
  std::vector<std::byte> copy_;
  device::Copier copier_;  // ends before the memory that it copies to
};

}  // namespace trainrt::trainer
