#pragma once
#include <cstddef>
#include <cstdint>

namespace trainrt::frameworks {

/// Sets out[i] = in[i] / 255, with the same bits as torchvision's ToTensor. `in` and `out` must not overlap.
inline void pixels_to_floats(const std::uint8_t* __restrict in, std::size_t count, float* __restrict out) {
  for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<float>(in[i]) / 255.0F;
}

}  // namespace trainrt::frameworks
