#pragma once
#include <cstddef>
#include <cstdint>

namespace trainrt::frameworks {

/// out[i] = in[i] / 255, the bits of torchvision's ToTensor. The two may not overlap.
inline void pixels_to_floats(const std::uint8_t* __restrict in, std::size_t count, float* __restrict out) {
  for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<float>(in[i]) / 255.0F;
}

}  // namespace trainrt::frameworks
